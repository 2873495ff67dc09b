// SPDX-License-Identifier: MIT
// limpid._limpid: limpid.h for Python. The package limpid/ wraps it for users.

#include <limpid.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace limpid::python {

/// A view of a caller's array: of NumPy, of a library with DLPack, or of an object with a Python buffer. Work
/// in the default stream of the device may read arrays in GPU memory, and write to writable ones.
class Array {
 public:
  /// Throws nanobind::type_error for other objects.
  Array(const nanobind::object& object, bool writable);

  const nanobind::ndarray<>& view() const { return view_; }
  std::vector<std::size_t> shape() const;
  std::string dtype() const;  ///< "uint8"
  /// Number of the GPU that holds the array; nothing for host memory.
  std::optional<int> ordinal() const;

 private:
  nanobind::ndarray<> view_;
};

/// The frames in arrays: one frame, or one per index of the time axis. Keeps the arrays alive.
class Clip {
 public:
  /// `axes` has a letter for each axis of an array: T, C, Y or X, or B for colors in the order B, G, R. Y and
  /// X are required.
  Clip(const std::vector<const Array*>& arrays, const std::string& axes);

  /// True if the library can read and write the planes in place.
  bool fits() const { return fits_; }
  bool is_on_gpu() const { return ordinal_.has_value(); }
  /// Frame t, valid during a call of the library.
  limpid_frame frame(std::int64_t t) const;

 private:
  struct Plane {
    std::byte* data;
    std::ptrdiff_t frame_stride;  // in bytes
    std::ptrdiff_t row_stride;
    int sample_stride;  // in samples
  };

  void add(const Array& array, const std::string& axes);

  std::vector<nanobind::ndarray<>> arrays_;
  std::vector<Plane> planes_;
  std::optional<int> ordinal_;
  bool fits_ = true;
};

namespace {

namespace nb = nanobind;
namespace dlpack = nb::dlpack;

// The legacy default stream of CUDA in DLPack.
constexpr int kDefaultStream = 1;

// The DLPack capsule of `object` for the default stream of its GPU.
nb::object device_capsule(const nb::object& object) {
  const nb::object exporting = object.attr("__dlpack__");
  try {
    return exporting(nb::arg("stream") = kDefaultStream, nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    // It is of before DLPack 1.0.
    if (!error.matches(PyExc_TypeError)) {
      throw;
    }
  }
  return exporting(nb::arg("stream") = kDefaultStream);
}

bool is_on_gpu(const nb::object& object) {
  if (!nb::hasattr(object, "__dlpack_device__")) {
    return false;
  }
  const nb::object device = object.attr("__dlpack_device__")();
  const int type = nb::cast<int>(nb::int_(device[0]));
  return type == nb::device::cuda::value || type == nb::device::cuda_managed::value;
}

template <typename... Options>
bool import(const nb::object& object, nb::ndarray<>& view) {
  nb::ndarray<Options...> imported;
  if (!nb::try_cast(object, imported, false)) {
    return false;
  }
  view = nb::ndarray<>(imported.handle());
  return true;
}

std::string type_name(const nb::object& object) {
  return nb::cast<std::string>(object.type().attr("__qualname__"));
}

// Gives a clip back.
void release(void* held) {
  // The process ends, so the reference is leaked.
  if (!nb::is_alive()) {
    return;
  }
  const nb::gil_scoped_acquire gil;
  const std::unique_ptr<nb::object> ended(static_cast<nb::object*>(held));
}

}  // namespace

Array::Array(const nb::object& object, bool writable) {
  const nb::object source = is_on_gpu(object) ? device_capsule(object) : object;
  if (writable ? import <>(source, view_) : import <nb::ro>(source, view_)) {
    return;
  }
  if (writable && import <nb::ro>(source, view_)) {
    throw nb::value_error(
        ("results can't be written to the " + type_name(object) + ", which is read-only").c_str());
  }
  if (nb::hasattr(object, "__dlpack__")) {
    object.attr("__dlpack__")();  // raises the error
  }
  throw nb::type_error((type_name(object) + " is no array: neither NumPy's nor one with DLPack").c_str());
}

std::vector<std::size_t> Array::shape() const {
  return {view_.shape_ptr(), view_.shape_ptr() + view_.ndim()};
}

std::string Array::dtype() const {
  constexpr const char* kNames[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const dlpack::dtype type = view_.dtype();
  if (type.code == static_cast<std::uint8_t>(dlpack::dtype_code::Bool)) {
    return "bool";
  }
  const bool is_known = type.code < std::size(kNames);
  return (is_known ? kNames[type.code] : "DLPack type " + std::to_string(type.code) + " of bits ") +
         std::to_string(type.bits);
}

std::optional<int> Array::ordinal() const {
  const nb::ndarray<>* const array = &view_;
  switch (array->device_type()) {
    case nb::device::cuda::value:
    case nb::device::cuda_managed::value:
      return array->device_id();
    case nb::device::cpu::value:
    case nb::device::cuda_host::value:
      return std::nullopt;
    default:
      throw nb::value_error(("the array is in memory of DLPack's kind " +
                             std::to_string(array->device_type()) +
                             ", which is neither the host's nor CUDA's")
                                .c_str());
  }
}

Clip::Clip(const std::vector<const Array*>& arrays, const std::string& axes)
    : ordinal_(arrays.at(0)->ordinal()) {
  for (const Array* array : arrays) {
    add(*array, axes);
  }
}

void Clip::add(const Array& array, const std::string& axes) {
  const nb::ndarray<>& view = array.view();
  const auto size = static_cast<std::ptrdiff_t>(view.itemsize());
  const auto extent = [&](std::size_t axis) {
    return axis == std::string::npos ? 1 : static_cast<std::ptrdiff_t>(view.shape(axis));
  };
  // In samples. That of an axis with one place says nothing.
  const auto stride = [&](std::size_t axis) {
    return extent(axis) == 1 ? 0 : static_cast<std::ptrdiff_t>(view.stride(axis));
  };
  const std::size_t channel = axes.find_first_of("BC");
  const bool is_reversed = channel != std::string::npos && axes[channel] == 'B' && extent(channel) >= 3;
  const std::size_t row = axes.find('Y');
  const std::size_t column = axes.find('X');
  const std::ptrdiff_t sample_stride = extent(column) == 1 ? 1 : stride(column);
  constexpr std::ptrdiff_t kMostSampleStride = 16;
  const std::ptrdiff_t row_samples = (extent(column) - 1) * sample_stride + 1;
  const std::ptrdiff_t row_stride = extent(row) == 1 ? row_samples : stride(row);
  fits_ = fits_ && sample_stride >= 1 && sample_stride <= kMostSampleStride &&
          std::abs(row_stride) >= row_samples && (row_stride > 0 || !ordinal_);
  for (std::ptrdiff_t c = 0; c < extent(channel); ++c) {
    const std::ptrdiff_t color = is_reversed && c < 3 ? 2 - c : c;
    planes_.push_back({static_cast<std::byte*>(view.data()) + color * stride(channel) * size,
                       stride(axes.find('T')) * size, row_stride * size, static_cast<int>(sample_stride)});
  }
  arrays_.push_back(view);
}

limpid_frame Clip::frame(std::int64_t t) const {
  limpid_frame frame{};
  frame.struct_size = sizeof frame;
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const Plane& plane = planes_[p];
    frame.planes[p] = {plane.data + t * plane.frame_stride, plane.row_stride, plane.sample_stride};
  }
  if (ordinal_) {
    frame.memory = LIMPID_CUDA;
    frame.ordinal = *ordinal_;
  }
  return frame;
}

/// Frame t of a clip, which is kept until the library releases the frame.
limpid_frame lent_frame(const nb::object& clip, std::int64_t t) {
  const auto& own = nb::cast<const Clip&>(clip);
  limpid_frame frame = own.frame(t);
  // Host memory is copied at once.
  if (own.is_on_gpu()) {
    frame.release = release;
    frame.release_data = std::make_unique<nb::object>(clip).release();
  }
  return frame;
}

namespace {

template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

/// An error of the library.
class Failure : public std::exception {
 public:
  Failure(limpid_status status, std::string sentence) : status_(status), sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }
  /// Name of the class in limpid/_errors.py.
  const char* name() const {
    switch (status_) {
      case LIMPID_BAD_ARGUMENT:
        return "ArgumentError";
      case LIMPID_NO_MEMORY:
        return "OutOfMemoryError";
      case LIMPID_BAD_STATE:
        return "StateError";
      default:
        return "EngineError";
    }
  }

 private:
  limpid_status status_;
  std::string sentence_;
};

void raise(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    PyErr_SetString(nb::module_::import_("limpid._errors").attr(failure.name()).ptr(), failure.what());
  }
}

/// Frees an object of the library without Python's lock, since it may wait for work.
template <auto kFree>
struct Free {
  template <typename Object>
  void operator()(Object* object) const {
    const nb::gil_scoped_release no_gil;
    kFree(&object);
  }
};

class Engine {
 public:
  Engine(const std::string& name, int threads) {
    limpid_engine* engine = nullptr;
    if (const limpid_status status = limpid_engine_new(&engine, name.c_str(), threads); status < 0) {
      throw Failure(status, limpid_error(nullptr));
    }
    engine_.reset(engine);
  }
  limpid_engine* get() const { return engine_.get(); }

 private:
  std::unique_ptr<limpid_engine, Free<limpid_engine_free>> engine_;
};

// The members of limpid_format from `width` on.
using FormatNumbers = std::array<std::int32_t, 8>;

limpid_format format_of(const FormatNumbers& numbers) {
  const auto [width, height, color_model, shift_x, shift_y, sample_type, bit_depth, has_alpha] = numbers;
  return {sizeof(limpid_format), width,     height,   color_model, shift_x, shift_y,
          sample_type,           bit_depth, has_alpha};
}

// A clip, and the number of one of its frames.
using FrameOfClip = std::pair<nb::object, std::int64_t>;

/// A limpid_denoiser, which several threads may have: one works with it at a time, and without Python's lock.
class Denoiser {
 public:
  explicit Denoiser(const Engine& engine) {
    limpid_denoiser* made = nullptr;
    if (limpid_new(&made, engine.get()) < 0) {
      throw std::bad_alloc();
    }
    denoiser_.reset(made);
    limpid_set_log(
        made,
        [](void* own, limpid_log_level level, const char* sentence) {
          if (level == LIMPID_LOG_WARNING) {
            static_cast<Denoiser*>(own)->warnings_.emplace_back(sentence);
          }
        },
        this);
  }

  void set(const std::string& name, const std::optional<std::string>& value) {
    call([&] { return limpid_set(denoiser_.get(), name.c_str(), value ? value->c_str() : nullptr); });
  }

  /// Sentences on what won't be filtered as asked.
  std::vector<std::string> start(const FormatNumbers& numbers) {
    const limpid_format format = format_of(numbers);
    std::vector<std::string> warnings;
    call([&] {
      warnings_.clear();
      is_quick_ = false;
      const limpid_status status = limpid_start(denoiser_.get(), &format);
      warnings = std::move(warnings_);
      return status;
    });
    return warnings;
  }

  nb::dict stream() {
    auto info = sized<limpid_stream_info>();
    nb::dict result;
    call([&] { return limpid_get_stream(denoiser_.get(), &info); });
    result["reach_before"] = info.reach_before;
    result["reach_after"] = info.reach_after;
    result["latency"] = info.latency;
    result["concurrency"] = info.concurrency;
    result["engine"] = info.engine;
    result["engine_description"] = info.engine_description;
    result["filter"] = info.filter;
    return result;
  }

  void send(const nb::object& clip, std::int64_t t, std::uint32_t flags,
            const std::optional<FrameOfClip>& target) {
    limpid_frame frame = lent_frame(clip, t);
    frame.flags = flags;
    if (target) {
      const limpid_frame result = lent_frame(target->first, target->second);
      call([&] { return limpid_send_to(denoiser_.get(), &frame, &result); });
    } else {
      call([&] { return limpid_send(denoiser_.get(), &frame); });
    }
  }

  /// True if there was a result, which is in the memory given to send().
  bool receive() {
    auto result = sized<limpid_frame>();
    return call_interruptibly([&] {
             const limpid_status status = limpid_receive(denoiser_.get(), &result);
             limpid_release(&result);
             return status;
           }) == LIMPID_OK;
  }

  /// True if there was a result, which is copied to host memory.
  bool receive_into(const Clip& clip, std::int64_t t) {
    limpid_frame result = clip.frame(t);
    return call_interruptibly([&] { return limpid_receive_into(denoiser_.get(), &result); }) == LIMPID_OK;
  }

  void flush() {
    call([&] { return limpid_flush(denoiser_.get()); });
  }
  void reset() {
    call([&] { return limpid_reset(denoiser_.get()); });
  }

  /// A profile; nothing: no frame has been given to the filter.
  std::optional<std::string> noise() {
    auto noise = sized<limpid_noise>();
    std::optional<std::string> profile;
    call([&] {
      const limpid_status status = limpid_get_noise(denoiser_.get(), &noise);
      if (status == LIMPID_OK) {
        profile = noise.profile;
      }
      return status;
    });
    return profile;
  }

  /// A profile.
  std::string estimate_noise(const FormatNumbers& numbers, const std::vector<FrameOfClip>& frames) {
    const limpid_format format = format_of(numbers);
    std::vector<limpid_frame> c_frames;
    c_frames.reserve(frames.size());
    std::vector<const limpid_frame*> pointers;
    pointers.reserve(frames.size());
    for (const auto& [clip, t] : frames) {
      pointers.push_back(&c_frames.emplace_back(nb::cast<const Clip&>(clip).frame(t)));
    }
    auto noise = sized<limpid_noise>();
    std::string profile;
    call([&] {
      const limpid_status status = limpid_estimate_noise(denoiser_.get(), &format, pointers.data(),
                                                         static_cast<std::int32_t>(pointers.size()), &noise);
      if (status == LIMPID_OK) {
        profile = noise.profile;
      }
      return status;
    });
    return profile;
  }

 private:
  // The functions that wait for `mutex_` do not have Python's lock, which prevents a deadlock.
  template <typename Function>
  limpid_status call(const Function& function) {
    std::string sentence;
    limpid_status status = LIMPID_OK;
    {
      const nb::gil_scoped_release no_gil;
      status = locked(function, sentence);
    }
    return checked(status, sentence);
  }

  // Calls limpid_receive() on another thread, while Python's main thread handles signals. An exception of a
  // signal's handler, such as KeyboardInterrupt, cancels the work; the denoiser must then be reset. After a
  // quick result, results are expected to be quick, and need no other thread.
  template <typename Function>
  limpid_status call_interruptibly(const Function& function) {
    const nb::module_ threading = nb::module_::import_("threading");
    constexpr std::chrono::milliseconds kStep(50);
    const auto timed = [&] {
      const auto begin = std::chrono::steady_clock::now();
      const limpid_status status = function();
      is_quick_ = status == LIMPID_OK && std::chrono::steady_clock::now() - begin < kStep;
      return status;
    };
    if (is_quick_ || !threading.attr("current_thread")().is(threading.attr("main_thread")())) {
      return call(timed);
    }
    std::string sentence;
    auto work = std::async(std::launch::async, [&] { return locked(timed, sentence); });
    bool has_raised = false;
    const auto is_done = [&] {
      const nb::gil_scoped_release no_gil;
      return work.wait_for(kStep) == std::future_status::ready;
    };
    while (!is_done()) {
      if (!has_raised && PyErr_CheckSignals() != 0) {
        has_raised = true;
        limpid_cancel(denoiser_.get());
      }
    }
    if (has_raised) {
      throw nb::python_error();
    }
    return checked(work.get(), sentence);
  }

  template <typename Function>
  limpid_status locked(const Function& function, std::string& sentence) {
    const std::scoped_lock lock(mutex_);
    const limpid_status status = function();
    sentence = status < 0 ? limpid_error(denoiser_.get()) : "";
    return status;
  }

  static limpid_status checked(limpid_status status, const std::string& sentence) {
    if (status < 0) {
      throw Failure(status, sentence);
    }
    return status;
  }

  std::mutex mutex_;
  std::atomic<bool> is_quick_ = false;  // the last result
  std::vector<std::string> warnings_;
  std::unique_ptr<limpid_denoiser, Free<limpid_free>> denoiser_;
};

// PSNR and SSIM of each plane.
std::vector<std::pair<double, double>> measure(const FormatNumbers& numbers, const Clip& reference,
                                               std::int64_t t, const Clip& test, std::int64_t test_t) {
  const limpid_format format = format_of(numbers);
  const limpid_frame frames[2] = {reference.frame(t), test.frame(test_t)};
  auto quality = sized<limpid_quality>();
  limpid_status status = LIMPID_OK;
  {
    const nb::gil_scoped_release no_gil;
    status = limpid_measure(&format, &frames[0], &frames[1], &quality);
  }
  if (status < 0) {
    throw Failure(status, limpid_error(nullptr));
  }
  std::vector<std::pair<double, double>> planes;
  planes.reserve(3);
  for (int p = 0; p < (format.color_model == LIMPID_GRAY ? 1 : 3); ++p) {
    planes.emplace_back(quality.psnr[p], quality.ssim[p]);
  }
  return planes;
}

std::optional<std::string> text_of(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

// Name, description, bytes of memory, and whether it is available.
using EngineRow = std::tuple<std::string, std::string, std::uint64_t, bool>;

std::vector<EngineRow> engines() {
  const nb::gil_scoped_release no_gil;  // devices are asked, which takes a while
  std::vector<EngineRow> rows;
  limpid_list_engines(
      [](void* data, const limpid_engine_info* info) {
        static_cast<std::vector<EngineRow>*>(data)->emplace_back(info->name, info->description,
                                                                 info->memory_bytes, info->available != 0);
      },
      &rows);
  return rows;
}

// Name, help, range and default.
using ParameterRow = std::tuple<std::string, std::string, std::string, std::optional<std::string>>;
// Name, help, profiles, default profile and parameters.
using FilterRow = std::tuple<std::string, std::string, std::vector<std::string>, std::optional<std::string>,
                             std::vector<ParameterRow>>;

std::vector<FilterRow> filters() {
  std::vector<FilterRow> rows;
  for (int f = 0; f < limpid_filter_count(); ++f) {
    auto filter = sized<limpid_filter_info>();
    limpid_get_filter(f, &filter);
    std::vector<ParameterRow> parameters;
    for (int p = 0; p < filter.parameter_count; ++p) {
      auto info = sized<limpid_parameter_info>();
      limpid_get_parameter(f, p, &info);
      parameters.emplace_back(info.name, info.help, info.range, text_of(info.default_value));
    }
    rows.emplace_back(filter.name, filter.help,
                      std::vector<std::string>(filter.profiles, filter.profiles + filter.profile_count),
                      text_of(filter.default_profile), std::move(parameters));
  }
  return rows;
}

}  // namespace
}  // namespace limpid::python

NB_MODULE(_limpid, module) {
  namespace nb = nanobind;
  using namespace limpid::python;
  nb::register_exception_translator(raise);
  module.attr("version") = limpid_version();

  nb::class_<Array>(module, "Array")
      .def(nb::init<const nb::object&, bool>(), nb::arg("array").none(), nb::arg("writable"))
      .def_prop_ro("shape", &Array::shape)
      .def_prop_ro("dtype", &Array::dtype)
      .def_prop_ro("ordinal", &Array::ordinal);
  nb::class_<Clip>(module, "Clip")
      .def(nb::init<const std::vector<const Array*>&, const std::string&>(), nb::arg("arrays"),
           nb::arg("axes"))
      .def_prop_ro("fits", &Clip::fits);
  nb::class_<Engine>(module, "Engine")
      .def(nb::init<const std::string&, int>(), nb::arg("name"), nb::arg("threads"));
  nb::class_<Denoiser>(module, "Denoiser")
      .def(nb::init<const Engine&>(), nb::arg("engine"))
      .def("set", &Denoiser::set, nb::arg("name"), nb::arg("value").none())
      .def("start", &Denoiser::start, nb::arg("format"))
      .def("stream", &Denoiser::stream)
      .def("send", &Denoiser::send, nb::arg("clip"), nb::arg("t"), nb::arg("flags"), nb::arg("target").none())
      .def("receive", &Denoiser::receive)
      .def("receive_into", &Denoiser::receive_into, nb::arg("clip"), nb::arg("t"))
      .def("flush", &Denoiser::flush)
      .def("reset", &Denoiser::reset)
      .def("noise", &Denoiser::noise)
      .def("estimate_noise", &Denoiser::estimate_noise, nb::arg("format"), nb::arg("frames"));
  module.def("measure", measure, nb::arg("format"), nb::arg("reference"), nb::arg("t"), nb::arg("test"),
             nb::arg("test_t"));
  module.def("engines", engines);
  module.def("filters", filters);
}
