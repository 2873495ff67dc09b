// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace limpid {

/// A floating-point number of 16 bits (IEEE 754 binary16). The conversions are constant expressions, which
/// device code may use.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  /// Rounds to the nearest value, ties to even; infinity from 65520 on.
  constexpr explicit Half(float value) : bits(bits_of(value)) {}

  /// Exact.
  constexpr operator float() const {
    constexpr std::uint32_t kExponent = 0x7C00;
    constexpr std::uint32_t kRebias = (127 - 15) << 23;
    constexpr std::uint32_t kLeastNormal = kRebias + (1U << 23);  // 2^-14
    const std::uint32_t magnitude = bits & 0x7FFFU;
    const std::uint32_t moved = magnitude << 13;
    const float value = magnitude >= kExponent ? std::bit_cast<float>(moved | 0x7F800000U)
                        : magnitude < 0x0400
                            ? std::bit_cast<float>(moved + kLeastNormal) - std::bit_cast<float>(kLeastNormal)
                            : std::bit_cast<float>(moved + kRebias);
    return (bits & 0x8000U) != 0 ? -value : value;
  }

 private:
  static constexpr std::uint16_t bits_of(float value) {
    constexpr std::uint32_t kInfinity = 0x7F800000;
    constexpr std::uint32_t kOverflow = (127 + 16) << 23;     // 2^16
    constexpr std::uint32_t kLeastNormal = (127 - 14) << 23;  // 2^-14
    constexpr std::uint32_t kRebias = (127 - 15) << 23;
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = all & 0x7FFFFFFFU;
    std::uint32_t result = 0;
    if (magnitude >= kOverflow) {
      result = magnitude > kInfinity ? 0x7E00 : 0x7C00;
    } else if (magnitude < kLeastNormal) {
      // The unit of the sum equals the lowest bit of the half, so the addition rounds.
      result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
               std::bit_cast<std::uint32_t>(0.5F);
    } else {
      const std::uint32_t odd = magnitude >> 13 & 1;
      result = (magnitude - kRebias + 0x0FFF + odd) >> 13;
    }
    return static_cast<std::uint16_t>(result | (all >> 16 & 0x8000U));
  }
};

enum class MemoryKind : std::uint8_t { kHost, kCuda };

/// The memory that holds samples: the host's or a device's.
struct MemoryDomain {
  MemoryKind kind = MemoryKind::kHost;
  int ordinal = 0;  ///< device number of its runtime; 0 for the host

  bool operator==(const MemoryDomain&) const = default;
  bool is_host() const { return kind == MemoryKind::kHost; }
};

inline constexpr MemoryDomain kHostMemory{};
constexpr MemoryDomain cuda_memory(int ordinal) { return {MemoryKind::kCuda, ordinal}; }

/// "the host's memory", "the memory of GPU 1".
inline std::string to_string(const MemoryDomain& memory) {
  return memory.is_host() ? "the host's memory" : "the memory of GPU " + std::to_string(memory.ordinal);
}

/// Shared data of the producer of a frame. It can be read only as the type that was stored.
class Attachment {
 public:
  Attachment() = default;
  template <typename Data>
  Attachment(std::shared_ptr<Data> data) : data_(std::move(data)), type_(&typeid(Data)) {}

  /// The stored data; null if there is none, or if it has another type.
  template <typename Data>
  const Data* get() const {
    return type_ != nullptr && *type_ == typeid(Data) ? static_cast<const Data*>(data_.get()) : nullptr;
  }
  void reset() { *this = Attachment(); }
  /// True for the same data, not for equal data.
  bool operator==(const Attachment& other) const { return data_ == other.data_; }

 private:
  std::shared_ptr<const void> data_;
  const std::type_info* type_ = nullptr;
};

enum class ColorModel : std::uint8_t { kGray, kYuv, kRgb };
enum class SampleType : std::uint8_t { kUint8, kUint16, kFloat32, kFloat16 };
enum class ColorMatrix : std::uint8_t { kUnspecified, kBt601, kBt709, kBt2020 };
enum class ColorRange : std::uint8_t { kUnspecified, kLimited, kFull };

inline constexpr int kMaxPlanes = 4;
inline constexpr int kMaxDimension = 65535;

/// The format of a frame's samples. All planes share the sample type and bit depth.
struct FrameFormat {
  int width = 0;   ///< width of the first plane, in samples
  int height = 0;  ///< height of the first plane, in samples
  ColorModel color_model = ColorModel::kGray;
  int chroma_shift_x =
      0;  ///< YUV only: chroma planes are ceil(width / 2^chroma_shift_x) wide (0 or 1; 2 for 4:1:1)
  int chroma_shift_y = 0;  ///< YUV only: chroma planes are ceil(height / 2^chroma_shift_y) high
  SampleType sample_type = SampleType::kUint8;
  int bit_depth = 8;       ///< significant low bits of an integer sample, 8 to 16; 32 or 16 for float
  bool has_alpha = false;  ///< the last plane is an alpha plane of full size, which no filter touches
  ColorMatrix matrix = ColorMatrix::kUnspecified;
  ColorRange range = ColorRange::kUnspecified;

  bool operator==(const FrameFormat&) const = default;

  /// Number of planes that carry color: 1 for gray, 3 for YUV and RGB.
  int color_plane_count() const { return color_model == ColorModel::kGray ? 1 : 3; }
  /// Number of all planes, including alpha.
  int plane_count() const { return color_plane_count() + (has_alpha ? 1 : 0); }
  int plane_width(int plane) const;
  int plane_height(int plane) const;
  int bytes_per_sample() const;
  bool is_float() const { return sample_type == SampleType::kFloat32 || sample_type == SampleType::kFloat16; }
  /// Size of one 8-bit code value in units of this format's samples: 2^(bit_depth - 8) for integers, 1/255
  /// for float samples (nominal range 0 to 1). Multiplies a noise level to obtain the noise standard
  /// deviation of the samples.
  double code_value() const;
  /// Throws an Error that begins with `name` if the fields contradict each other or a size is outside 1 to
  /// kMaxDimension.
  void validate(const std::string& name) const;
};

/// Calls `visit` with a value of the format's sample type: std::uint8_t, std::uint16_t, float or Half.
template <typename Visit>
decltype(auto) visit_samples(const FrameFormat& format, const Visit& visit) {
  if (format.sample_type == SampleType::kUint8) {
    return visit(std::uint8_t());
  }
  if (format.sample_type == SampleType::kUint16) {
    return visit(std::uint16_t());
  }
  if (format.sample_type == SampleType::kFloat32) {
    return visit(float());
  }
  return visit(Half());
}

/// A short text for the user, such as "1920x1080 YUV 4:2:0 8 bit".
std::string to_string(const FrameFormat& format);

/// A view of one plane's samples. Row y begins `y * stride` bytes after `data`. Rows do not overlap; strides
/// are positive multiples of the sample size.
struct Plane {
  std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from one row to the next
  int width = 0;              ///< samples
  int height = 0;             ///< samples
  int sample_stride = 1;      ///< distance between neighboring samples of a row, in samples; 1 in host memory

  template <typename Sample>
  Sample* row(int y) const {
    return reinterpret_cast<Sample*>(data + y * stride);
  }
};

/// One picture in planar form. Copying a Frame copies the view and shares the samples; samples that are
/// shared are not modified. YUV planes are in the order Y, U, V; RGB planes R, G, B; alpha comes last.
struct Frame {
  FrameFormat format;
  std::array<Plane, kMaxPlanes> planes;
  bool interlaced = false;  ///< odd and even rows are two fields of different instants, which are filtered
                            ///< separately
  bool combed = false;      ///< parts of the frame are combed: noise is estimated by field
  std::int64_t index = 0;   ///< position in the source, from 0; used in messages
  /// True for the first frame after a scene cut or a seek: temporal filters do not combine it with the frames
  /// before.
  bool begins_anew = false;
  /// True for frames that serve only as context of other frames' results and have no result.
  bool context_only = false;
  /// True for frames that serve only to measure the noise of later frames: filters do not use them.
  bool level_only = false;
  /// Where the samples are. Samples in device memory have the layout of the device's video decoder or
  /// encoder: planes have a `sample_stride`, and samples have `padding_bits` unused low bits. Samples of a
  /// decoder are read-only. In host memory `sample_stride` is 1 and `padding_bits` is 0.
  MemoryDomain memory;
  int padding_bits = 0;
  /// Signals that samples in device memory are complete: a recorded event of the device (CUDA: a
  /// cudaEvent_t), kept alive by this pointer. Null: samples are complete when the device's default stream
  /// has finished its queue.
  std::shared_ptr<void> ready;
  std::shared_ptr<void> samples;  ///< keeps the memory behind `planes` alive
  Attachment attachment;          ///< passed through by denoisers: timestamps, side data, tags
};

/// Copies the members that a result has in common with its source frame: `interlaced`, `combed`, `index` and
/// `attachment`.
void pass_on(const Frame& from, Frame& to);

/// Copies all members but the samples to `to`, a frame of the same format in host memory: those of pass_on(),
/// `begins_anew`, `context_only` and `level_only`.
void describe_alike(const Frame& from, Frame& to);

/// Copies the samples of a plane or a frame to another of the same size and format. Both are in host memory.
void copy_plane(const FrameFormat& format, const Plane& from, const Plane& to);
void copy_samples(const Frame& from, const Frame& to);
/// Returns `to` as a copy of `from`, by describe_alike() and copy_samples().
Frame copied(const Frame& from, Frame to);

/// Bytes of memory that place_frame() requires.
std::size_t frame_bytes(const FrameFormat& format);

/// A frame in `memory`, which is 64-byte aligned and has frame_bytes(): one plane after the other, with
/// 64-byte aligned rows. Throws Error for invalid formats.
Frame place_frame(const FrameFormat& format, std::shared_ptr<std::byte> memory);

/// Allocates a frame in ordinary memory. Rows are 64-byte aligned; samples are uninitialized. Throws
/// OutOfMemory.
Frame allocate_frame(const FrameFormat& format);

/// The number of frames that allocate_frame() has made in this process. Tests verify with it that a steady
/// state allocates none.
std::int64_t allocated_frames();

/// Names of the color planes of a format or color model: Y, U, V or R, G, B. A gray plane is Y, as in other
/// video tools.
inline std::vector<std::string_view> color_plane_names(ColorModel model) {
  switch (model) {
    case ColorModel::kGray:
      return {"Y"};
    case ColorModel::kYuv:
      return {"Y", "U", "V"};
    case ColorModel::kRgb:
      break;
  }
  return {"R", "G", "B"};
}
inline std::vector<std::string_view> color_plane_names(const FrameFormat& format) {
  return color_plane_names(format.color_model);
}

/// A pool of frames that reuses their memory, so that a stream allocates only as many frames as are alive at
/// once. Memory that has not been used for 1024 allocations, or eight times the number of frames, is freed.
/// Formats may differ. Thread-safe. Frames may outlive the pool.
class FramePool {
 public:
  using Allocator = std::function<Frame(const FrameFormat&)>;

  /// `allocate` makes a frame when the pool has no free one.
  explicit FramePool(Allocator allocate = allocate_frame);
  /// Samples are uninitialized. Throws OutOfMemory.
  Frame allocate(const FrameFormat& format);

 private:
  struct State;
  Allocator allocate_;
  std::shared_ptr<State> state_;
};

/// The rows of a frame that are filtered as one picture: all rows, or every second row, which is a field.
struct PictureRows {
  int first = 0;
  int spacing = 1;

  /// The number of the picture's rows in a plane of `height` rows.
  constexpr int count(int height) const { return (height - first + spacing - 1) / spacing; }
};

/// The pictures of a frame, in filtering order: the frame itself or its two fields.
inline std::span<const PictureRows> pictures_of(bool interlaced) {
  static constexpr std::array<PictureRows, 1> kFrame = {{{0, 1}}};
  static constexpr std::array<PictureRows, 2> kFields = {{{0, 2}, {1, 2}}};
  return interlaced ? std::span<const PictureRows>(kFields) : std::span<const PictureRows>(kFrame);
}

/// The number of rows of each plane of a picture. In fields, the chroma planes' rows do not follow from
/// luma's.
using PlaneHeights = std::array<int, kMaxPlanes>;

inline PlaneHeights plane_heights(const FrameFormat& format, const PictureRows& rows) {
  PlaneHeights heights{};
  for (int p = 0; p < format.plane_count(); ++p) {
    heights[p] = rows.count(format.plane_height(p));
  }
  return heights;
}

/// False for float samples that filters cannot use: NaN, and those beyond +-4096 code values. They pass
/// unchanged. A constant expression for device code.
constexpr bool is_usable_sample(float sample) {
  constexpr float kGreatest = 4096;
  const float value = sample * 255.0F;
  return value >= -kGreatest && value <= kGreatest;
}

/// A float sample limited to +-4096 code values; 0 for NaN. A constant expression for device code, so the
/// limit is a local constant: std::min() refers to it, and device code has no object of the namespace.
constexpr float usable_code_value(float value) {
  constexpr float kGreatest = 4096;
  return value == value ? std::min(std::max(value, -kGreatest), kGreatest) : 0;
}

/// Reads `count` samples of row `y` from column `x` on into `out`, in 8-bit code values (samples divided by
/// the format's code_value()).
template <typename Real>
void load_code_values(const Plane& plane, const FrameFormat& format, int x, int y, int count, Real* out) {
  visit_samples(format, [&]<typename Sample>(Sample) {
    const auto* const samples = plane.row<const Sample>(y) + x;
    const auto scale = static_cast<Real>(1.0 / format.code_value());
    for (int i = 0; i < count; ++i) {
      out[i] = static_cast<Real>(samples[i]) * scale;
    }
  });
}

/// Reads samples as load_code_values() does and limits float samples by usable_code_value().
inline void load_usable_code_values(const Plane& plane, const FrameFormat& format, int x, int y, int count,
                                    float* out) {
  load_code_values(plane, format, x, y, count, out);
  if (format.is_float()) {
    std::transform(out, out + count, out, usable_code_value);
  }
}

}  // namespace limpid
