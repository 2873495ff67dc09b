// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/frame/frame.h"
#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/motion.h"
#include "tests/oracle/transforms.h"

namespace limpid::oracle {

/// A segment of pictures of one size, without a cut. Pictures are identified by their numbers in it.
struct Segment {
  FrameFormat format;
  std::vector<std::vector<Picture>> planes;  // of each picture
  std::vector<std::vector<PlaneNoise>> noise;
  std::vector<BytePicture> guides;  // for motion
  // For each picture, to the one before and to the one after it.
  std::vector<MotionField> back;
  std::vector<MotionField> ahead;
  // True if the two pictures have nothing in common.
  std::vector<bool> cut_back;
  std::vector<bool> cut_ahead;

  // Scales of the guides' values, at luma's and at chroma's size.
  std::vector<std::array<int, 2>> guide_scales;

  int size() const { return static_cast<int>(planes.size()); }
};

/// Positions of a patch in pictures, in their order.
struct Trajectory {
  std::vector<std::pair<int, Position>> places;
  bool lost = false;  ///< it ended because the patch was not found
};

/// The displacement of a patch from a position, in quarters of a sample, and its distance there.
struct Beside {
  int x = 0;
  int y = 0;
  std::int64_t distance = 0;
};

struct Sums {
  Picture numerator;
  Picture denominator;
};

/// The common part of the steps of filters along motion: how reference patches are followed, in double
/// precision and plain code. `parameters` must outlive it.
class StepAlongMotion {
 public:
  StepAlongMotion(const Segment& segment, const Vbm4dParameters& parameters, bool second);
  StepAlongMotion(const StepAlongMotion&) = delete;
  StepAlongMotion& operator=(const StepAlongMotion&) = delete;
  virtual ~StepAlongMotion() = default;

  /// The estimates of one plane of all pictures; `basic` are the first step's.
  std::vector<Picture> run(std::size_t plane, const std::vector<std::vector<Picture>>& basic);

 protected:
  static constexpr int kPatchSide = 8;

  /// Adds a group's estimates to all pictures' sums.
  virtual void filter_group(int t, Position reference, const std::vector<std::vector<Picture>>& basic,
                            std::vector<Sums>& sums) = 0;

  /// Distance of the guides' patches.
  std::int64_t distance(int t, Position a, int u, Position b) const;
  bool is_inside(Position p) const;
  Position confined(int x, int y) const;
  /// A multiple of the variance of the guide's noise in picture t, in units of matching.
  double variances(int t, double factor) const;
  bool guide_is_clean(int t) const;
  /// Brightness of the patch, in code values.
  double brightness_in_guide(int t, Position reference) const;
  Trajectory follow(int t, Position reference) const;
  /// The displacement of the reference patch from `place` in picture u.
  Beside find_beside(int t, Position reference, int u, Position place) const;
  /// The weight, in 64ths, of the sample at `offset`, -2 to 3, for a position the given quarters after sample
  /// 0.
  static int interpolation_weight(int quarters, int offset);
  /// True if all samples for the patch's interpolation exist.
  bool is_surrounded(Position place) const;
  /// True if a patch repeats the other one including its noise. A patch of a single value has no noise.
  bool repeats(const std::pair<int, Position>& patch, const std::pair<int, Position>& other) const;
  /// The 2D DCT of a patch's samples in place, or its inverse.
  void transform_patch(double* samples, bool forward) const;
  /// The variances of the noise's coefficients in picture t.
  const std::vector<double>& coefficient_variances(int t) const { return coefficient_variances_[t]; }

  const Segment& segment_;
  const Vbm4dParameters& parameters_;
  TemporalSpan span_;
  bool second_;
  Vbm4dStep step_;
  std::vector<double> window_;
  std::size_t plane_ = 0;
  int shift_x_ = 0;
  int shift_y_ = 0;
  int width_ = 0;
  int height_ = 0;
  std::vector<std::vector<std::int64_t>> guides_;
  std::vector<std::vector<std::int64_t>> noisy_guides_;  // the first step's

 private:
  // Of each picture.
  std::vector<double> guide_variances_;  // of the guide's noise
  std::vector<std::vector<double>> coefficient_variances_;
  Matrix dct_ = make_transform(Transform2d::kDct, kPatchSide).forward;
};

using MakeStep = std::function<std::unique_ptr<StepAlongMotion>(
    const Segment& segment, const Vbm4dParameters& parameters, bool second)>;

/// A whole stream: the results of all frames, including context. `begins_anew` is honored. `noise`: one model
/// for all frames, or one per frame.
std::vector<Frame> denoise_along_motion(const std::vector<Frame>& frames, const Vbm4dParameters& parameters,
                                        const std::vector<NoiseModel>& noise, const MakeStep& make_step);

}  // namespace limpid::oracle
