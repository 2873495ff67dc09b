// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/recursive/recursive_parameters.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// The recursive filter. It stores the data of earlier frames itself. Decisions that depend on the content of
/// frames are made on the device (RecursionFlags).
class Recursive final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory.
  Recursive(const RecursiveParameters& parameters, const FrameFormat& format);
  ~Recursive() override;

  Reach reach() const override { return reach_of(parameters_); }
  void enqueue_window(const FilterWindow& window, const SamplePlanes& out, cudaStream_t stream) override;
  void forget() override;
  bool estimates_means() const override { return true; }
  std::size_t memory() const override;

 private:
  class Picture;

  RecursiveParameters parameters_;
  bool by_field_ = false;  ///< true if the last frame was filtered by field
  std::vector<std::unique_ptr<Picture>> pictures_;
};

std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                               const FrameFormat& format);

}  // namespace limpid::cuda
