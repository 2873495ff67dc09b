// SPDX-License-Identifier: MIT

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/recursive/recursive_parameters.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/recursive/recursive_kernels.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/runtime/planes.h"

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

/// The state of one component of a picture.
struct ComponentState {
  /// Level of the noise that `variances` are relative to; 0: the component is not filtered.
  float sigma = 0;
  PaddedPlane noisy;   ///< noisy samples of the last frame that was merged
  PaddedPlane merged;  ///< not shrunk
  PaddedPlane result;
  /// Variances of the noise in `merged`, relative to the noise of the frame, for cells of 8 x 8 samples.
  /// Samples beyond the last whole cell belong to the nearest cell.
  int columns = 0;
  int rows = 0;
  std::vector<float> variances;

  void resize(int width, int height);
  /// The variance at a position, interpolated between the centers of cells.
  float variance_at(float x, float y) const;
};

/// The state of a stream of frames, or of one of their fields.
struct RecursiveState {
  bool valid = false;
  std::array<ComponentState, 3> components;
  MotionPyramid reference;  ///< pyramid of the result's luma
};

/// The state of a component along the motion to the current frame.
struct WarpedState {
  PaddedPlane prior;             ///< the merged picture
  PaddedPlane pilot;             ///< the result
  std::vector<float> variances;  ///< variances of the blocks of luma
};

/// Motion from the current frame to the state, for the blocks of luma.
struct FollowedMotion {
  MotionField field;  ///< in whole samples
  std::vector<recursive::EighthVector> vectors;

  /// Adds fractions of a sample to the vectors of the field. `sigma`: noise level of luma.
  void refine(const MotionPyramid& reference, const MotionPyramid& current, float sigma);
};

/// Subsampling of a component relative to luma.
struct ComponentShifts {
  int x = 0;
  int y = 0;
};

/// Writes the state along motion, on the threads of the caller's arena. Writes the pilot only if
/// `with_pilot`.
void warp_state(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                bool with_pilot, WarpedState& warped);

/// True if `noisy` repeats the last merged frame, apart from changes by a codec.
bool repeats_frame(const ComponentState& state, const PaddedPlane& noisy, float repetition,
                   const std::optional<NoiseShape::Curve>& curve);

/// Factors of the noise variance for patches at (xs, y) of a component, by the brightness of `luma` at these
/// positions.
void noise_factors(const NoiseShape::Curve& curve, const PaddedPlane& luma, const ComponentShifts& shifts,
                   int y, std::span<const int> xs, std::span<float> factors);

namespace {

constexpr int kBlockSide = MotionField::kBlock;

void warp_block_row(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                    bool with_pilot, int row, WarpedState& warped) {
  const MotionField& field = motion.field;
  const int width = kBlockSide >> shifts.x;
  const int height = kBlockSide >> shifts.y;
  const int y = row * height;
  const int count = std::min(height, state.merged.height() - y);
  const int block_row = std::min(row, field.rows - 1);
  for (int column = 0; column * width < state.merged.width(); ++column) {
    const std::size_t block = static_cast<std::size_t>(block_row) * field.columns +
                              static_cast<std::size_t>(std::min(column, field.columns - 1));
    const recursive::EighthVector vector = {recursive::subsampled(motion.vectors[block].x, shifts.x),
                                            recursive::subsampled(motion.vectors[block].y, shifts.y)};
    const int x = column * width;
    warp_block(state.merged, vector, x, y, count, warped.prior);
    if (with_pilot) {
      warp_block(state.result, vector, x, y, count, warped.pilot);
    }
    if (row < field.rows && column < field.columns) {
      const auto center = [](int begin, int side, int eighths) {
        return static_cast<float>(begin) + 0.5F * static_cast<float>(side - 1) +
               static_cast<float>(eighths) / recursive::kEighths;
      };
      warped.variances[block] = state.variance_at(center(x, width, vector.x), center(y, height, vector.y));
    }
  }
}

}  // namespace

void ComponentState::resize(int width, int height) {
  for (PaddedPlane* plane : {&noisy, &merged, &result}) {
    plane->resize(width, height);
  }
  columns = width / recursive::kPatch;
  rows = height / recursive::kPatch;
}

float ComponentState::variance_at(float x, float y) const {
  constexpr float kCenter = 0.5F * (recursive::kPatch - 1);
  const auto place = [](float position, int count) {
    return std::clamp((position - kCenter) / recursive::kPatch, 0.0F, static_cast<float>(count - 1));
  };
  const float column = place(x, columns);
  const float row = place(y, rows);
  const int left = static_cast<int>(column);
  const int top = static_cast<int>(row);
  const float right_share = column - static_cast<float>(left);
  const float bottom_share = row - static_cast<float>(top);
  const auto on_row = [&](int r) {
    const float* cells = variances.data() + static_cast<std::ptrdiff_t>(std::min(r, rows - 1)) * columns;
    return cells[left] + right_share * (cells[std::min(left + 1, columns - 1)] - cells[left]);
  };
  const float upper = on_row(top);
  return upper + bottom_share * (on_row(top + 1) - upper);
}

void FollowedMotion::refine(const MotionPyramid& reference, const MotionPyramid& current, float sigma) {
  vectors.resize(field.vectors.size());
  const std::ptrdiff_t stride = reference.layout().levels[0].stride;
  const int gain = recursive::least_gain(sigma);
  for_each_index(field.rows, 4, [&](int row) {
    for (int column = 0; column < field.columns; ++column) {
      const std::size_t block = static_cast<std::size_t>(row) * field.columns + column;
      const MotionVector& whole = field.vectors[block];
      const std::ptrdiff_t first = (row * kBlockSide - recursive::kWindowMargin) * stride +
                                   column * kBlockSide - recursive::kWindowMargin;
      const recursive::EighthVector fraction = find_fraction(
          {current.samples(0) + first, reference.samples(0) + first + whole.y * stride + whole.x, stride},
          gain);
      vectors[block] = {recursive::kEighths * whole.x + fraction.x,
                        recursive::kEighths * whole.y + fraction.y};
    }
  });
}

void warp_state(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                bool with_pilot, WarpedState& warped) {
  warped.prior.resize(state.merged.width(), state.merged.height());
  warped.pilot.resize(state.merged.width(), state.merged.height());
  warped.variances.resize(motion.vectors.size());
  const int height = kBlockSide >> shifts.y;
  for_each_index((state.merged.height() + height - 1) / height, 4,
                 [&](int row) { warp_block_row(state, motion, shifts, with_pilot, row, warped); });
}

// A frame with new noise fails at its first block.
bool repeats_frame(const ComponentState& state, const PaddedPlane& noisy, float repetition,
                   const std::optional<NoiseShape::Curve>& curve) {
  const float deviation = state.sigma * (curve ? std::ranges::min(*curve) : 1);
  const float variance = deviation * deviation * (1 - repetition);
  int repeated = 0;
  int blocks = 0;
  for (int y = 0; y < noisy.height(); y += kBlockSide) {
    for (int x = 0; x < noisy.width(); x += kBlockSide) {
      const int width = std::min(kBlockSide, noisy.width() - x);
      const int height = std::min(kBlockSide, noisy.height() - y);
      const float difference = squared_difference(noisy.row(y) + x, noisy.pitch(), state.noisy.row(y) + x,
                                                  state.noisy.pitch(), width, height);
      const float unit = variance * static_cast<float>(width * height);
      if (difference > recursive::kRepeatLimit * unit) {
        return false;
      }
      repeated += difference <= recursive::kRepeatNear * unit ? 1 : 0;
      ++blocks;
    }
  }
  return static_cast<float>(repeated) >= recursive::kRepeatShare * static_cast<float>(blocks);
}

void noise_factors(const NoiseShape::Curve& curve, const PaddedPlane& luma, const ComponentShifts& shifts,
                   int y, std::span<const int> xs, std::span<float> factors) {
  const int top = y << shifts.y;
  const int bottom = std::min((y + recursive::kPatch) << shifts.y, luma.height());
  std::vector<float> columns(static_cast<std::size_t>(luma.width()), 0.0F);
  for (int row = top; row < bottom; ++row) {
    const float* samples = luma.row(row);
    for (int x = 0; x < luma.width(); ++x) {
      columns[x] += samples[x];
    }
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const int left = xs[i] << shifts.x;
    const int right = std::min((xs[i] + recursive::kPatch) << shifts.x, luma.width());
    float sum = 0;
    for (int x = left; x < right; ++x) {
      sum += columns[x];
    }
    const float deviation = deviation_at(curve, sum / static_cast<float>((right - left) * (bottom - top)));
    factors[i] = deviation * deviation;
  }
}

/// The patches along one axis of a plane: every `spacing` samples, and one that ends at the border.
class PatchGrid {
 public:
  /// Places the patches along an axis of `size` samples, which must be at least the size of a patch.
  void place(int size, int spacing);

  const std::vector<int>& positions() const { return positions_; }
  int count() const { return static_cast<int>(positions_.size()); }
  /// The reciprocals of the sums of the aggregation windows that cover each sample.
  const std::vector<float>& inverse_weights() const { return inverse_weights_; }

 private:
  int size_ = 0;
  int spacing_ = 0;
  std::vector<int> positions_;
  std::vector<float> inverse_weights_;
};

/// Runs one step over the patches of a plane, in bands of rows on the threads of the caller's arena. Results
/// do not depend on the number of threads. Keeps its working memory.
class PlaneMerger {
 public:
  /// Function that sets the variance of the state and the factor of the noise variance for each patch of row
  /// `y`.
  using PrepareRow =
      std::function<void(int y, std::span<const int> xs, std::span<float> states, std::span<float> factors)>;

  /// Places patches in a plane of this size, which must be at least the size of a patch.
  void place(int width, int height, int spacing);

  /// Writes the estimate and, unless it is null, the merged picture.
  void run(const PatchStep& step, const PrepareRow& prepare, PaddedPlane& estimate, PaddedPlane* merged);

  /// The share of patches of the last run that had no prior.
  float unknown_share() const;
  /// Means of the last run's gains over the patches whose centers are in each cell of 8 x 8 samples. Patches
  /// beyond the last whole cell count in the nearest cell.
  void average_gains(int columns, int rows, std::vector<float>& cells) const;

 private:
  // Rows of patches, and the rows of samples that they cover.
  struct Band {
    int first_row = 0;
    int last_row = 0;
    int top = 0;
    int bottom = 0;
  };
  struct Sums {
    AlignedVector<float> estimates;
    AlignedVector<float> weights;
    AlignedVector<float> merged;
    void resize(std::size_t size);
  };
  struct Scratch {
    Sums sums;
    std::vector<float> states;
    std::vector<float> factors;
  };
  // Where the results go.
  struct Target {
    PaddedPlane* estimate = nullptr;
    PaddedPlane* merged = nullptr;
  };

  void run_band(int number, const PatchStep& step, const PrepareRow& prepare, const Target& target);
  void join_bands(int number, const Target& target);
  void finish(int y, const Sums& sums, int row_of_sums, const Target& target) const;
  std::size_t offset(int row) const { return static_cast<std::size_t>(row) * pitch_; }

  int width_ = 0;
  int height_ = 0;
  std::size_t pitch_ = 0;
  PatchGrid columns_;
  PatchGrid rows_;
  std::vector<Band> bands_;
  std::vector<Sums> heads_;  // of the rows that a band shares with the one before it
  std::vector<Sums> tails_;  // and with the one after it
  std::vector<float> gains_;
  std::vector<unsigned char> unknown_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

namespace {

constexpr int kMergedBandRows = 32;  // their sums stay in a core's second-level cache

// Copies whole rows of sums.
void copy_rows(const AlignedVector<float>& from, std::size_t first, std::size_t count,
               AlignedVector<float>& to) {
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count, to.begin());
}

}  // namespace

void PatchGrid::place(int size, int spacing) {
  if (size == size_ && spacing == spacing_) {
    return;
  }
  size_ = size;
  spacing_ = spacing;
  positions_.clear();
  const int last = size - recursive::kPatch;
  for (int position = 0; position < last; position += spacing) {
    positions_.push_back(position);
  }
  positions_.push_back(last);

  const std::vector<double> window = kaiser_window(recursive::kPatch, double{recursive::kKaiserBeta});
  std::vector<double> sums(static_cast<std::size_t>(size));
  for (const int position : positions_) {
    for (int i = 0; i < recursive::kPatch; ++i) {
      // The window is the outer product of a line with itself.
      sums[position + i] += std::sqrt(window[i * recursive::kPatch + i]);
    }
  }
  inverse_weights_.resize(sums.size());
  std::transform(sums.begin(), sums.end(), inverse_weights_.begin(),
                 [](double sum) { return static_cast<float>(1 / sum); });
}

void PlaneMerger::Sums::resize(std::size_t size) {
  for (AlignedVector<float>* each : {&estimates, &weights, &merged}) {
    each->resize(size);
  }
}

void PlaneMerger::place(int width, int height, int spacing) {
  columns_.place(width, spacing);
  rows_.place(height, spacing);
  width_ = width;
  height_ = height;
  pitch_ = static_cast<std::size_t>(width + 15) / 16 * 16;
  bands_.clear();
  const std::vector<int>& ys = rows_.positions();
  for (int row = 0; row < rows_.count(); ++row) {
    if (bands_.empty() || ys[row] / kMergedBandRows != bands_.back().top / kMergedBandRows) {
      bands_.push_back({row, row, ys[row], 0});
    }
    bands_.back().last_row = row;
    bands_.back().bottom = ys[row] + recursive::kPatch;
  }
  for (std::vector<Sums>* all : {&heads_, &tails_}) {
    all->resize(bands_.size());
    for (Sums& sums : *all) {
      sums.resize(offset(recursive::kPatch));
    }
  }
  gains_.resize(static_cast<std::size_t>(rows_.count()) * columns_.count());
  unknown_.resize(gains_.size());
}

void PlaneMerger::run(const PatchStep& step, const PrepareRow& prepare, PaddedPlane& estimate,
                      PaddedPlane* merged) {
  const Target target = {&estimate, merged};
  const int count = static_cast<int>(bands_.size());
  for_each_index(count, 1, [&](int band) { run_band(band, step, prepare, target); });
  for_each_index(count - 1, 1, [&](int band) { join_bands(band + 1, target); });
}

void PlaneMerger::run_band(int number, const PatchStep& step, const PrepareRow& prepare,
                           const Target& target) {
  const Band& band = bands_[number];
  Scratch& scratch = scratch_.local();
  Sums& sums = scratch.sums;
  const std::size_t size = offset(kMergedBandRows + recursive::kPatch);
  sums.resize(size);
  scratch.states.resize(static_cast<std::size_t>(columns_.count()));
  scratch.factors.resize(scratch.states.size());
  std::fill_n(sums.estimates.begin(), size, 0.0F);
  std::fill_n(sums.weights.begin(), size, 0.0F);
  if (target.merged != nullptr) {
    std::fill_n(sums.merged.begin(), size, 0.0F);
  }
  for (int row = band.first_row; row <= band.last_row; ++row) {
    const int y = rows_.positions()[row];
    prepare(y, columns_.positions(), scratch.states, scratch.factors);
    const std::size_t first = static_cast<std::size_t>(row) * columns_.count();
    const std::size_t begin = offset(y - band.top);
    filter_patch_row(step,
                     {y,
                      columns_.positions(),
                      scratch.states,
                      scratch.factors,
                      {gains_.data() + first, scratch.states.size()},
                      {unknown_.data() + first, scratch.states.size()}},
                     {sums.estimates.data() + begin, sums.weights.data() + begin,
                      target.merged != nullptr ? sums.merged.data() + begin : nullptr,
                      static_cast<std::ptrdiff_t>(pitch_)});
  }

  const bool is_last = static_cast<std::size_t>(number) + 1 == bands_.size();
  const int own_top = number == 0 ? band.top : bands_[number - 1].bottom;
  const int own_bottom = is_last ? band.bottom : bands_[number + 1].top;
  for (int y = own_top; y < own_bottom; ++y) {
    finish(y, sums, y - band.top, target);
  }
  const auto keep = [&](int top, int bottom, Sums& kept) {
    const std::size_t first = offset(top - band.top);
    const std::size_t length = offset(bottom - top);
    copy_rows(sums.estimates, first, length, kept.estimates);
    copy_rows(sums.weights, first, length, kept.weights);
    copy_rows(sums.merged, first, length, kept.merged);
  };
  keep(band.top, own_top, heads_[number]);
  keep(own_bottom, band.bottom, tails_[number]);
}

void PlaneMerger::join_bands(int number, const Target& target) {
  const int top = bands_[number].top;
  const int bottom = bands_[number - 1].bottom;
  Sums& head = heads_[number];
  const Sums& tail = tails_[number - 1];
  const auto add = [&](AlignedVector<float>& to, const AlignedVector<float>& other) {
    for (std::size_t i = 0; i < offset(bottom - top); ++i) {
      to[i] += other[i];
    }
  };
  add(head.estimates, tail.estimates);
  add(head.weights, tail.weights);
  add(head.merged, tail.merged);
  for (int y = top; y < bottom; ++y) {
    finish(y, head, y - top, target);
  }
}

void PlaneMerger::finish(int y, const Sums& sums, int row_of_sums, const Target& target) const {
  const std::size_t first = offset(row_of_sums);
  divide_row(sums.estimates.data() + first, sums.weights.data() + first, width_, target.estimate->row(y));
  target.estimate->pad_row(y);
  if (target.merged != nullptr) {
    multiply_row(sums.merged.data() + first, columns_.inverse_weights().data(), rows_.inverse_weights()[y],
                 width_, target.merged->row(y));
    target.merged->pad_row(y);
  }
}

float PlaneMerger::unknown_share() const {
  const int unknown = std::accumulate(unknown_.begin(), unknown_.end(), 0);
  return static_cast<float>(unknown) / static_cast<float>(unknown_.size());
}

void PlaneMerger::average_gains(int columns, int rows, std::vector<float>& cells) const {
  const auto cell_of = [](int position, int count) {
    return std::min((position + recursive::kPatch / 2) / recursive::kPatch, count - 1);
  };
  cells.assign(static_cast<std::size_t>(columns) * rows, 0.0F);
  std::vector<int> counts(cells.size());
  for (int row = 0; row < rows_.count(); ++row) {
    const int first = cell_of(rows_.positions()[row], rows) * columns;
    for (int column = 0; column < columns_.count(); ++column) {
      const int cell = first + cell_of(columns_.positions()[column], columns);
      cells[cell] += gains_[static_cast<std::size_t>(row) * columns_.count() + column];
      ++counts[cell];
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] /= static_cast<float>(counts[i]);
  }
}

namespace {

using Planes = std::array<Plane, kMaxPlanes>;

// The filter's components, planes and noise follow from BM3D's plan for patches of the same size.
Bm3dParameters planned_like() {
  Bm3dParameters parameters;
  parameters.hard_threshold.patch_size = recursive::kPatch;
  parameters.hard_threshold.transform_2d = Transform2d::kDct;
  parameters.wiener.reset();
  return parameters;
}

// values(row, column) in the order of a vector kernel.
template <typename Values>
PatchValues patch_values(const Values& values) {
  constexpr int kSide = recursive::kPatch;
  PatchValues result{};
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < 2 * kSide; ++column) {
      result[row * 2 * kSide + column] = static_cast<float>(values(row, column % kSide));
    }
  }
  return result;
}

PatchStep patch_step(const Bm3dComponent& component, float lambda) {
  PatchStep step;
  const float threshold = coefficient_threshold(lambda, 1);
  step.threshold = threshold * threshold;
  // Coefficients are transposed.
  const auto variance = [&](int row, int column) {
    return component.sigma * component.sigma *
           component.coefficient_variances[0][column * recursive::kPatch + row];
  };
  step.variances = patch_values(variance);
  step.inverse_variances = patch_values([&](int row, int column) { return 1 / variance(row, column); });
  const std::vector<double> window = kaiser_window(recursive::kPatch, double{recursive::kKaiserBeta});
  step.window = patch_values([&](int row, int column) { return window[row * recursive::kPatch + column]; });
  return step;
}

}  // namespace

// One picture of each frame: the frame itself, or one of its fields.
class RecursiveFilter::Picture {
 public:
  Picture(const RecursiveParameters& parameters, const FrameFormat& format)
      : parameters_(parameters), format_(format) {}

  void filter(const Planes& in, const NoiseModel& noise, const PlaneHeights& heights, const Planes& out);
  void forget() { state_.valid = false; }

 private:
  // Working memory of a component, beside its state.
  struct Component {
    PaddedPlane noisy;
    PaddedPlane first_estimate;
    WarpedState warped;
    PatchStep step;
    std::array<PlaneMerger, 2> mergers;  // of each step
  };

  bool is_filtered(int c) const { return plan_->components[c].sigma > 0; }
  int component_count() const { return format_.color_plane_count(); }
  ComponentShifts shifts_of(int c) const;
  void prepare(const NoiseModel& noise, const PlaneHeights& heights);
  void adapt_state();
  void load(const Planes& in);
  bool is_repeat() const;
  void merge();
  void search(const PaddedPlane& luma, bool with_pilot);
  void run_step(int c, bool second, bool has_prior);
  void store(const Planes& out);
  void build_pyramid(const PaddedPlane& luma, MotionPyramid& pyramid);

  RecursiveParameters parameters_;
  FrameFormat format_;
  std::optional<Bm3dPlan> plan_;
  RecursiveState state_;
  std::array<Component, 3> components_;
  MotionPyramid current_;
  MotionEstimator estimator_;
  FollowedMotion motion_;
  AlignedVector<std::uint8_t> bytes_;
};

void RecursiveFilter::Picture::filter(const Planes& in, const NoiseModel& noise, const PlaneHeights& heights,
                                      const Planes& out) {
  prepare(noise, heights);
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (plan_->copied[p]) {
      copy_plane(format_, in[p], out[p]);
    }
  }
  if (plan_->sets.empty()) {
    state_.valid = false;
    return;
  }
  adapt_state();
  load(in);
  if (!is_repeat()) {
    merge();
  }
  store(out);
}

ComponentShifts RecursiveFilter::Picture::shifts_of(int c) const {
  return c == 0 || format_.color_model != ColorModel::kYuv
             ? ComponentShifts{}
             : ComponentShifts{format_.chroma_shift_x, format_.chroma_shift_y};
}

void RecursiveFilter::Picture::prepare(const NoiseModel& noise, const PlaneHeights& heights) {
  if (plan_ && plan_->noise == noise && plan_->heights == heights) {
    return;
  }
  plan_ = make_plan(planned_like(), format_, noise, heights);
  for (int c = 0; c < component_count(); ++c) {
    Component& component = components_[c];
    const Bm3dComponent& planned = plan_->components[c];
    component.noisy.resize(planned.width, planned.height);
    if (!is_filtered(c)) {
      continue;
    }
    component.first_estimate.resize(planned.width, planned.height);
    component.step = patch_step(planned, parameters_.lambda);
    component.mergers[0].place(planned.width, planned.height, parameters_.spacing);
    component.mergers[1].place(planned.width, planned.height, parameters_.second_spacing);
  }
}

// Variances are relative to the noise, so a new noise level rescales them. If components or sizes differ, the
// state is dropped.
void RecursiveFilter::Picture::adapt_state() {
  for (int c = 0; c < component_count(); ++c) {
    const Bm3dComponent& planned = plan_->components[c];
    ComponentState& state = state_.components[c];
    if ((state.sigma > 0) != is_filtered(c) || state.noisy.width() != planned.width ||
        state.noisy.height() != planned.height) {
      state_.valid = false;
      state.resize(planned.width, planned.height);
    } else if (state.sigma != planned.sigma) {
      const float factor = state.sigma / planned.sigma;
      std::ranges::for_each(state.variances, [&](float& variance) { variance *= factor * factor; });
    }
    state.sigma = planned.sigma;
  }
}

void RecursiveFilter::Picture::load(const Planes& in) {
  for (int c = 0; c < component_count(); ++c) {
    PaddedPlane& noisy = components_[c].noisy;
    for_each_row(noisy.height(),
                 [&](int y) { load_row(format_, in[c].row<std::byte>(y), noisy.width(), noisy.row(y)); });
  }
  if (plan_->opponent) {
    for_each_row(components_[0].noisy.height(), [&](int y) {
      rgb_to_opponent_row(components_[0].noisy.row(y), components_[1].noisy.row(y),
                          components_[2].noisy.row(y), components_[0].noisy.width());
    });
  }
}

bool RecursiveFilter::Picture::is_repeat() const {
  if (!state_.valid) {
    return false;
  }
  for (int c = 0; c < component_count(); ++c) {
    const Bm3dComponent& planned = plan_->components[c];
    if (is_filtered(c) &&
        !repeats_frame(state_.components[c], components_[c].noisy, planned.repetition, planned.curve)) {
      return false;
    }
  }
  return true;
}

void RecursiveFilter::Picture::merge() {
  const auto for_each_filtered = [&](const auto& function) {
    for (int c = 0; c < component_count(); ++c) {
      if (is_filtered(c)) {
        function(c);
      }
    }
  };
  bool has_prior = state_.valid;
  if (has_prior) {
    search(components_[0].noisy, true);
  }
  bool is_first_component = true;
  for_each_filtered([&](int c) {
    run_step(c, false, has_prior);
    if (std::exchange(is_first_component, false) && has_prior &&
        components_[c].mergers[0].unknown_share() > recursive::kMostUnknown) {
      has_prior = false;
      run_step(c, false, false);
    }
  });
  if (has_prior && parameters_.motion_searches == 2 && is_filtered(0)) {
    search(components_[0].first_estimate, false);
  }
  for_each_filtered([&](int c) {
    run_step(c, true, has_prior);
    ComponentState& state = state_.components[c];
    components_[c].mergers[1].average_gains(state.columns, state.rows, state.variances);
    std::swap(state.noisy, components_[c].noisy);
  });
  build_pyramid(is_filtered(0) ? state_.components[0].result : components_[0].noisy, state_.reference);
  state_.valid = true;
}

// Finds the motion of a picture of luma, and follows it.
void RecursiveFilter::Picture::search(const PaddedPlane& luma, bool with_pilot) {
  build_pyramid(luma, current_);
  estimator_.estimate(state_.reference, current_, motion_.field);
  motion_.refine(state_.reference, current_, plan_->components[0].sigma);
  for (int c = 0; c < component_count(); ++c) {
    if (is_filtered(c)) {
      warp_state(state_.components[c], motion_, shifts_of(c), with_pilot, components_[c].warped);
    }
  }
}

void RecursiveFilter::Picture::run_step(int c, bool second, bool has_prior) {
  Component& component = components_[c];
  ComponentState& state = state_.components[c];
  const Bm3dComponent& planned = plan_->components[c];
  const ComponentShifts shifts = shifts_of(c);
  PatchStep& step = component.step;
  step.second = second;
  step.has_prior = has_prior;
  step.noisy = &component.noisy;
  step.prior = &component.warped.prior;
  step.pilot = second ? &component.first_estimate : &component.warped.pilot;
  const PaddedPlane& luma = second && is_filtered(0) ? components_[0].first_estimate : components_[0].noisy;
  const auto prepare = [&](int y, std::span<const int> xs, std::span<float> states,
                           std::span<float> factors) {
    std::ranges::fill(factors, 1.0F);
    if (planned.curve) {
      noise_factors(*planned.curve, luma, shifts, y, xs, factors);
    }
    for (std::size_t i = 0; has_prior && i < xs.size(); ++i) {
      const auto center = [](int begin, int shift) { return (begin + recursive::kPatch / 2) << shift; };
      states[i] =
          component.warped.variances[motion_.field.block_at(center(xs[i], shifts.x), center(y, shifts.y))] +
          recursive::kAddedVariance;
    }
  };
  component.mergers[second ? 1 : 0].run(step, prepare, second ? state.result : component.first_estimate,
                                        second ? &state.merged : nullptr);
}

void RecursiveFilter::Picture::store(const Planes& out) {
  const auto row_of = [&](int c, int y) {
    return is_filtered(c) ? state_.components[c].result.row(y) : components_[c].noisy.row(y);
  };
  const auto store_plane_row = [&](int c, int y, const float* row) {
    if (!plan_->copied[c]) {
      store_row(format_, row, components_[c].noisy.width(), out[c].row<std::byte>(y));
    }
  };
  if (!plan_->opponent) {
    for (int c = 0; c < component_count(); ++c) {
      for_each_row(components_[c].noisy.height(), [&](int y) { store_plane_row(c, y, row_of(c, y)); });
    }
    return;
  }
  // The state keeps the components.
  for_each_row(components_[0].noisy.height(), [&](int y) {
    std::array<std::vector<float>, 3> rows;
    for (int c = 0; c < 3; ++c) {
      rows[c].assign(row_of(c, y), row_of(c, y) + components_[0].noisy.width());
    }
    opponent_to_rgb_row(rows[0].data(), rows[1].data(), rows[2].data(), components_[0].noisy.width());
    for (int c = 0; c < 3; ++c) {
      store_plane_row(c, y, rows[c].data());
    }
  });
}

void RecursiveFilter::Picture::build_pyramid(const PaddedPlane& luma, MotionPyramid& pyramid) {
  const FrameFormat format = {.width = luma.width(), .height = luma.height()};
  bytes_.resize(static_cast<std::size_t>(luma.width()) * luma.height());
  const Plane plane = {reinterpret_cast<std::byte*>(bytes_.data()), luma.width(), luma.width(),
                       luma.height()};
  for_each_row(luma.height(),
               [&](int y) { store_row(format, luma.row(y), luma.width(), plane.row<std::byte>(y)); });
  pyramid.build(format, {plane});
}

RecursiveFilter::RecursiveFilter(const RecursiveParameters& parameters, const FrameFormat& format)
    : parameters_(parameters), format_(format) {
  parameters.validate();
  format.validate("frame");
  for (int i = 0; i < 2; ++i) {
    pictures_.push_back(std::make_unique<Picture>(parameters, format));
  }
}

RecursiveFilter::~RecursiveFilter() = default;

void RecursiveFilter::filter_window(const FilterWindow& window, Frame& out) {
  const FilteredFrame& current = window.frames[window.current];
  const Frame& in = *current.frame;
  if (in.begins_anew || in.interlaced != by_field_) {
    forget();
  }
  by_field_ = in.interlaced;
  const std::span<const PictureRows> pictures = pictures_of(in.interlaced);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures_[i]->filter(picture_of(format_, in.planes, pictures[i]), current.noise,
                         plane_heights(format_, pictures[i]), picture_of(format_, out.planes, pictures[i]));
  }
}

void RecursiveFilter::forget() {
  for (const std::unique_ptr<Picture>& picture : pictures_) {
    picture->forget();
  }
}

std::vector<std::string> RecursiveFilter::warnings() const {
  return warnings_of_small_planes(planned_like(), format_);
}

std::unique_ptr<FrameFilter> make_frame_filter(const RecursiveParameters& parameters,
                                               const FrameFormat& format) {
  return std::make_unique<RecursiveFilter>(parameters, format);
}

}  // namespace limpid::cpu
