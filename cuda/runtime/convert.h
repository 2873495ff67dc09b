// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <type_traits>

#include "core/frame/frame.h"
#include "cuda/runtime/planes.h"

// Conversions between the samples of frames and filters' float planes. Each call enqueues one kernel, with
// one thread per sample. All are bound by memory.

namespace limpid::cuda {

/// A plane of a frame in device memory; row y begins `y * stride` bytes after `data`.
struct SamplePlane {
  std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;
};
using SamplePlanes = std::array<SamplePlane, kMaxPlanes>;

/// Both concern the unused low bits of a sample (Frame::padding_bits): the first removes them, the second
/// adds them. Floats have none.
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

/// out = the samples of a plane in device memory, in the layout of a video decoder (Frame::memory): samples
/// are `from.sample_stride` samples apart, and integers have `padding_bits` unused low bits.
void unpack_plane(const FrameFormat& format, const Plane& from, int padding_bits, const SamplePlane& out,
                  cudaStream_t stream);

/// The reverse of unpack_plane(), for a video encoder: samples are `to.sample_stride` samples apart, and
/// integers have `padding_bits` low bits that are zero. Memory between the samples is not changed.
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

/// Converts R, G, B to the opponent channels (docs/algorithms.md) and back, in place.
void rgb_to_opponent(const std::array<FloatPlane, 3>& planes, cudaStream_t stream);
void opponent_to_rgb(const std::array<FloatPlane, 3>& planes, cudaStream_t stream);

/// *greatest = the greatest of *greatest and the plane's |sample - offset|.
void measure_range(const FloatPlane& plane, float offset, float* greatest, cudaStream_t stream);

/// out = the means of the samples of `in` under each sample of `out`: 2^shift_x x 2^shift_y samples, fewer at
/// the borders.
void subsample(const FloatPlane& in, int shift_x, int shift_y, const FloatPlane& out, cudaStream_t stream);

}  // namespace limpid::cuda
