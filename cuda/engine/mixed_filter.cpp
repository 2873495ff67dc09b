// SPDX-License-Identifier: MIT
#include "cuda/engine/mixed_filter.h"

#include <cstddef>
#include <utility>

#include "core/frame/reach.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/runtime/mixing.h"

namespace limpid::cuda {
namespace {

class MixedFilter final : public FrameFilter {
 public:
  // `format`: of the frames; `mixed`: mixed_format().
  MixedFilter(const Vbm4dParameters& parameters, const FrameFormat& format, const FrameFormat& mixed)
      : FrameFilter(mixed),
        pair_{make_frame_filter(mixed_vbm4d(parameters), format),
              make_frame_filter(mixed_vnlb(parameters), mixed)},
        parameters_(parameters),
        of_second_(mixed),
        of_first_(mixed),
        of_before_(mixed) {
    warnings_ = pair_.first->warnings();
  }

  Reach reach() const override { return pair_.reach(); }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override {
    pair_.run_first(window, [&](const FilterWindow& of_first) {
      pair_.first->enqueue_window(of_first, out, stream);
      std::swap(of_first_, of_before_);
      for (int p = 0; p < format_.color_plane_count(); ++p) {
        const SamplePlane& kept = of_first_.planes()[p];
        check(cudaMemcpy2DAsync(kept.data, kept.stride, out[p].data, out[p].stride,
                                static_cast<std::size_t>(format_.plane_width(p)) * format_.bytes_per_sample(),
                                format_.plane_height(p), cudaMemcpyDeviceToDevice, stream));
      }
    });
    const float share = vnlb_share(parameters_, window.frames[window.current].noise);
    if (window.current > 0 && share > 0) {
      pair_.second->enqueue_window(within(window, pair_.second->reach(), &MixedStates::second),
                                   of_second_.planes(), stream);
      mix_results(format_, of_first_.planes(), of_before_.planes(), of_second_.planes(), share, out, stream);
    }
  }
  std::unique_ptr<FrameState> make_state() override { return pair_.make_state(); }
  void renew(FrameState& state) override { pair_.renew(state); }
  bool estimates_means() const override { return pair_.first->estimates_means(); }
  std::size_t memory() const override {
    return pair_.first->memory() + pair_.second->memory() + 3 * of_second_.bytes();
  }

 private:
  FilterPair<FrameFilter> pair_;
  Vbm4dParameters parameters_;
  // Planes of mixed_format(): results of both filters, and of the first one for the frame before.
  DeviceFrame of_second_;
  DeviceFrame of_first_;
  DeviceFrame of_before_;
};

}  // namespace

std::unique_ptr<FrameFilter> make_mixed_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  parameters.validate();
  return std::make_unique<MixedFilter>(parameters, format, mixed_format(format));
}

}  // namespace limpid::cuda
