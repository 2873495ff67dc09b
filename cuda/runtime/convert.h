#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <type_traits>

#include "core/frame/frame.h"
#include "cuda/runtime/planes.h"

// Conversions between the samples of frames and the float planes that BM3D works on. Each call enqueues one
// kernel; a thread treats one sample. All are bound by memory.

namespace limpid::cuda {

/// A plane of a frame in device memory; row y begins `y * stride` bytes after `data`.
struct SamplePlane {
  std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// A sample without the low bits that don't count (Frame::padding_bits), and with them. Floats have none.
template <typename Sample>
LIMPID_HOST_DEVICE constexpr Sample without_padding(Sample sample, int padding_bits) {
  if constexpr (std::is_integral_v<Sample>) {
    return static_cast<Sample>(sample >> padding_bits);
  } else {
    return sample;
  }
}
template <typename Sample>
LIMPID_HOST_DEVICE constexpr Sample with_padding(Sample sample, int padding_bits) {
  if constexpr (std::is_integral_v<Sample>) {
    return static_cast<Sample>(sample << padding_bits);
  } else {
    return sample;
  }
}

/// out = the samples of a plane in the device's memory, as a video decoder has left them
/// (Frame::memory): `from.sample_stride` samples apart, with `padding_bits` low bits that don't count, of
/// integer samples.
void unpack_plane(const FrameFormat& format, const Plane& from, int padding_bits, const SamplePlane& out,
                  cudaStream_t stream);

/// The reverse, for a video encoder: `to.sample_stride` samples apart, `padding_bits` low bits zero, of
/// integer samples. What lies between the samples is left as it is.
void pack_plane(const FrameFormat& format, const SamplePlane& from, int padding_bits, const Plane& to,
                cudaStream_t stream);

/// out = samples / format.code_value(); float samples are clamped to +-4096 code values, NaN becomes 0.
void load_plane(const FrameFormat& format, const SamplePlane& samples, const FloatPlane& out,
                cudaStream_t stream);

/// samples = in * format.code_value(), rounded to nearest (halves up) and clamped to the depth; floats are
/// not clamped.
void store_plane(const FrameFormat& format, const FloatPlane& in, const SamplePlane& samples,
                 cudaStream_t stream);

/// Copies the float samples of a plane that filters cannot use (is_usable_sample()) to `out`, the result for
/// `in`.
void pass_unusable_samples(const SamplePlane& in, const SamplePlane& out, int width, int height,
                           cudaStream_t stream);

/// R, G, B to the opponent channels of core/README.md and back, in place.
void rgb_to_opponent(const std::array<FloatPlane, 3>& planes, cudaStream_t stream);
void opponent_to_rgb(const std::array<FloatPlane, 3>& planes, cudaStream_t stream);

/// *greatest = the greatest of *greatest and the plane's |sample - offset|.
void measure_range(const FloatPlane& plane, float offset, float* greatest, cudaStream_t stream);

/// out = the mean of the samples of `in` that lie under each, 2^shift_x x 2^shift_y but at the borders.
void subsample(const FloatPlane& in, int shift_x, int shift_y, const FloatPlane& out, cudaStream_t stream);

}  // namespace limpid::cuda
