// SPDX-License-Identifier: MIT
#include "cpu/runtime/mixed_filter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/frame/mixed_states.h"
#include "cpu/runtime/mixing.h"

namespace limpid::cpu {
namespace {

class MixedFilter final : public FrameFilter {
 public:
  MixedFilter(std::unique_ptr<FrameFilter> first, std::unique_ptr<FrameFilter> second, FilterShares shares,
              const FrameFormat& format)
      : first_(std::move(first)),
        second_(std::move(second)),
        shares_(std::move(shares)),
        of_second_(allocate_frame(format)) {}

  Reach reach() const override { return greater(first_->reach(), second_->reach()); }
  void filter_window(const FilterWindow& window, Frame& out) override {
    first_->filter_window(within(window, first_->reach(), &MixedStates::first), out);
    const PlaneMixes shares = shares_(window.frames[window.current].noise);
    if (std::ranges::any_of(shares, [](float share) { return share > 0; })) {
      second_->filter_window(within(window, second_->reach(), &MixedStates::second), of_second_);
      mix_in(of_second_, shares, out);
    }
  }
  std::unique_ptr<FrameState> make_state() override {
    return std::make_unique<MixedStates>(first_->make_state(), second_->make_state());
  }
  void renew(FrameState& state) override {
    first_->renew(*MixedStates::of(state).first);
    second_->renew(*MixedStates::of(state).second);
  }
  bool is_done(const FrameState& state) const override {
    return first_->is_done(*MixedStates::of(state).first) && second_->is_done(*MixedStates::of(state).second);
  }
  bool estimates_means() const override { return first_->estimates_means(); }
  std::vector<std::string> warnings() const override { return first_->warnings(); }

 private:
  std::unique_ptr<FrameFilter> first_;
  std::unique_ptr<FrameFilter> second_;
  FilterShares shares_;
  Frame of_second_;
};

}  // namespace

std::unique_ptr<FrameFilter> mix_filters(std::unique_ptr<FrameFilter> first,
                                         std::unique_ptr<FrameFilter> second, FilterShares shares,
                                         const FrameFormat& format) {
  return std::make_unique<MixedFilter>(std::move(first), std::move(second), std::move(shares), format);
}

}  // namespace limpid::cpu
