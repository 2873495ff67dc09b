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

/// An array of the caller's, looked at where it is: NumPy's, of any library that has DLPack, or what has
/// Python's buffers. One in a GPU's memory may be read, and written if that is wanted, by what the device's
/// default stream is given from now on.
class Array {
 public:
  /// Throws nanobind::type_error for what is no array.
  Array(const nanobind::object& object, bool writable);

  const nanobind::ndarray<>& view() const { return view_; }
  nanobind::tuple shape() const;
  std::string dtype() const;  ///< "uint8"
  /// Of the GPU that it is on; nothing: it is in the host's memory.
  std::optional<int> ordinal() const;

 private:
  nanobind::ndarray<> view_;
};

/// Frames that arrays hold: one, or as many as a time axis has. Keeps the arrays alive.
class Clip {
 public:
  /// `axes` has a letter for each axis of an array: T, C, Y, X; Y and X must be there.
  Clip(const std::vector<const Array*>& arrays, const std::string& axes);

  /// Whether the library can read and write them where they are.
  bool fits() const { return fits_; }
  bool is_on_gpu() const { return ordinal_.has_value(); }
  /// Frame t, for a call that needs it no longer than it lasts.
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
