// SPDX-License-Identifier: MIT
#include "cuda/engine/mixed_filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/frame/mixed_states.h"
#include "cuda/engine/device_frame.h"
#include "cuda/runtime/mixing.h"

namespace limpid::cuda {
namespace {

class MixedFilter final : public FrameFilter {
 public:
  MixedFilter(std::unique_ptr<FrameFilter> first, std::unique_ptr<FrameFilter> second, FilterShares shares,
              const FrameFormat& format)
      : FrameFilter(format),
        first_(std::move(first)),
        second_(std::move(second)),
        shares_(std::move(shares)),
        of_second_(format) {
    warnings_ = first_->warnings();
  }

  Reach reach() const override { return greater(first_->reach(), second_->reach()); }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override {
    first_->enqueue_window(within(window, first_->reach(), &MixedStates::first), out, stream);
    const PlaneMixes shares = shares_(window.frames[window.current].noise);
    if (std::ranges::any_of(shares, [](float share) { return share > 0; })) {
      second_->enqueue_window(within(window, second_->reach(), &MixedStates::second), of_second_.planes(),
                              stream);
      mix_in(format_, of_second_.planes(), shares, out, stream);
    }
  }
  std::unique_ptr<FrameState> make_state() override {
    return std::make_unique<MixedStates>(first_->make_state(), second_->make_state());
  }
  void renew(FrameState& state) override {
    first_->renew(*MixedStates::of(state).first);
    second_->renew(*MixedStates::of(state).second);
  }
  bool estimates_means() const override { return first_->estimates_means(); }
  std::size_t memory() const override { return first_->memory() + second_->memory() + of_second_.bytes(); }

 private:
  std::unique_ptr<FrameFilter> first_;
  std::unique_ptr<FrameFilter> second_;
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
