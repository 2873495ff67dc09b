// SPDX-License-Identifier: MIT
#include "lib/session.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/engines.h"
#include "core/settings/denoising_settings.h"

namespace limpid::lib {
namespace {

// The data that a result takes from its frame, stored as Frame::attachment.
struct Carried {
  std::int64_t pts;
  void* user;
  bool interlaced;
};

int sample_stride(const limpid_plane& plane) { return plane.sample_stride == 0 ? 1 : plane.sample_stride; }

// Copies samples with a distance of `from_stride` and `to_stride` samples, at any address, shifted to the
// left by `bits`.
template <typename Sample>
void copy_samples(const std::byte* from, int from_stride, std::byte* to, int to_stride, int count, int bits) {
  for (int i = 0; i < count; ++i) {
    Sample sample;
    std::memcpy(&sample, from, sizeof sample);
    sample = static_cast<Sample>(bits < 0 ? sample >> -bits : sample << bits);
    std::memcpy(to, &sample, sizeof sample);
    from += from_stride * std::ptrdiff_t{sizeof sample};
    to += to_stride * std::ptrdiff_t{sizeof sample};
  }
}

void copy_row(const std::byte* from, int from_stride, std::byte* to, int to_stride, int count, int size,
              int bits) {
  if (from_stride == 1 && to_stride == 1 && bits == 0) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
  } else if (size == 1) {
    copy_samples<std::uint8_t>(from, from_stride, to, to_stride, count, bits);
  } else if (size == 2) {
    copy_samples<std::uint16_t>(from, from_stride, to, to_stride, count, bits);
  } else {
    copy_samples<std::uint32_t>(from, from_stride, to, to_stride, count, bits);
  }
}

// Calls each(the frame's row, the caller's row, distance of the caller's samples, number of samples).
template <typename Each>
void for_each_row(const Frame& frame, const limpid_frame& callers, const Each& each) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    const limpid_plane& other = callers.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      each(plane.row<std::byte>(y), static_cast<std::byte*>(other.data) + y * other.stride,
           sample_stride(other), plane.width);
    }
  }
}

}  // namespace

BorrowedFrame::BorrowedFrame(const limpid_frame* frame) {
  if (frame != nullptr && frame->struct_size >= sizeof *frame && frame->struct_size <= kMostStructSize) {
    release_ = frame->release;
    data_ = frame->release_data;
  }
}

BorrowedFrame::BorrowedFrame(BorrowedFrame&& other) noexcept
    : release_(std::exchange(other.release_, nullptr)), data_(other.data_) {}

BorrowedFrame::~BorrowedFrame() {
  if (release_ != nullptr) {
    release_(data_);
  }
}

FrameFormat to_format(const limpid_format& format) {
  const auto in_range = [](int value, int last, const char* what) {
    if (value < 0 || value > last) {
      throw UsageError(std::string("the format's ") + what + " is " + std::to_string(value) +
                       ", which is not a valid value");
    }
  };
  in_range(format.color_model, LIMPID_RGB, "color_model");
  in_range(format.sample_type, LIMPID_FLOAT16, "sample_type");
  in_range(format.has_alpha, 1, "has_alpha");
  FrameFormat result{.width = format.width,
                     .height = format.height,
                     .color_model = static_cast<ColorModel>(format.color_model),
                     .chroma_shift_x = format.chroma_shift_x,
                     .chroma_shift_y = format.chroma_shift_y,
                     .sample_type = static_cast<SampleType>(format.sample_type),
                     .bit_depth = format.bit_depth,
                     .has_alpha = format.has_alpha != 0};
  try {
    result.validate("the format");
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return result;
}

void check_planes(const limpid_frame& frame, const FrameFormat& format) {
  const int size = format.bytes_per_sample();
  const int most_padding = format.sample_type == SampleType::kUint16 ? 16 - format.bit_depth : 0;
  if (frame.padding_bits < 0 || frame.padding_bits > most_padding) {
    throw UsageError("padding_bits is " + std::to_string(frame.padding_bits) + ", but samples of " +
                     to_string(format) + " have at most " + std::to_string(most_padding));
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    const limpid_plane& plane = frame.planes[p];
    const std::string name = "plane " + std::to_string(p);
    if (plane.data == nullptr) {
      throw UsageError(name + " of a frame of " + to_string(format) + " is null");
    }
    constexpr int kMostSampleStride = 16;
    const int stride = sample_stride(plane);
    if (stride < 1 || stride > kMostSampleStride) {
      throw UsageError(name + " has a sample_stride of " + std::to_string(stride) + "; it must be 1 to 16");
    }
    const std::ptrdiff_t row = (std::ptrdiff_t{format.plane_width(p) - 1} * stride + 1) * size;
    if (plane.stride < row && plane.stride > -row) {
      throw UsageError(name + " has a stride of " + std::to_string(plane.stride) +
                       " bytes, but its rows have " + std::to_string(row));
    }
    if (const std::ptrdiff_t most = PTRDIFF_MAX / format.plane_height(p);
        plane.stride > most || plane.stride < -most) {
      throw UsageError(name + " has a stride of " + std::to_string(plane.stride) + " bytes; " +
                       std::to_string(format.plane_height(p)) + " rows of this length exceed the memory");
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(plane.data) % size == 0 && plane.stride % size == 0;
    if (frame.memory != LIMPID_HOST && (plane.stride < 0 || !aligned)) {
      throw UsageError(name +
                       " is in device memory, where strides must be positive multiples of the sample size");
    }
  }
}

void copy_in(const limpid_frame& from, Frame& to) {
  for_each_row(to, from, [&](std::byte* own, const std::byte* theirs, int stride, int count) {
    copy_row(theirs, stride, own, 1, count, to.format.bytes_per_sample(), -from.padding_bits);
  });
}

void copy_out(const Frame& from, const limpid_frame& to) {
  for_each_row(from, to, [&](const std::byte* own, std::byte* theirs, int stride, int count) {
    copy_row(own, 1, theirs, stride, count, from.format.bytes_per_sample(), to.padding_bits);
  });
}

Frame callers_frame(const limpid_frame& frame, const FrameFormat& format, BorrowedFrame&& borrowed) {
  Frame result;
  result.format = format;
  result.memory = cuda_memory(frame.ordinal);
  result.padding_bits = frame.padding_bits;
  const auto owner = std::make_shared<BorrowedFrame>(std::move(borrowed));
  result.samples = owner;
  if (frame.ready != nullptr) {
    result.ready = std::shared_ptr<void>(owner, frame.ready);
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    result.planes[p] = {static_cast<std::byte*>(frame.planes[p].data), frame.planes[p].stride,
                        format.plane_width(p), format.plane_height(p), sample_stride(frame.planes[p])};
  }
  return result;
}

void copy_properties(const limpid_frame& from, Frame& to) {
  constexpr std::uint32_t kFlags =
      LIMPID_INTERLACED | LIMPID_BEGINS_ANEW | LIMPID_CONTEXT_ONLY | LIMPID_LEVEL_ONLY;
  if ((from.flags & ~kFlags) != 0) {
    throw UsageError("the frame's flags are " + std::to_string(from.flags) +
                     ", but only the flags 1, 2, 4 and 8 (limpid_frame_flag) exist; set other bits to 0");
  }
  to.interlaced = (from.flags & LIMPID_INTERLACED) != 0;
  to.begins_anew = (from.flags & LIMPID_BEGINS_ANEW) != 0;
  to.level_only = (from.flags & LIMPID_LEVEL_ONLY) != 0;
  to.context_only = to.level_only || (from.flags & LIMPID_CONTEXT_ONLY) != 0;
  to.attachment = std::make_shared<Carried>(Carried{from.pts, from.user, to.interlaced});
}

void copy_properties(const Frame& from, limpid_frame& to) {
  to.flags = 0;
  if (const auto* const carried = from.attachment.get<Carried>()) {
    to.flags = carried->interlaced ? LIMPID_INTERLACED : 0;
    to.pts = carried->pts;
    to.user = carried->user;
  }
}

limpid_frame lend(Frame frame) {
  limpid_frame result{};
  result.struct_size = sizeof result;
  result.memory = frame.memory.is_host() ? LIMPID_HOST : LIMPID_CUDA;
  result.ordinal = frame.memory.ordinal;
  result.padding_bits = frame.padding_bits;
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    result.planes[p] = {plane.data, plane.stride, plane.sample_stride};
  }
  copy_properties(frame, result);
  result.buffer = std::make_unique<limpid_buffer>(limpid_buffer{std::move(frame)}).release();
  return result;
}

namespace {

constexpr std::array<const char*, 8> kGeneralSettings{"settings", "filter", "quality", "profile",
                                                      "fields",   "engine", "threads", "live"};

bool parse_flag(const std::string& name, const std::string& value) {
  if (value == "1" || value == "0") {
    return value == "1";
  }
  throw UsageError(name + ": '" + value + "' is neither 1 nor 0");
}

int parse_threads(const std::string& value) {
  const std::optional<int> threads = to_number<int>(value);
  if (!threads || *threads < 1 || *threads > kMostThreads) {
    throw UsageError("threads: '" + value + "' is not a whole number from 1 to 1024");
  }
  return *threads;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  std::vector<std::string> known(kGeneralSettings.begin(), kGeneralSettings.end());
  std::ranges::transform(noise_fields(), std::back_inserter(known), &NoiseField::name);
  for (const FilterType& type : filter_types()) {
    for (const Parameter<Filter>& parameter : type.parameters) {
      known.push_back(parameter.text.option);
    }
  }
  throw UsageError("there is no setting '" + name + "'" + did_you_mean(name, known));
}

}  // namespace

std::shared_ptr<Engine> SharedEngine::get() {
  const std::scoped_lock lock(mutex_);
  if (engine_ == nullptr) {
    engine_ = engine_registry().open(name_, EngineOptions{threads_});
  }
  return engine_;
}

void Session::set(const std::string& name, const std::optional<std::string>& value) {
  if (name == "settings") {
    set_all(value);
  } else if (name == "filter") {
    FilterSettings given = value ? parse_filter_settings(lower_case(*value)) : FilterSettings();
    filter_settings_.name = given.name;
    filter_settings_.profile = given.profile ? given.profile : filter_settings_.profile;
    given.parameters.merge(filter_settings_.parameters);
    filter_settings_.parameters = std::move(given.parameters);
  } else if (name == "quality" || name == "profile") {
    filter_settings_.profile = value ? std::optional(parse_quality(name, *value)) : std::nullopt;
  } else if (name == "fields") {
    fields_ = parse_fields(name, lower_case(value.value_or("auto")));
  } else if (name == "live") {
    live_ = value && parse_flag(name, *value);
  } else if (name == "engine" || name == "threads") {
    if (shared_engine_ != nullptr) {
      throw UsageError(name + ": cannot be set, since the denoiser shares an engine that is already open");
    }
    if (name == "engine") {
      engine_name_ = lower_case(value.value_or("auto"));
    } else {
      threads_ = value ? parse_threads(*value) : 0;
    }
    own_engine_ = nullptr;
  } else if (!set_noise(name, value)) {
    const std::vector<const FilterType*> filters = filters_with(name);
    if (filters.empty()) {
      fail_unknown(name);
    }
    if (value) {
      filter_settings_.parameters[name] = parse_value(*find_parameter(*filters.front(), name), *value);
    } else {
      filter_settings_.parameters.erase(name);
    }
  }
}

void Session::set_all(const std::optional<std::string>& value) {
  DenoisingSettings settings;
  try {
    if (value) {
      settings = value->starts_with("{") ? parse_settings(*value) : read_settings(*value);
    }
  } catch (const UsageError& error) {
    throw UsageError(std::string("settings: ") + error.what());
  }
  apply({settings.noise});
  filter_settings_ = std::move(settings.filter);
  fields_ = settings.fields;
}

bool Session::set_noise(const std::string& name, const std::optional<std::string>& value) {
  const NoiseField* const field = find_noise_field(name);
  if (field == nullptr) {
    return false;
  }
  NoiseChoice choice = noise_;
  field->parse(choice, name, value.value_or(field->standard));
  apply(choice);
  return true;
}

void Session::apply(const NoiseChoice& noise) {
  if (stream_ != nullptr) {
    stream_->set_noise(noise.chosen());
  }
  noise_ = noise;
}

std::shared_ptr<Engine> Session::open_engine() {
  if (shared_engine_ != nullptr) {
    return shared_engine_->get();
  }
  if (own_engine_ == nullptr) {
    own_engine_ = std::make_shared<SharedEngine>(engine_name_, threads_);
  }
  return own_engine_->get();
}

void Session::start(const FrameFormat& format) {
  const Filter filter = make_filter(live_ ? live(filter_settings_, false) : filter_settings_, false);
  stream_ = std::make_unique<DenoisingStream>(open_engine(), filter, noise_.chosen(), fields_, format,
                                              live_ ? Latency::kNone : Latency::kLookAhead);
}

DenoisingStream& Session::stream() {
  if (stream_ == nullptr) {
    throw OutOfTurn("the denoiser has not been started");
  }
  return *stream_;
}

void Session::send(Frame frame, std::optional<Frame> result) {
  if (stream().is_flushed()) {
    throw OutOfTurn("no frame can be sent after a flush; reset the denoiser or start it again");
  }
  stream_->send(std::move(frame), std::move(result));
}

std::optional<NoiseProfile> Session::noise(bool of_result) const {
  if (stream_ == nullptr) {
    return std::nullopt;
  }
  const std::optional<NoiseEstimate>& found = of_result ? stream_->found_of_result() : stream_->found();
  return found ? std::optional(profile_of(*found, stream_->format().color_model)) : std::nullopt;
}

void Session::cancel() {
  if (stream_ != nullptr) {
    stream_->cancel();
  }
}

}  // namespace limpid::lib
