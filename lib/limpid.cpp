// SPDX-License-Identifier: MIT
// The functions of limpid.h: they check arguments and catch all exceptions.

#include "lib/include/limpid.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/engine/engine_module.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/metrics.h"
#include "core/settings/filter_settings.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_tracker.h"
#include "lib/session.h"

struct limpid_engine {
  std::shared_ptr<limpid::lib::SharedEngine> shared;
};

struct limpid_denoiser {
  explicit limpid_denoiser(std::shared_ptr<limpid::lib::SharedEngine> engine) : session(std::move(engine)) {}

  limpid::lib::Session session;
  std::string error;
  const char* sentence = "";  // `error`, or a constant sentence that needs no memory
  limpid_log log = nullptr;
  void* log_data = nullptr;
  std::string engine_name, engine_description, filter_name, profile;  // texts of the last returned structs
};

namespace limpid::lib {
namespace {

static_assert(std::string_view(LIMPID_VERSION) == LIMPID_PROJECT_VERSION,
              "LIMPID_VERSION in limpid.h must be the version of the project");

// The last error of a function without a denoiser. It has no destructor, which GCC for Windows would call too
// late.
thread_local std::array<char, 512> last_error;

void keep_error(const char* sentence) noexcept {
  std::snprintf(last_error.data(), last_error.size(), "%s", sentence);
}

// Sizes of the structs of API 1.
template <typename Struct>
constexpr bool kIsPlain = std::is_trivially_copyable_v<Struct>&& std::is_standard_layout_v<Struct>;

// Size of the struct in the first version that had it.
template <typename Struct>
constexpr std::size_t kFirstSize = sizeof(Struct);
template <>
constexpr std::size_t kFirstSize<limpid_noise> = offsetof(limpid_noise, area);
template <>
constexpr std::size_t kFirstSize<limpid_stream_info> = offsetof(limpid_stream_info, level_section);

void check_given(bool is_given, const char* name) {
  if (!is_given) {
    throw UsageError(std::string(name) + " is null");
  }
}

template <typename Struct>
void check_size(const Struct* given, const char* name) {
  static_assert(kIsPlain<Struct>);
  check_given(given != nullptr, name);
  if (given->struct_size < kFirstSize<Struct>) {
    throw UsageError(std::string(name) + " has a struct_size of " + std::to_string(given->struct_size) +
                     "; it must be at least " + std::to_string(kFirstSize<Struct>));
  }
}

// A struct from a caller. Callers of a later version must not use members that this version does not have.
template <typename Struct>
const Struct& checked(const Struct* given, const char* name) {
  check_size(given, name);
  if (given->struct_size > kMostStructSize) {
    throw UsageError(std::string(name) + " has a struct_size of " + std::to_string(given->struct_size) +
                     ", which is too large for any version");
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + sizeof(Struct), bytes + given->struct_size,
                  [](unsigned char byte) { return byte != 0; })) {
    throw UsageError(std::string(name) + " belongs to a later version than this library, " LIMPID_VERSION);
  }
  return *given;
}

// Fills a caller's struct. Members of later versions are not changed.
template <typename Struct>
void fill(Struct* to, Struct from) {
  from.struct_size = to->struct_size;
  std::memcpy(to, &from, std::min(to->struct_size, sizeof from));
}

// Calls function(), which returns a status or nothing. Converts exceptions to a status and a sentence, passed
// to fail(status, sentence).
template <typename Function, typename Fail>
limpid_status guarded(const Function& function, const Fail& fail) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      return LIMPID_OK;
    } else {
      return function();
    }
  } catch (const OutOfTurn& error) {
    return fail(LIMPID_BAD_STATE, error.what());
  } catch (const UsageError& error) {
    return fail(LIMPID_BAD_ARGUMENT, with_brief_quotes(error.what()).c_str());
  } catch (const OutOfMemory& error) {
    return fail(LIMPID_NO_MEMORY, error.what());
  } catch (const std::bad_alloc&) {
    return fail(LIMPID_NO_MEMORY, kOutOfMemory);
  } catch (const std::exception& error) {
    return fail(LIMPID_FAILED, error.what());
  } catch (...) {
    return fail(LIMPID_FAILED, "unknown error");
  }
}

template <typename Function>
limpid_status guarded(const Function& function) noexcept {
  return guarded(function, [](limpid_status status, const char* sentence) {
    keep_error(sentence);
    return status;
  });
}

template <typename Function>
limpid_status with(limpid_denoiser* denoiser, const Function& function) noexcept {
  if (denoiser == nullptr) {
    keep_error("the denoiser is null");
    return LIMPID_BAD_ARGUMENT;
  }
  return guarded([&] { return function(*denoiser); },
                 [denoiser](limpid_status status, const char* sentence) {
                   try {
                     denoiser->error = sentence;
                     denoiser->sentence = denoiser->error.c_str();
                   } catch (...) {
                     denoiser->sentence = kOutOfMemory;
                   }
                   if (denoiser->log != nullptr) {
                     denoiser->log(denoiser->log_data, LIMPID_LOG_ERROR, denoiser->sentence);
                   }
                   return status;
                 });
}

MemoryDomain memory_of(const limpid_frame& frame) {
  if (frame.memory == LIMPID_HOST) {
    return kHostMemory;
  }
  if (frame.memory != LIMPID_CUDA) {
    throw UsageError("there is no memory number " + std::to_string(frame.memory));
  }
  return cuda_memory(frame.ordinal);
}

// Converts a caller's frame; frames in device memory are not copied.
Frame converted(const limpid_frame& frame, const FrameFormat& format, Engine& engine,
                BorrowedFrame&& borrowed) {
  const MemoryDomain memory = memory_of(frame);
  check_planes(frame, format);
  Frame result;
  if (memory.is_host()) {
    result = engine.allocate_frame(format);
    copy_in(frame, result);
  } else {
    result = callers_frame(frame, format, std::move(borrowed));
  }
  copy_properties(frame, result);
  return result;
}

// Converts a caller's frame to one for the engine.
Frame input_frame(limpid_denoiser& denoiser, const limpid_frame& frame, BorrowedFrame&& borrowed) {
  limpid::DenoisingStream& stream = denoiser.session.stream();
  if (frame.buffer == nullptr) {
    return converted(frame, stream.format(), stream.engine(), std::move(borrowed));
  }
  Frame result = frame.buffer->frame;
  copy_properties(frame, result);
  return result;
}

// The caller's memory for the result of a frame.
Frame place_of(limpid_denoiser& denoiser, const limpid_frame& result, BorrowedFrame&& borrowed) {
  limpid::DenoisingStream& stream = denoiser.session.stream();
  check_planes(result, stream.format());
  const MemoryDomain memory = memory_of(result);
  if (memory != stream.engine().result_memory() || memory.is_host()) {
    throw UsageError("the result is in " + to_string(memory) + ", to which the engine " +
                     std::string(stream.engine().name()) + " cannot write");
  }
  return callers_frame(result, stream.format(), std::move(borrowed));
}

limpid_status receive(limpid_denoiser& denoiser, std::optional<Frame>& result) {
  limpid::DenoisingStream& stream = denoiser.session.stream();
  result = stream.receive();
  return result ? LIMPID_OK : stream.is_flushed() ? LIMPID_END : LIMPID_AGAIN;
}

limpid_memory kind_of(const MemoryDomain& memory) { return memory.is_host() ? LIMPID_HOST : LIMPID_CUDA; }

void set(limpid_denoiser& denoiser, const char* name, const std::optional<std::string>& value) {
  check_given(name != nullptr, "the setting's name");
  denoiser.session.set(name, value);
}

// Converts a caller's frame for measurements.
Frame looked_at(const limpid_frame& frame, const FrameFormat& format, Engine& engine) {
  if (!memory_of(frame).is_host() && memory_of(frame) != engine.memory()) {
    throw UsageError("the frame is in " + to_string(memory_of(frame)) + ", which the engine " +
                     std::string(engine.name()) + " cannot read");
  }
  return converted(frame, format, engine, BorrowedFrame(nullptr));
}

void report_noise(limpid_denoiser& denoiser, const NoiseProfile& found, limpid_noise* noise) {
  denoiser.profile = json_text(found);
  limpid_noise result{};
  std::copy(found.noise.sigma.begin(), found.noise.sigma.end(), std::begin(result.sigma));
  result.profile = denoiser.profile.c_str();
  if (const std::optional<Region>& area = found.noise.area) {
    result.area[0] = area->x;
    result.area[1] = area->y;
    result.area[2] = area->width;
    result.area[3] = area->height;
  }
  fill(noise, result);
}

limpid_status get_noise(limpid_denoiser* denoiser, bool of_result, limpid_noise* noise) {
  return with(denoiser, [&](limpid_denoiser& own) {
    check_size(noise, "the noise");
    const std::optional<NoiseProfile> found = own.session.noise(of_result);
    if (!found) {
      return LIMPID_AGAIN;
    }
    report_noise(own, *found, noise);
    return LIMPID_OK;
  });
}

// A copy of a caller's frame in the library's own layout.
Frame plain(const limpid_frame& frame, const FrameFormat& format, const char* name) {
  if (!memory_of(frame).is_host()) {
    throw UsageError(std::string(name) + " is not in host memory");
  }
  check_planes(frame, format);
  Frame result = allocate_frame(format);
  copy_in(frame, result);
  return result;
}

// A filter and its parameters. Texts stay valid while the library is loaded.
struct Description {
  explicit Description(const FilterType& type_of_filter) : type(type_of_filter) {
    for (const std::string& profile : type.profiles) {
      profiles.push_back(profile.c_str());
    }
    const Filter filter = type.make(type.default_profile);
    for (const Parameter<Filter>& parameter : type.parameters) {
      const std::optional<ParameterValue> value = parameter.get(filter);
      defaults.push_back(value ? std::optional(to_string(*value)) : std::nullopt);
    }
  }

  const FilterType& type;
  std::vector<const char*> profiles;
  std::vector<std::optional<std::string>> defaults;
};

const Description& description_of(int filter) {
  static const std::deque<Description> descriptions(filter_types().begin(), filter_types().end());
  if (filter < 0 || filter >= std::ssize(filter_types())) {
    throw UsageError("there is no filter number " + std::to_string(filter));
  }
  return descriptions[static_cast<std::size_t>(filter)];
}

limpid_filter_info describe_filter(int filter) {
  const Description& description = description_of(filter);
  const FilterType& type = description.type;
  return {.struct_size = sizeof(limpid_filter_info),
          .name = type.name.c_str(),
          .help = type.help.c_str(),
          .profiles = description.profiles.data(),
          .profile_count = static_cast<std::int32_t>(type.profiles.size()),
          .default_profile = type.profiles.empty() ? nullptr : type.default_profile.c_str(),
          .parameter_count = static_cast<std::int32_t>(type.parameters.size()),
          .is_experimental = 0};
}

limpid_parameter_info describe_parameter(int filter, int parameter) {
  const Description& description = description_of(filter);
  if (parameter < 0 || parameter >= static_cast<int>(description.defaults.size())) {
    throw UsageError("the filter has no parameter number " + std::to_string(parameter));
  }
  const Parameter<Filter>& own = description.type.parameters[static_cast<std::size_t>(parameter)];
  const std::optional<std::string>& value = description.defaults[static_cast<std::size_t>(parameter)];
  return {.struct_size = sizeof(limpid_parameter_info),
          .name = own.text.option.c_str(),
          .kind = own.kind == ParameterKind::kInteger  ? LIMPID_INTEGER
                  : own.kind == ParameterKind::kNumber ? LIMPID_NUMBER
                                                       : LIMPID_NAME,
          .help = own.text.help.c_str(),
          .range = own.text.range.c_str(),
          .default_value = value ? value->c_str() : nullptr};
}

}  // namespace
}  // namespace limpid::lib

using namespace limpid::lib;

const char* limpid_version(void) { return LIMPID_VERSION; }

int32_t limpid_api_version(void) { return LIMPID_API_VERSION; }

void limpid_release(limpid_frame* frame) {
  if (frame != nullptr && frame->buffer != nullptr) {
    const std::unique_ptr<limpid_buffer> ended(std::exchange(frame->buffer, nullptr));
    std::fill(std::begin(frame->planes), std::end(frame->planes), limpid_plane{});
  }
}

limpid_status limpid_engine_new(limpid_engine** engine, const char* name, int32_t threads) {
  return guarded([&] {
    check_given(engine != nullptr, "the pointer to the engine");
    *engine = nullptr;
    if (threads < 0 || threads > kMostThreads) {
      throw limpid::UsageError("threads: " + std::to_string(threads) + " is not 0 to " +
                               std::to_string(kMostThreads));
    }
    auto made = std::make_unique<limpid_engine>();
    made->shared = std::make_shared<SharedEngine>(name == nullptr ? "auto" : name, threads);
    *engine = made.release();
  });
}

void limpid_engine_free(limpid_engine** engine) {
  if (engine != nullptr) {
    const std::unique_ptr<limpid_engine> ended(std::exchange(*engine, nullptr));
  }
}

limpid_status limpid_list_engines(void (*each)(void* data, const limpid_engine_info* engine), void* data) {
  return guarded([&] {
    check_given(each != nullptr, "the function for each engine");
    for (const limpid::EngineInfo& engine : limpid::engine_registry().list()) {
      const limpid_engine_info info{.struct_size = sizeof info,
                                    .name = engine.name.c_str(),
                                    .description = engine.description.c_str(),
                                    .memory_bytes = engine.memory_bytes,
                                    .available = engine.available ? 1 : 0};
      each(data, &info);
    }
  });
}

int32_t limpid_filter_count(void) {
  int32_t count = 0;
  guarded([&] { count = static_cast<std::int32_t>(limpid::filter_types().size()); });
  return count;
}

limpid_status limpid_get_filter(int32_t filter, limpid_filter_info* info) {
  return guarded([&] {
    check_size(info, "info");
    fill(info, describe_filter(filter));
  });
}

limpid_status limpid_get_parameter(int32_t filter, int32_t parameter, limpid_parameter_info* info) {
  return guarded([&] {
    check_size(info, "info");
    fill(info, describe_parameter(filter, parameter));
  });
}

limpid_status limpid_new(limpid_denoiser** denoiser, limpid_engine* engine) {
  return guarded([&] {
    check_given(denoiser != nullptr, "the pointer to the denoiser");
    *denoiser = nullptr;
    *denoiser = std::make_unique<limpid_denoiser>(engine == nullptr ? nullptr : engine->shared).release();
  });
}

void limpid_free(limpid_denoiser** denoiser) {
  if (denoiser != nullptr) {
    const std::unique_ptr<limpid_denoiser> ended(std::exchange(*denoiser, nullptr));
  }
}

const char* limpid_error(const limpid_denoiser* denoiser) {
  return denoiser == nullptr ? last_error.data() : denoiser->sentence;
}

limpid_status limpid_set_log(limpid_denoiser* denoiser, limpid_log log, void* data) {
  return with(denoiser, [&](limpid_denoiser& own) {
    own.log = log;
    own.log_data = data;
  });
}

limpid_status limpid_set(limpid_denoiser* denoiser, const char* name, const char* value) {
  return with(denoiser, [&](limpid_denoiser& own) {
    set(own, name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  });
}

limpid_status limpid_set_int(limpid_denoiser* denoiser, const char* name, int32_t value) {
  return with(denoiser, [&](limpid_denoiser& own) { set(own, name, limpid::shortest_text(value)); });
}

limpid_status limpid_set_float(limpid_denoiser* denoiser, const char* name, double value) {
  return with(denoiser, [&](limpid_denoiser& own) { set(own, name, limpid::shortest_text(value)); });
}

limpid_status limpid_start(limpid_denoiser* denoiser, const limpid_format* format) {
  return with(denoiser, [&](limpid_denoiser& own) {
    own.session.start(to_format(checked(format, "the format")));
    const limpid::DenoisingStream& stream = own.session.stream();
    own.engine_name = stream.engine().name();
    own.engine_description = stream.engine().description();
    own.filter_name = to_string(stream.filter());
    if (own.log != nullptr) {
      for (const std::string& warning : stream.denoiser().warnings()) {
        own.log(own.log_data, LIMPID_LOG_WARNING, warning.c_str());
      }
    }
  });
}

limpid_status limpid_get_stream(limpid_denoiser* denoiser, limpid_stream_info* info) {
  return with(denoiser, [&](limpid_denoiser& own) {
    check_size(info, "info");
    const limpid::DenoisingStream& stream = own.session.stream();
    const limpid::Reach reach = stream.reach();
    const limpid::MemoryDomain memory = stream.engine().memory();
    const limpid::MemoryDomain result_memory = stream.engine().result_memory();
    fill(info, {.struct_size = 0,
                .reach_before = reach.unbounded ? LIMPID_UNBOUNDED : reach.before,
                .reach_after = reach.after,
                .latency = stream.latency(),
                .concurrency = stream.denoiser().concurrency(),
                .memory = kind_of(memory),
                .ordinal = memory.ordinal,
                .result_memory = kind_of(result_memory),
                .result_ordinal = result_memory.ordinal,
                .engine = own.engine_name.c_str(),
                .engine_description = own.engine_description.c_str(),
                .filter = own.filter_name.c_str(),
                .level_section = static_cast<std::int32_t>(stream.level_grid().section),
                .level_before = static_cast<std::int32_t>(stream.level_grid().before)});
  });
}

limpid_status limpid_allocate(limpid_denoiser* denoiser, limpid_frame* frame) {
  return with(denoiser, [&](limpid_denoiser& own) {
    check_size(frame, "the frame");
    const limpid::DenoisingStream& stream = own.session.stream();
    fill(frame, lend(stream.engine().allocate_frame(stream.format())));
  });
}

limpid_status limpid_send(limpid_denoiser* denoiser, const limpid_frame* frame) {
  BorrowedFrame borrowed(frame);
  return with(denoiser, [&](limpid_denoiser& own) {
    own.session.send(input_frame(own, checked(frame, "the frame"), std::move(borrowed)), std::nullopt);
  });
}

limpid_status limpid_send_to(limpid_denoiser* denoiser, const limpid_frame* frame,
                             const limpid_frame* result) {
  BorrowedFrame borrowed(frame);
  BorrowedFrame borrowed_result(result);
  return with(denoiser, [&](limpid_denoiser& own) {
    checked(result, "the result");
    limpid::Frame sent = input_frame(own, checked(frame, "the frame"), std::move(borrowed));
    own.session.send(std::move(sent), place_of(own, *result, std::move(borrowed_result)));
  });
}

limpid_status limpid_receive(limpid_denoiser* denoiser, limpid_frame* result) {
  return with(denoiser, [&](limpid_denoiser& own) {
    check_size(result, "the result");
    std::optional<limpid::Frame> frame;
    const limpid_status status = receive(own, frame);
    if (frame) {
      fill(result, lend(std::move(*frame)));
    }
    return status;
  });
}

limpid_status limpid_receive_into(limpid_denoiser* denoiser, limpid_frame* result) {
  return with(denoiser, [&](limpid_denoiser& own) {
    const limpid_frame& place = checked(result, "the result");
    const limpid::DenoisingStream& stream = own.session.stream();
    if (!memory_of(place).is_host()) {
      throw limpid::UsageError(
          "results are copied to host memory only; pass device memory to limpid_send_to()");
    }
    check_planes(place, stream.format());
    std::optional<limpid::Frame> frame;
    const limpid_status status = receive(own, frame);
    if (frame) {
      copy_out(stream.engine().in_host_memory(*frame), place);
      copy_properties(*frame, *result);
    }
    return status;
  });
}

limpid_status limpid_cancel(limpid_denoiser* denoiser) {
  return with(denoiser, [](limpid_denoiser& own) { own.session.cancel(); });
}

limpid_status limpid_flush(limpid_denoiser* denoiser) {
  return with(denoiser, [&](limpid_denoiser& own) { own.session.stream().flush(); });
}

limpid_status limpid_reset(limpid_denoiser* denoiser) {
  return with(denoiser, [&](limpid_denoiser& own) { own.session.stream().reset(); });
}

limpid_status limpid_get_noise(limpid_denoiser* denoiser, limpid_noise* noise) {
  return get_noise(denoiser, false, noise);
}

limpid_status limpid_get_result_noise(limpid_denoiser* denoiser, limpid_noise* noise) {
  return get_noise(denoiser, true, noise);
}

limpid_status limpid_estimate_noise(limpid_denoiser* denoiser, const limpid_format* format,
                                    const limpid_frame* const* frames, int32_t count, limpid_noise* noise) {
  return with(denoiser, [&](limpid_denoiser& own) {
    check_size(noise, "the noise");
    const limpid::FrameFormat frames_format = to_format(checked(format, "the format"));
    if (frames == nullptr || count < 1) {
      throw limpid::UsageError("there are no frames to estimate noise from");
    }
    const std::shared_ptr<limpid::Engine> engine = own.session.open_engine();
    limpid::NoiseTracker tracker(*engine);
    for (int32_t i = 0; i < count; ++i) {
      tracker.observe(looked_at(checked(frames[i], "a frame"), frames_format, *engine));
    }
    report_noise(own, profile_of(noise_of_longest_scene(tracker, count).noise, frames_format.color_model),
                 noise);
  });
}

limpid_status limpid_measure(const limpid_format* format, const limpid_frame* reference,
                             const limpid_frame* test, limpid_quality* quality) {
  return guarded([&] {
    check_size(quality, "the quality");
    const limpid::FrameFormat frames_format = to_format(checked(format, "the format"));
    const std::vector<limpid::PlaneQuality> planes =
        limpid::measure(plain(checked(reference, "the reference"), frames_format, "the reference"),
                        plain(checked(test, "the test"), frames_format, "the test"));
    limpid_quality result{};
    for (std::size_t p = 0; p < planes.size(); ++p) {
      result.psnr[p] = planes[p].psnr;
      result.ssim[p] = planes[p].ssim;
    }
    fill(quality, result);
  });
}

// The entry for the program, which uses the C++ interfaces of engines (app/library_engines.cpp).
void limpid::provide_engines(EngineModule& module) { module = cpu_engines(); }
