// SPDX-License-Identifier: MIT
#include "cpu/engine/mixed_filter.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/frame/mixing.h"
#include "core/frame/reach.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cpu/runtime/convert.h"

namespace limpid::cpu {
namespace {

class MixedFilter final : public FrameFilter {
 public:
  // `format`: of the frames; `mixed`: mixed_format().
  MixedFilter(const Vbm4dParameters& parameters, const FrameFormat& format, const FrameFormat& mixed)
      : pair_{make_frame_filter(mixed_vbm4d(parameters), format),
              make_frame_filter(mixed_vnlb(parameters), mixed)},
        parameters_(parameters),
        of_second_(allocate_frame(mixed)),
        of_first_(allocate_frame(mixed)),
        of_before_(allocate_frame(mixed)) {}

  Reach reach() const override { return pair_.reach(); }
  void filter_window(const FilterWindow& window, Frame& out) override {
    pair_.run_first(window, [&](const FilterWindow& of_first) {
      pair_.first->filter_window(of_first, out);
      std::swap(of_first_, of_before_);
      for (int p = 0; p < of_first_.format.color_plane_count(); ++p) {
        copy_plane(out.format, out.planes[p], of_first_.planes[p]);
      }
    });
    const float share = vnlb_share(parameters_, window.frames[window.current].noise);
    if (window.current > 0 && share > 0) {
      pair_.second->filter_window(within(window, pair_.second->reach(), &MixedStates::second), of_second_);
      for (int p = 0; p < of_first_.format.color_plane_count(); ++p) {
        visit_samples(out.format, [&]<typename Sample>(Sample) { mix<Sample>(p, share, out.planes[p]); });
      }
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
  // Mixes both results into plane p of `out`.
  template <typename Sample>
  void mix(int p, float greatest, const Plane& out) const {
    const auto samples = [&](const Frame& frame) { return frame.planes[p].row<const Sample>(0); };
    constexpr std::ptrdiff_t kBytes = sizeof(Sample);
    const MixedPlanes<Sample> planes{samples(of_first_),
                                     samples(of_before_),
                                     samples(of_second_),
                                     of_first_.planes[p].stride / kBytes,
                                     out.width,
                                     out.height,
                                     static_cast<float>(16 / of_first_.format.code_value())};
    for_each_index(mixed_blocks(out.height), 1, [&](int row) {
      for (int column = 0; column < mixed_blocks(out.width); ++column) {
        mix_block(planes, column, row, greatest, out.row<Sample>(0), out.stride / kBytes);
      }
    });
  }

  FilterPair<FrameFilter> pair_;
  Vbm4dParameters parameters_;
  // Planes of mixed_format(): results of both filters, and of the first one for the frame before.
  Frame of_second_;
  Frame of_first_;
  Frame of_before_;
};

}  // namespace

std::unique_ptr<FrameFilter> make_mixed_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  parameters.validate();
  return std::make_unique<MixedFilter>(parameters, format, mixed_format(format));
}

}  // namespace limpid::cpu
