// SPDX-License-Identifier: MIT

#include <memory>
#include <span>
#include <variant>

#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/noise/noise_model.h"
#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/frame_filter.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/runtime.h"

namespace limpid::cuda {

/// The edge-preserving filters, plane by plane.
class EdgePreserving final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory.
  EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format);

  std::size_t memory() const override;

 private:
  void filter_picture(const SamplePlanes& in, const SamplePlanes& out, const PlaneHeights& heights,
                      const NoiseModel& noise, cudaStream_t stream) override;
  void filter_plane(const BilateralParameters& parameters, float sigma, const SamplePlane& in,
                    const SamplePlane& out, cudaStream_t stream);
  void filter_plane(const AdaptiveBilateralParameters& parameters, float sigma, const SamplePlane& in,
                    const SamplePlane& out, cudaStream_t stream);
  void run_passes(std::span<const BilateralPass> passes, const AdaptiveBilateralWeights& weights,
                  const SamplePlane& in, const SamplePlane& out, cudaStream_t stream);
  /// Filters a plane by one of the two filters that compare patches.
  template <typename Parameters>
  void filter_plane(const Parameters& parameters, float sigma, const SamplePlane& in, const SamplePlane& out,
                    cudaStream_t stream);

  EdgePreservingFilter filter_;
  // Working planes of the size of the largest plane; `width` and `height` describe the current plane.
  FloatPlane noisy_plane_;
  FloatPlane result_plane_;
  DeviceMemory noisy_;
  DeviceMemory result_;
  DeviceMemory values_;
};

std::span<const BilateralVariant> bilateral_variants() {
  static constexpr BilateralVariant kTable[] = {
      {{"series", can_filter_by_series, bilateral_series, series_pays}, true},
      {{"halves", can_filter_halves, bilateral_halves}, true},
      {{"bytes", can_filter_bytes, bilateral_bytes}, true},
      {{"any", can_do_any<BilateralJob>, bilateral_any}, false}};
  return kTable;
}

std::span<const NlmVariant> nlm_variants() {
  static constexpr NlmVariant kTable[] = {{"fast", can_average_fast, nlm_fast},
                                          {"any", can_do_any<NlmJob>, nlm_any}};
  return kTable;
}

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
  const BilateralPass passes[] = {BilateralPass::kMean};
  run_passes(passes, {make_weights(parameters, sigma), 0, 0}, in, out, stream);
}

void EdgePreserving::filter_plane(const AdaptiveBilateralParameters& parameters, float sigma,
                                  const SamplePlane& in, const SamplePlane& out, cudaStream_t stream) {
  const BilateralPass passes[] = {BilateralPass::kVariance, BilateralPass::kAdapted};
  run_passes(passes, make_weights(parameters, sigma), in, out, stream);
}

void EdgePreserving::run_passes(std::span<const BilateralPass> passes,
                                const AdaptiveBilateralWeights& weights, const SamplePlane& in,
                                const SamplePlane& out, cudaStream_t stream) {
  BilateralJob job;
  job.weights = weights;
  // The variance shares the result's memory: the thread that writes a result reads its variance.
  job.variance = result_plane_;
  job.width = noisy_plane_.width;
  job.height = noisy_plane_.height;
  job.bytes = format_.sample_type == SampleType::kUint8;
  job.in = in;
  job.out = out;
  job.noisy = noisy_plane_;
  job.result = result_plane_;
  bool loaded = false;
  for (const BilateralPass pass : passes) {
    job.pass = pass;
    const BilateralVariant& variant = choose(bilateral_variants(), job, device_limits());
    if (!variant.takes_bytes && !loaded) {
      load_plane(format_, in, noisy_plane_, stream);
      loaded = true;
    }
    variant.run(job, stream);
    if (!variant.takes_bytes && pass != BilateralPass::kVariance) {
      store_plane(format_, result_plane_, out, stream);
    }
  }
}

template <typename Parameters>
void EdgePreserving::filter_plane(const Parameters& parameters, float sigma, const SamplePlane& in,
                                  const SamplePlane& out, cudaStream_t stream) {
  const bool exact = !format_.is_float() && format_.bit_depth <= 10;
  const PatchPlane plane{noisy_plane_, values_.as<std::int16_t>(), patch_scale(format_), exact};
  const PatchWeights weights =
      make_weights(parameters, sigma, plane.scale, noisy_plane_.width, noisy_plane_.height);
  const NlmJob job{weights, plane, result_plane_};
  load_plane(format_, in, noisy_plane_, stream);
  prepare_patches(plane, stream);
  choose(nlm_variants(), job, device_limits()).run(job, stream);
  store_plane(format_, result_plane_, out, stream);
}

std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& filter,
                                               const FrameFormat& format) {
  return std::make_unique<EdgePreserving>(filter, format);
}

}  // namespace limpid::cuda
