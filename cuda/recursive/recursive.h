#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/recursive/recursive_parameters.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// The recursive filter. What it knows of the frames before is its own. What depends on the content of frames
/// is decided on the device (RecursionFlags).
class Recursive final : public FrameFilter {
 public:
  /// Throws UsageError for illegal parameters, Error for formats that don't make sense or if memory does not
  /// suffice.
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
  bool by_field_ = false;  ///< the last frame was
  std::vector<std::unique_ptr<Picture>> pictures_;
};

std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                               const FrameFormat& format);

}  // namespace limpid::cuda
