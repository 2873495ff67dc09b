// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

/// Frame t of a clip, which is kept until the library releases the frame.
limpid_frame lent_frame(const nanobind::object& clip, std::int64_t t);

}  // namespace limpid::python
