#pragma once

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

/// A segment of pictures of one size, without a cut. All that is said of pictures is by their numbers in it.
struct Segment {
  FrameFormat format;
  std::vector<std::vector<Picture>> planes;  // of each picture
  std::vector<std::vector<PlaneNoise>> noise;
  std::vector<BytePicture> guides;  // of motion
  // Of each picture, to the one before and to the one after it.
  std::vector<MotionField> back;
  std::vector<MotionField> ahead;
  // Whether those have nothing in common with it.
  std::vector<bool> cut_back;
  std::vector<bool> cut_ahead;

  int size() const { return static_cast<int>(planes.size()); }
};

/// A patch's places in pictures, in their order.
struct Trajectory {
  std::vector<std::pair<int, Position>> places;
  bool lost = false;  ///< it has ended where the patch was not found again
};

/// Where a patch is found beside a place, in quarters of a sample, and how unlike it is there.
struct Beside {
  int x = 0;
  int y = 0;
  std::int64_t distance = 0;
};

struct Sums {
  Picture numerator;
  Picture denominator;
};

/// What the steps of filters along motion share: how reference patches are followed, in double precision and
/// plain code. `parameters` must outlive it.
class StepAlongMotion {
 public:
  StepAlongMotion(const Segment& segment, const Vbm4dParameters& parameters, bool second);
  StepAlongMotion(const StepAlongMotion&) = delete;
  StepAlongMotion& operator=(const StepAlongMotion&) = delete;
  virtual ~StepAlongMotion() = default;

  /// The estimates of one plane of all pictures; `basic` are those of the first step.
  std::vector<Picture> run(std::size_t plane, const std::vector<std::vector<Picture>>& basic);

 protected:
  static constexpr int kPatchSide = 8;

  /// Adds a group's estimates to all pictures' sums.
  virtual void filter_group(int t, Position reference, const std::vector<std::vector<Picture>>& basic,
                            std::vector<Sums>& sums) = 0;

  /// Of the guides' patches.
  std::int64_t distance(int t, Position a, int u, Position b) const;
  bool is_inside(Position p) const;
  Position confined(int x, int y) const;
  /// A multiple of the variance of the guide's noise in picture t, as matching compares it.
  double variances(int t, double factor) const;
  bool guide_is_clean(int t) const;
  /// Of the patch, in code values.
  double brightness_in_guide(int t, Position reference) const;
  Trajectory follow(int t, Position reference) const;
  /// Where the reference patch is found beside `place` in picture u.
  Beside find_beside(int t, Position reference, int u, Position place) const;
  /// The weight of the sample `offset`, -2 to 3, behind another one for what lies so many quarters behind
  /// that, in 64ths.
  static int interpolation_weight(int quarters, int offset);
  /// Whether all samples are there that the patch is interpolated from.
  bool is_surrounded(Position place) const;
  /// Whether a patch is the other one again, noise and all. One of a single value has no noise.
  bool repeats(const std::pair<int, Position>& patch, const std::pair<int, Position>& other) const;
  /// The 2D DCT of a patch's samples in place, or back.
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

/// A whole stream: the results of all frames, context or not. Frames may begin anew. `noise`: a model for all
/// frames, or for each its own.
std::vector<Frame> denoise_along_motion(const std::vector<Frame>& frames, const Vbm4dParameters& parameters,
                                        const std::vector<NoiseModel>& noise, const MakeStep& make_step);

}  // namespace limpid::oracle
