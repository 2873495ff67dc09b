#include "cuda/edge_preserving/edge_preserving.h"

#include <variant>

#include "core/edge_preserving/edge_preserving.h"
#include "cuda/edge_preserving/bilateral.h"
#include "cuda/edge_preserving/nlm.h"

namespace limpid::cuda {
namespace {

void filter_8_bit(const BilateralJob& job, const SamplePlane& in, int width, int height,
                  const SamplePlane& out, cudaStream_t stream) {
  const bool series = can_filter_by_series(job) && series_is_faster(job, width, height);
  (series ? bilateral_series : bilateral_bytes)(job, in, width, height, out, stream);
}

}  // namespace

EdgePreserving::EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format)
    : SpatialFilter(format), filter_(filter) {
  std::visit([](const auto& parameters) { parameters.validate(); }, filter);
  const std::size_t samples = static_cast<std::size_t>(plane_pitch(format.width)) * format.height;
  noisy_ = DeviceMemory(samples * sizeof(float));
  result_ = DeviceMemory(samples * sizeof(float));
  if (std::holds_alternative<NlmParameters>(filter) ||
      std::holds_alternative<NlmBilateralParameters>(filter)) {
    values_ = DeviceMemory(samples * sizeof(std::int16_t));
  }
}

std::size_t EdgePreserving::memory() const { return noisy_.bytes() + result_.bytes() + values_.bytes(); }

void EdgePreserving::filter_picture(const SamplePlanes& in, const SamplePlanes& out,
                                    const PlaneHeights& heights, const NoiseModel& noise,
                                    cudaStream_t stream) {
  for (int p = 0; p < format_.plane_count(); ++p) {
    const float sigma = p < format_.color_plane_count() ? noise.sigma[p] : 0;
    if (sigma == 0 || heights[p] == 0) {
      copy_plane(p, in[p], out[p], heights[p], stream);
      continue;
    }
    const int width = format_.plane_width(p);
    noisy_plane_ = {noisy_.as<float>(), width, heights[p], plane_pitch(width)};
    result_plane_ = {result_.as<float>(), width, heights[p], plane_pitch(width)};
    std::visit([&](const auto& parameters) { filter_plane(parameters, sigma, in[p], out[p], stream); },
               filter_);
  }
}

void EdgePreserving::filter_plane(const BilateralParameters& parameters, float sigma, const SamplePlane& in,
                                  const SamplePlane& out, cudaStream_t stream) {
  const BilateralJob job{BilateralPass::kMean, {make_weights(parameters, sigma), 0, 0}, {}};
  if (format_.sample_type == SampleType::kUint8 && can_filter_bytes(job)) {
    filter_8_bit(job, in, noisy_plane_.width, noisy_plane_.height, out, stream);
    return;
  }
  load_plane(format_, in, noisy_plane_, stream);
  bilateral_any(job, noisy_plane_, result_plane_, stream);
  store_plane(format_, result_plane_, out, stream);
}

void EdgePreserving::filter_plane(const AdaptiveBilateralParameters& parameters, float sigma,
                                  const SamplePlane& in, const SamplePlane& out, cudaStream_t stream) {
  // The variance is read where the result goes, by the thread that writes it.
  const BilateralJob gather{BilateralPass::kVariance, make_weights(parameters, sigma), result_plane_};
  BilateralJob filter = gather;
  filter.pass = BilateralPass::kAdapted;
  const bool bytes = format_.sample_type == SampleType::kUint8;
  const bool gather_bytes = bytes && can_filter_bytes(gather);
  const bool filter_bytes = bytes && can_filter_bytes(filter);
  if (!gather_bytes || !filter_bytes) {
    load_plane(format_, in, noisy_plane_, stream);
  }
  if (gather_bytes) {
    filter_8_bit(gather, in, noisy_plane_.width, noisy_plane_.height, {}, stream);
  } else {
    bilateral_any(gather, noisy_plane_, {}, stream);
  }
  if (filter_bytes) {
    filter_8_bit(filter, in, noisy_plane_.width, noisy_plane_.height, out, stream);
    return;
  }
  bilateral_any(filter, noisy_plane_, result_plane_, stream);
  store_plane(format_, result_plane_, out, stream);
}

template <typename Parameters>
void EdgePreserving::filter_plane(const Parameters& parameters, float sigma, const SamplePlane& in,
                                  const SamplePlane& out, cudaStream_t stream) {
  const bool exact = format_.sample_type != SampleType::kFloat32 && format_.bit_depth <= 10;
  const PatchPlane plane{noisy_plane_, values_.as<std::int16_t>(), patch_scale(format_), exact};
  const PatchWeights weights =
      make_weights(parameters, sigma, plane.scale, noisy_plane_.width, noisy_plane_.height);
  load_plane(format_, in, noisy_plane_, stream);
  prepare_patches(plane, stream);
  if (can_average_fast(weights, plane)) {
    nlm_fast(weights, plane, result_plane_, stream);
  } else {
    nlm_any(weights, plane, result_plane_, stream);
  }
  store_plane(format_, result_plane_, out, stream);
}

}  // namespace limpid::cuda
