// SPDX-License-Identifier: MIT
#include "python/arrays.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace limpid::python {
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

}  // namespace limpid::python
