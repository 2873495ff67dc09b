#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cpu/runtime/frame_filter.h"
#include "core/vbm4d/vbm4d_parameters.h"

namespace limpid::cpu {

/// V-BM4D on the CPU (core/README.md).
///
/// Each picture passes through the same stages, each once: its samples, guides and motion are made when it
/// comes; its groups of the first step when the pictures that they reach are there; its basic estimate when
/// all groups are done that reach it; and so on. What is made of it is kept with it until no later group can
/// reach it.
class Vbm4d final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, Error for formats that don't make sense.
  Vbm4d(const Vbm4dParameters& parameters, const FrameFormat& format);
  Vbm4d(const Vbm4d&) = delete;
  Vbm4d& operator=(const Vbm4d&) = delete;
  ~Vbm4d() override;

  Reach reach() const override;
  void filter_window(const FilterWindow& window, Frame& out) override;
  std::unique_ptr<FrameState> make_state() override;
  void renew(FrameState& state) override;
  bool is_done(const FrameState& state) const override;
  std::vector<std::string> warnings() const override;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
