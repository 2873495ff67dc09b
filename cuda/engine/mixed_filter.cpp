// SPDX-License-Identifier: MIT
#include "cuda/engine/mixed_filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/frame/reach.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/runtime/mixing.h"

namespace limpid::cuda {
namespace {

class MixedFilter final : public FrameFilter {
 public:
  MixedFilter(std::unique_ptr<FrameFilter> first, std::unique_ptr<FrameFilter> second, FilterShares shares,
              const FrameFormat& format)
      : FrameFilter(format),
        pair_{std::move(first), std::move(second)},
        shares_(std::move(shares)),
        of_second_(format) {
    warnings_ = pair_.first->warnings();
  }

  Reach reach() const override { return pair_.reach(); }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override {
    pair_.first->enqueue_window(within(window, pair_.first->reach(), &MixedStates::first), out, stream);
    const PlaneMixes shares = shares_(window.frames[window.current].noise);
    if (std::ranges::any_of(shares, [](float share) { return share > 0; })) {
      pair_.second->enqueue_window(within(window, pair_.second->reach(), &MixedStates::second),
                                   of_second_.planes(), stream);
      mix_in(format_, of_second_.planes(), shares, out, stream);
    }
  }
  std::unique_ptr<FrameState> make_state() override { return pair_.make_state(); }
  void renew(FrameState& state) override { pair_.renew(state); }
  bool estimates_means() const override { return pair_.first->estimates_means(); }
  std::size_t memory() const override {
    return pair_.first->memory() + pair_.second->memory() + of_second_.bytes();
  }

 private:
  FilterPair<FrameFilter> pair_;
  FilterShares shares_;
  DeviceFrame of_second_;
};

}  // namespace

std::unique_ptr<FrameFilter> mix_filters(std::unique_ptr<FrameFilter> first,
                                         std::unique_ptr<FrameFilter> second, FilterShares shares,
                                         const FrameFormat& format) {
  return std::make_unique<MixedFilter>(std::move(first), std::move(second), std::move(shares), format);
}

}  // namespace limpid::cuda
