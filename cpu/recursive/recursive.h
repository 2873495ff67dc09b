// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/recursive/recursive_parameters.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// The recursive filter of whole frames. Keeps the state of the stream.
class RecursiveFilter final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats.
  RecursiveFilter(const RecursiveParameters& parameters, const FrameFormat& format);
  ~RecursiveFilter() override;

  Reach reach() const override { return reach_of(parameters_); }
  void filter_window(const FilterWindow& window, Frame& out) override;
  void forget() override;
  bool estimates_means() const override { return true; }
  std::vector<std::string> warnings() const override;

 private:
  class Picture;

  RecursiveParameters parameters_;
  FrameFormat format_;
  bool by_field_ = false;  ///< true if the last frame was filtered by field
  std::vector<std::unique_ptr<Picture>> pictures_;
};

inline std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                                      const FrameFormat& format) {
  return std::make_unique<RecursiveFilter>(parameters, format);
}

}  // namespace limpid::cpu
