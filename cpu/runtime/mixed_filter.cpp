// SPDX-License-Identifier: MIT
#include "cpu/runtime/mixed_filter.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/frame/reach.h"

namespace limpid::cpu {
namespace {

class MixedFilter final : public FrameFilter {
 public:
  MixedFilter(std::unique_ptr<FrameFilter> first, std::unique_ptr<FrameFilter> second, FilterShares shares,
              const FrameFormat& format)
      : pair_{std::move(first), std::move(second)},
        shares_(std::move(shares)),
        of_second_(allocate_frame(format)) {}

  Reach reach() const override { return pair_.reach(); }
  void filter_window(const FilterWindow& window, Frame& out) override {
    pair_.first->filter_window(within(window, pair_.first->reach(), &MixedStates::first), out);
    const PlaneMixes shares = shares_(window.frames[window.current].noise);
    if (std::ranges::any_of(shares, [](float share) { return share > 0; })) {
      pair_.second->filter_window(within(window, pair_.second->reach(), &MixedStates::second), of_second_);
      mix_in(of_second_, shares, out);
    }
  }
  std::unique_ptr<FrameState> make_state() override { return pair_.make_state(); }
  void renew(FrameState& state) override { pair_.renew(state); }
  bool is_done(const FrameState& state) const override {
    return pair_.first->is_done(*MixedStates::of(state).first) &&
           pair_.second->is_done(*MixedStates::of(state).second);
  }
  bool estimates_means() const override { return pair_.first->estimates_means(); }
  std::vector<std::string> warnings() const override { return pair_.first->warnings(); }

 private:
  FilterPair<FrameFilter> pair_;
  FilterShares shares_;
  Frame of_second_;
};

}  // namespace

void mix_in(const Frame& noisy, const PlaneMixes& mixes, Frame& out) {
  constexpr int kRowsOfTask = 32;
  for (int p = 0; p < out.format.color_plane_count(); ++p) {
    const float mix = mixes[p];
    if (mix == 0) {
      continue;
    }
    const Plane& from = noisy.planes[p];
    const Plane& to = out.planes[p];
    for_each_index(to.height, kRowsOfTask, [&](int y) {
      visit_samples(out.format, [&]<typename Sample>(Sample) {
        const auto* const in = from.row<const Sample>(y);
        auto* const estimate = to.row<Sample>(y);
        for (int x = 0; x < to.width; ++x) {
          estimate[x] = mixed(in[x], estimate[x], mix);
        }
      });
    });
  }
}

void pass_outside(const Frame& noisy, const Region& area, Frame& out) {
  const auto bytes = std::ptrdiff_t{out.format.bytes_per_sample()};
  for (int p = 0; p < out.format.color_plane_count(); ++p) {
    const Plane& from = noisy.planes[p];
    const Plane& to = out.planes[p];
    for (const Region& part : parts_outside(area, out.format, p)) {
      for (int y = part.y; y < part.y + part.height; ++y) {
        std::memcpy(to.data + y * to.stride + part.x * bytes, from.data + y * from.stride + part.x * bytes,
                    static_cast<std::size_t>(part.width * bytes));
      }
    }
  }
}

std::unique_ptr<FrameFilter> mix_filters(std::unique_ptr<FrameFilter> first,
                                         std::unique_ptr<FrameFilter> second, FilterShares shares,
                                         const FrameFormat& format) {
  return std::make_unique<MixedFilter>(std::move(first), std::move(second), std::move(shares), format);
}

}  // namespace limpid::cpu
