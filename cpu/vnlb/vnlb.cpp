// SPDX-License-Identifier: MIT
#include "cpu/vnlb/vnlb.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "cpu/vbm4d/along_motion.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vnlb/vnlb.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/bm3d/transforms-inl.h"
#include "cpu/vbm4d/followed_patches-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Matrices are row-major. Rows have `pitch` values, a multiple of kMatrixAlignment, on 64-byte boundaries.
// Values after a matrix's last column, and rows up to a multiple of 4, are 0.
using MatrixTag = hn::CappedTag<float, 16>;
using MatrixVector = hn::Vec<MatrixTag>;
constexpr int kMatrixLanes = static_cast<int>(hn::MaxLanes(MatrixTag()));
constexpr int kMatrixAlignment = 16;
constexpr int kRowsAtATime = 4;
constexpr int kVectorsAtATime = 3;

constexpr int rows_of(int size) { return (size + kRowsAtATime - 1) / kRowsAtATime * kRowsAtATime; }

// The value of a product's left factor for a row of the product and a row of the right factor.
struct LeftFactor {
  const float* values = nullptr;
  std::ptrdiff_t along_rows = 0;
  std::ptrdiff_t along_sum = 0;
};

// Computes kRowsAtATime rows of a product, kVectors vectors of each, from `column` on.
template <int kVectors>
HWY_INLINE void multiply_block(const LeftFactor& left, const float* HWY_RESTRICT right, int count, int pitch,
                               int row, int column, float* HWY_RESTRICT out) {
  const MatrixTag d;
  MatrixVector sums[kRowsAtATime][kVectors];
  for (auto& of_row : sums) {
    for (MatrixVector& sum : of_row) {
      sum = hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT a = left.values + row * left.along_rows;
  const float* HWY_RESTRICT b = right + column;
  for (int k = 0; k < count; ++k) {
    MatrixVector values[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      values[v] = hn::Load(d, b + v * kMatrixLanes);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < kRowsAtATime; ++r) {
      const auto factor = hn::Set(d, a[r * left.along_rows]);
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, values[v], sums[r][v]);
      }
    }
    a += left.along_sum;
    b += pitch;
  }
  for (int r = 0; r < kRowsAtATime; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sums[r][v], d,
                out + static_cast<std::ptrdiff_t>(row + r) * pitch + column + v * kMatrixLanes);
    }
  }
}

// out = left * right with `rows` rows, summed over `count` rows of `right`. All have one pitch. If the
// product is symmetric, most values left of its diagonal are not computed.
HWY_ATTR void multiply(const LeftFactor& left, const float* right, int rows, int count, int pitch,
                       bool symmetric, float* out) {
  for (int row = 0; row < rows; row += kRowsAtATime) {
    int column = symmetric ? row / kMatrixLanes * kMatrixLanes : 0;
    for (; column + kVectorsAtATime * kMatrixLanes <= pitch; column += kVectorsAtATime * kMatrixLanes) {
      multiply_block<kVectorsAtATime>(left, right, count, pitch, row, column, out);
    }
    if (pitch - column == 2 * kMatrixLanes) {
      multiply_block<2>(left, right, count, pitch, row, column, out);
    } else if (pitch - column == kMatrixLanes) {
      multiply_block<1>(left, right, count, pitch, row, column, out);
    }
  }
}

// The product of the transpose of a matrix with `count` rows and the matrix itself, times `scale`.
HWY_ATTR void multiply_by_itself(const float* matrix, int count, int size, int pitch, float scale,
                                 float* HWY_RESTRICT out) {
  multiply({matrix, 1, pitch}, matrix, size, count, pitch, true, out);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < row; ++column) {
      out[row * pitch + column] = out[column * pitch + row];
    }
  }
  const MatrixTag d;
  for (int i = 0; i < size * pitch; i += kMatrixLanes) {
    hn::Store(hn::Mul(hn::Load(d, out + i), hn::Set(d, scale)), d, out + i);
  }
}

// Inverts a symmetric positive definite matrix in place (Gauss-Jordan elimination; such a matrix needs no
// pivots other than its diagonal).
HWY_ATTR void invert(float* matrix, int size, int pitch) {
  const MatrixTag d;
  for (int k = 0; k < size; ++k) {
    float* HWY_RESTRICT pivot_row = matrix + static_cast<std::ptrdiff_t>(k) * pitch;
    const auto reciprocal = hn::Set(d, 1 / pivot_row[k]);
    pivot_row[k] = 1;
    for (int column = 0; column < pitch; column += kMatrixLanes) {
      hn::Store(hn::Mul(hn::Load(d, pivot_row + column), reciprocal), d, pivot_row + column);
    }
    for (int i = 0; i < size; ++i) {
      if (i == k) {
        continue;
      }
      float* HWY_RESTRICT row = matrix + static_cast<std::ptrdiff_t>(i) * pitch;
      const auto factor = hn::Set(d, row[k]);
      row[k] = 0;
      for (int column = 0; column < pitch; column += kMatrixLanes) {
        hn::Store(hn::NegMulAdd(factor, hn::Load(d, pivot_row + column), hn::Load(d, row + column)), d,
                  row + column);
      }
    }
  }
}

// a I + b M with `size` columns; may replace M.
HWY_ATTR void combine(float a, float b, const float* matrix, int size, int pitch, float* out) {
  const MatrixTag d;
  const auto factor = hn::Set(d, b);
  for (int i = 0; i < rows_of(size) * pitch; i += kMatrixLanes) {
    hn::Store(hn::Mul(factor, hn::Load(d, matrix + i)), d, out + i);
  }
  for (int i = 0; i < size; ++i) {
    out[i * pitch + i] += a;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Groups

// True if the second slice of a patch can be in the picture in that direction.
template <bool kNoisySamples>
HWY_ATTR bool has_second_slice(const TrajectoryJob& job, const PlaceInTime& patch, int direction) {
  const PlaceInTime second = {patch.picture + direction, patch.place};
  if (second.picture < 0 || second.picture >= static_cast<int>(job.pictures.size())) {
    return false;
  }
  const FollowedPicture& picture = job.pictures[patch.picture];
  const MotionField& field = direction < 0 ? *picture.back : *picture.ahead;
  const MotionVector& vector = field.vectors[vbm4d::predicting_block(
      patch.place.x, patch.place.y, job.shift_x, job.shift_y, field.columns, field.rows)];
  return vector != vbm4d::kNowhere && !repeats<kNoisySamples>(job, second, patch);
}

// The candidates' distances from the reference patch.
template <bool kSamples>
HWY_ATTR void compare_candidates(const TrajectoryJob& job, Position reference, const PatchGroup& group,
                                 PatchGroupScratch& scratch) {
  std::array<GuidePatch, vnlb::kSlices> slices;
  for (int s = 0; s < group.slices; ++s) {
    slices[s] = load_guide_patch<kSamples>(job.pictures[job.current + s * group.direction].guide, reference);
  }
  scratch.keys.clear();
  for (std::size_t i = 0; i < scratch.candidates.size(); ++i) {
    const PatchGroupScratch::Candidate& candidate = scratch.candidates[i];
    std::uint64_t distance = 0;
    for (int s = 0; s < group.slices; ++s) {
      distance += static_cast<std::uint64_t>(patch_distance<kSamples>(
          job.pictures[candidate.picture + s * group.direction].guide, slices[s], candidate.place));
    }
    scratch.keys.push_back(distance << 32 | i);
  }
}

template <bool kSamples, bool kNoisySamples>
HWY_ATTR void find_group_in(const TrajectoryJob& job, const PatchSearch& search, Position reference,
                            PatchGroupScratch& scratch, PatchGroup& group) {
  TrajectoryGroup trajectory;
  follow_both_ways_in<kSamples, kNoisySamples>(job, reference, trajectory);
  group.reference = reference;
  group.direction = 0;
  for (const int direction : {1, -1}) {
    if (group.direction == 0 && has_second_slice<kNoisySamples>(job, {job.current, reference}, direction)) {
      group.direction = direction;
    }
  }
  group.slices = group.direction == 0 ? 1 : vnlb::kSlices;
  scratch.candidates.clear();
  scratch.candidates.push_back({reference, job.current});
  const int own_window = vnlb::own_search_window(search.step.search_window, trajectory.frames);
  for (int f = 0; f < trajectory.frames; ++f) {
    const std::int8_t picture = trajectory.pictures[f];
    const Position center = trajectory.places[f];
    const bool own = picture == job.current;
    if (picture < job.current - search.before || picture > job.current + search.after ||
        (!own && group.direction != 0 &&
         !has_second_slice<kNoisySamples>(job, {picture, center}, group.direction))) {
      continue;
    }
    const int radius = (own ? own_window : search.step.temporal_search_window) / 2;
    const int last_x = std::min(center.x + radius, job.width - vnlb::kPatch);
    const int last_y = std::min(center.y + radius, job.height - vnlb::kPatch);
    for (int y = std::max(center.y - radius, 0); y <= last_y; ++y) {
      for (int x = std::max(center.x - radius, 0); x <= last_x; ++x) {
        if (!own || x != reference.x || y != reference.y) {
          scratch.candidates.push_back({{x, y}, picture});
        }
      }
    }
  }
  compare_candidates<kSamples>(job, reference, group, scratch);
  group.patches =
      static_cast<int>(std::min(scratch.candidates.size(), static_cast<std::size_t>(search.step.group_size)));
  scratch.sorted_keys = scratch.keys;
  const auto last = scratch.sorted_keys.begin() + group.patches - 1;
  std::nth_element(scratch.sorted_keys.begin(), last, scratch.sorted_keys.end());
  int count = 0;
  for (std::size_t i = 0; i < scratch.keys.size(); ++i) {
    if (scratch.keys[i] <= *last) {
      group.places[count] = scratch.candidates[i].place;
      group.pictures[count] = static_cast<std::int8_t>(scratch.candidates[i].picture);
      ++count;
    }
  }
}

HWY_ATTR void find_group(const TrajectoryJob& job, const PatchSearch& search, Position reference,
                         PatchGroupScratch& scratch, PatchGroup& group) {
  if (job.guide_is_samples) {
    find_group_in<true, true>(job, search, reference, scratch, group);
  } else if (job.noisy_guide_is_samples) {
    find_group_in<false, true>(job, search, reference, scratch, group);
  } else {
    find_group_in<false, false>(job, search, reference, scratch, group);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Filtering. A group's samples are a matrix with a row for each position in the patches and a column for each
// patch.

constexpr int kMostSamples = vnlb::kSlices * vnlb::kPatch * vnlb::kPatch;
constexpr int kSliceSamples = vnlb::kPatch * vnlb::kPatch;
// Size of the greatest matrices.
constexpr std::size_t kGroupValues = std::size_t{kMostSamples} * vnlb::kMostPatches;
constexpr std::size_t kSquareValues = std::size_t{vnlb::kMostPatches} * vnlb::kMostPatches;

using SliceTag = hn::CappedTag<float, vnlb::kPatch>;
constexpr int kSliceLanes = static_cast<int>(hn::MaxLanes(SliceTag()));

template <typename Sample>
HWY_ATTR void load_slice(const std::byte* from, std::ptrdiff_t stride, const PatchSamples& kept,
                         float* HWY_RESTRICT to) {
  for (int y = 0; y < vnlb::kPatch; ++y) {
    const auto* const row = reinterpret_cast<const Sample*>(from + y * stride);
    for (int x = 0; x < vnlb::kPatch; ++x) {
      to[y * vnlb::kPatch + x] = kept.zero + kept.unit * static_cast<float>(row[x]);
    }
  }
}

HWY_ATTR void load_slice(const std::byte* from, std::ptrdiff_t stride, const PatchSamples& kept, float* to) {
  switch (kept.type) {
    case PatchSamples::Type::kUint8:
      return load_slice<std::uint8_t>(from, stride, {.type = kept.type}, to);
    case PatchSamples::Type::kUint16:
      return load_slice<std::uint16_t>(from, stride, kept, to);
    case PatchSamples::Type::kInt16:
      return load_slice<std::int16_t>(from, stride, kept, to);
    case PatchSamples::Type::kFloat:
      return load_slice<float>(from, stride, {.type = kept.type}, to);
  }
}

// The matrices of a group in memory.
struct GroupMatrices {
  explicit GroupMatrices(PatchGroupScratch& scratch, int patches)
      : pitch((patches + kMatrixAlignment - 1) / kMatrixAlignment * kMatrixAlignment) {
    constexpr std::size_t kAll = 3 * kGroupValues + 4 * kSquareValues;
    if (scratch.values.size() < kAll) {
      scratch.values.resize(kAll);
    }
    noisy = scratch.values.data();
    basic = noisy + kGroupValues;
    patch_rows = basic + kGroupValues;
    square = patch_rows + kGroupValues;
    sign = square + kSquareValues;
    other = sign + kSquareValues;
    product = other + kSquareValues;
  }

  int pitch;
  float* noisy;       // replaced by the estimates
  float* basic;       // replaced by those of the first step
  float* patch_rows;  // a row for each patch
  float* square;
  float* sign;
  float* other;
  float* product;
};

// Fills a matrix with the group's samples minus their means over the patches. Returns the mean of all.
HWY_ATTR float load_group(const TrajectoryJob& job, int plane, const PatchGroup& group, bool of_basic,
                          const GroupMatrices& at, float* HWY_RESTRICT matrix, float* HWY_RESTRICT means) {
  const PatchSamples& kept = of_basic ? job.basic : job.noisy;
  const int samples = group.samples();
  for (int i = 0; i < group.patches; ++i) {
    for (int s = 0; s < group.slices; ++s) {
      const FollowedPicture::Plane& its_plane = job.pictures[group.picture_of(i, s)].planes[plane];
      const PictureSamples& from = of_basic ? its_plane.basic : its_plane.noisy;
      load_slice(from.data + group.places[i].y * from.stride + group.places[i].x * kept.bytes(), from.stride,
                 kept, at.patch_rows + i * samples + s * kSliceSamples);
    }
  }
  const MatrixTag d;
  float total = 0;
  for (int k = 0; k < samples; ++k) {
    float* HWY_RESTRICT row = matrix + static_cast<std::ptrdiff_t>(k) * at.pitch;
    std::fill_n(row + at.pitch - kMatrixAlignment, kMatrixAlignment, 0.0F);
    for (int i = 0; i < group.patches; ++i) {
      row[i] = at.patch_rows[i * samples + k];
    }
    auto sum = hn::Zero(d);
    for (int i = 0; i < at.pitch; i += kMatrixLanes) {
      sum = hn::Add(sum, hn::Load(d, row + i));
    }
    means[k] = hn::GetLane(hn::SumOfLanes(d, sum)) / static_cast<float>(group.patches);
    total += means[k];
    const auto mean = hn::Set(d, means[k]);
    for (int i = 0; i < at.pitch; i += kMatrixLanes) {
      const auto is_patch =
          hn::FirstN(d, static_cast<std::size_t>(std::clamp(group.patches - i, 0, kMatrixLanes)));
      hn::Store(hn::IfThenElseZero(is_patch, hn::Sub(hn::Load(d, row + i), mean)), d, row + i);
    }
  }
  return total / static_cast<float>(samples);
}

// Scales a plane's noise to white noise of variance 1: the standard deviations of the coefficients of slices,
// [8 v + u], or the one of all samples.
struct Whitening {
  bool in_2d = false;
  std::array<float, kSliceSamples> deviations{};
};

Whitening whitening_of(const CoefficientNoise& noise) {
  Whitening whitening;
  for (int v = 0; v < vnlb::kPatch; ++v) {
    for (int u = 0; u < vnlb::kPatch; ++u) {
      const float variance = noise.variances[u * vnlb::kPatch + v];
      whitening.in_2d = whitening.in_2d || variance != 1;
      whitening.deviations[v * vnlb::kPatch + u] = noise.sigma * std::sqrt(variance);
    }
  }
  return whitening;
}

// The 2D transform of all slices, or its inverse.
template <bool kForward>
HWY_ATTR void transform_slices(float* matrix, int slices, int pitch) {
  const FloatTag d;
  const auto in_1d = [&](float* first, std::ptrdiff_t spacing) HWY_ATTR {
    FloatVector x[vnlb::kPatch];
    for (int i = 0; i < vnlb::kPatch; ++i) {
      x[i] = hn::Load(d, first + i * spacing);
    }
    if constexpr (kForward) {
      Dct8::forward(x);
    } else {
      Dct8::inverse(x);
    }
    for (int i = 0; i < vnlb::kPatch; ++i) {
      hn::Store(x[i], d, first + i * spacing);
    }
  };
  for (int s = 0; s < slices; ++s) {
    float* const slice = matrix + static_cast<std::ptrdiff_t>(s) * kSliceSamples * pitch;
    for (int column = 0; column < pitch; column += kLanes) {
      for (int i = 0; i < vnlb::kPatch; ++i) {
        in_1d(slice + static_cast<std::ptrdiff_t>(i) * vnlb::kPatch * pitch + column, pitch);
      }
      for (int i = 0; i < vnlb::kPatch; ++i) {
        in_1d(slice + static_cast<std::ptrdiff_t>(i) * pitch + column, std::ptrdiff_t{vnlb::kPatch} * pitch);
      }
    }
  }
}

// Multiplies or divides the rows of a matrix by the coefficients' standard deviations and by the one for the
// group's brightness.
template <bool kDivide>
HWY_ATTR void scale_rows(const Whitening& whitening, float deviation, float* matrix, int samples, int pitch) {
  const MatrixTag d;
  for (int k = 0; k < samples; ++k) {
    const float its_deviation = whitening.deviations[k % kSliceSamples] * deviation;
    const auto factor = hn::Set(d, kDivide ? 1 / its_deviation : its_deviation);
    float* const row = matrix + static_cast<std::ptrdiff_t>(k) * pitch;
    for (int i = 0; i < pitch; i += kMatrixLanes) {
      hn::Store(hn::Mul(hn::Load(d, row + i), factor), d, row + i);
    }
  }
}

HWY_ATTR void whiten(const Whitening& whitening, float deviation, float* matrix, int slices, int pitch) {
  if (whitening.in_2d) {
    transform_slices<true>(matrix, slices, pitch);
  }
  scale_rows<true>(whitening, deviation, matrix, slices * kSliceSamples, pitch);
}

HWY_ATTR void color_again(const Whitening& whitening, float deviation, float* matrix, int slices, int pitch) {
  scale_rows<false>(whitening, deviation, matrix, slices * kSliceSamples, pitch);
  if (whitening.in_2d) {
    transform_slices<false>(matrix, slices, pitch);
  }
}

// The matrices H and F of core/vnlb/vnlb_parameters.h; the first step uses F alone.
struct FilterMatrices {
  const float* kept;
  const float* filter;
};

// The matrices for at.square, which is overwritten.
HWY_ATTR FilterMatrices filter_eigenvalues(const GroupMatrices& at, int size,
                                           const vnlb::EigenvalueFilter& filter) {
  const int pitch = at.pitch;
  const auto product = [&](const float* left, const float* right, float* out) HWY_ATTR {
    multiply({left, pitch, 1}, right, rows_of(size), size, pitch, false, out);
  };
  float* const inverse = at.square;
  for (int i = 0; i < size; ++i) {
    inverse[i * pitch + i] += filter.bound;
  }
  invert(inverse, size, pitch);
  float* sign = at.sign;
  float* other = at.other;
  combine(1, -2 * filter.bound, inverse, size, pitch, sign);
  for (int round = 0; round < filter.rounds; ++round) {
    product(sign, sign, at.product);
    combine(1.5F, -0.5F, at.product, size, pitch, at.product);
    product(sign, at.product, other);
    std::swap(sign, other);
  }
  combine(0.5F, 0.5F, sign, size, pitch, sign);
  product(sign, inverse, other);
  // P and P R.
  const MatrixTag d;
  const auto bound = hn::Set(d, filter.bound);
  const auto constant = hn::Set(d, filter.constant);
  const auto by_inverse = hn::Set(d, filter.inverse);
  for (int i = 0; i < rows_of(size) * pitch; i += kMatrixLanes) {
    const auto projection = hn::Load(d, sign + i);
    const auto inverted = hn::Load(d, other + i);
    hn::Store(hn::NegMulAdd(bound, inverted, projection), d, sign + i);
    hn::Store(hn::MulAdd(by_inverse, inverted, hn::Mul(constant, projection)), d, other + i);
  }
  return {sign, other};
}

// filter_eigenvalues() for the products of a group's patches, in the columns of `matrix`.
HWY_ATTR FilterMatrices make_filter(const GroupMatrices& at, const float* matrix, int samples, int patches,
                                    bool second_step) {
  multiply_by_itself(matrix, samples, patches, at.pitch, 1 / static_cast<float>(patches - 1), at.square);
  float sum = 0;
  for (int i = 0; i < patches; ++i) {
    sum += at.square[i * at.pitch + i];
  }
  const float edge = vnlb::noise_edge(patches, samples);
  return filter_eigenvalues(at, patches, vnlb::eigenvalue_filter(second_step, patches, edge, sum));
}

// Filters the group's samples minus their means; returns the matrix that holds the result.
HWY_ATTR float* estimate_first(const GroupMatrices& at, int samples, int patches) {
  const FilterMatrices found = make_filter(at, at.noisy, samples, patches, false);
  multiply({at.noisy, at.pitch, 1}, found.filter, samples, patches, at.pitch, false, at.basic);
  return at.basic;
}

HWY_ATTR float* estimate_second(const GroupMatrices& at, int samples, int patches) {
  const FilterMatrices found = make_filter(at, at.basic, samples, patches, true);
  const MatrixTag d;
  const int pitch = at.pitch;
  for (int i = 0; i < samples * pitch; i += kMatrixLanes) {
    hn::Store(hn::Sub(hn::Load(d, at.noisy + i), hn::Load(d, at.basic + i)), d, at.noisy + i);
  }
  // Patches are columns, so all factors are transposed.
  multiply({at.basic, 1, pitch}, at.noisy, rows_of(patches), samples, pitch, false, at.product);
  multiply({found.filter, pitch, 1}, at.product, rows_of(patches), patches, pitch, false, at.square);
  for (int i = 0; i < rows_of(patches) * pitch; i += kMatrixLanes) {
    hn::Store(hn::Add(hn::Load(d, at.square + i), hn::Load(d, found.kept + i)), d, at.square + i);
  }
  multiply({at.basic, pitch, 1}, at.square, samples, patches, pitch, false, at.noisy);
  return at.noisy;
}

// Writes the estimates of the group's patches, minus kSumsOffset, to at.patch_rows and returns their weight.
HWY_ATTR unsigned filter_patch_group(const TrajectoryJob& job, int plane, const Whitening& whitening,
                                     const PatchGroup& group, const GroupMatrices& at) {
  alignas(64) std::array<float, kMostSamples> means;
  const int samples = group.samples();
  float brightness = 0;
  if (job.wiener) {
    std::array<float, kMostSamples> of_basic;
    brightness = load_group(job, plane, group, true, at, at.basic, of_basic.data());
  }
  const float noisy_brightness = load_group(job, plane, group, false, at, at.noisy, means.data());
  const CoefficientNoise& noise = job.noise[plane];
  const float deviation = noise.deviation_of(noise.curve_by_guide ? brightness_in_guide(job, group.reference)
                                             : job.wiener         ? brightness
                                                                  : noisy_brightness);
  float* estimates = nullptr;
  if (group.patches > 1) {
    whiten(whitening, deviation, at.noisy, group.slices, at.pitch);
    if (job.wiener) {
      whiten(whitening, deviation, at.basic, group.slices, at.pitch);
    }
    estimates =
        job.wiener ? estimate_second(at, samples, group.patches) : estimate_first(at, samples, group.patches);
  }
  if (estimates != nullptr) {
    color_again(whitening, deviation, estimates, group.slices, at.pitch);
  }
  for (int k = 0; k < samples; ++k) {
    const float mean = means[k] - kSumsOffset;
    for (int i = 0; i < group.patches; ++i) {
      at.patch_rows[i * samples + k] = mean + (estimates == nullptr ? 0 : estimates[k * at.pitch + i]);
    }
  }
  return PictureSums::weight_units(weight_factor(noise.least_deviation, deviation));
}

// ---------------------------------------------------------------------------------------------------------------------
// Tiles

HWY_ATTR void add_slice(const float* HWY_RESTRICT slice, const float* HWY_RESTRICT window, float weight,
                        Position place, const LocalNumerators& sums) {
  const SliceTag d;
  const auto factor = hn::Set(d, weight);
  float* HWY_RESTRICT out = sums.samples + sums.offset(place);
  for (int y = 0; y < vnlb::kPatch; ++y) {
    for (int x = 0; x < vnlb::kPatch; x += kSliceLanes) {
      const int i = y * vnlb::kPatch + x;
      const auto value = hn::Mul(hn::Mul(hn::LoadU(d, slice + i), hn::LoadU(d, window + i)), factor);
      hn::StoreU(hn::Add(hn::LoadU(d, out + x), value), d, out + x);
    }
    out += sums.pitch;
  }
}

// Calls use(patch, slice, picture) for the slices of a group's patches whose pictures still need estimates.
template <class Use>
HWY_ATTR void for_each_wanted(const TrajectoryJob& job, const PatchGroup& group, const Use& use) {
  for (int i = 0; i < group.patches; ++i) {
    for (int s = 0; s < group.slices; ++s) {
      if (const int picture = group.picture_of(i, s); job.pictures[picture].planes[0].sums != nullptr) {
        use(i, s, picture);
      }
    }
  }
}

HWY_ATTR void filter_patch_groups(const TrajectoryJob& job, PatchGroupScratch& scratch) {
  std::vector<Whitening> whitenings(job.noise.size());
  std::ranges::transform(job.noise, whitenings.begin(), whitening_of);
  filter_into_pictures(
      job, std::span<const PatchGroup>(scratch.groups), scratch.sums,
      [&](const PatchGroup& group, const auto& add) HWY_ATTR {
        for_each_wanted(job, group, [&](int i, int, int picture) { add(picture, group.places[i]); });
      },
      [&](int plane, const PatchGroup& group, const LocalNumerators* numerators,
          std::vector<PictureSums::PatchWeight>* weights) HWY_ATTR {
        const GroupMatrices at(scratch, group.patches);
        const unsigned weight = filter_patch_group(job, plane, whitenings[plane], group, at);
        const float factor = std::ldexp(static_cast<float>(weight), -PictureSums::kWeightBits);
        for_each_wanted(job, group, [&](int i, int s, int picture) HWY_ATTR {
          weights[picture].push_back({group.places[i].x, group.places[i].y, weight});
          add_slice(at.patch_rows + i * group.samples() + s * kSliceSamples, job.tables->window.data(),
                    factor, group.places[i], numerators[picture]);
        });
      });
}

// Finds, filters and aggregates the groups of one tile into the pictures' sums. Thread-safe for different
// scratches.
HWY_ATTR void process_tile_of_patch_groups(const TrajectoryJob& job, const PatchSearch& search,
                                           const Tile& tile, PatchGroupScratch& scratch) {
  scratch.groups.clear();
  for (int gy = tile.first_y; gy < tile.last_y; ++gy) {
    for (int gx = tile.first_x; gx < tile.last_x; ++gx) {
      find_group(job, search, {job.similar.grid_x[gx], job.similar.grid_y[gy]}, scratch,
                 scratch.groups.emplace_back());
    }
  }
  filter_patch_groups(job, scratch);
}

HWY_ATTR void filter_products(const float* matrix, int size, const vnlb::EigenvalueFilter& filter,
                              PatchGroupScratch& scratch, float* kept, float* out) {
  const GroupMatrices at(scratch, size);
  const int count = rows_of(size) * at.pitch;
  std::copy_n(matrix, count, at.square);
  const FilterMatrices found = filter_eigenvalues(at, size, filter);
  std::copy_n(found.kept, count, kept);
  std::copy_n(found.filter, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(process_tile_of_patch_groups);
HWY_EXPORT(filter_products);

void filter_eigenvalues(const float* matrix, int size, const vnlb::EigenvalueFilter& filter,
                        PatchGroupScratch& scratch, float* kept, float* out) {
  HWY_DYNAMIC_DISPATCH(filter_products)(matrix, size, filter, scratch, kept, out);
}

std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format) {
  parameters.validate();
  const VnlbStep& second = parameters.second.value_or(parameters.first);
  const int patches = vnlb::kSlices * std::max(parameters.first.group_size, second.group_size);
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<PatchGroupScratch>>();
  return make_filter_along_motion(
      followed_like(parameters), format,
      GroupStage{patches, [parameters, second, scratch](const TrajectoryJob& job, const Tile& tile) {
                   HWY_DYNAMIC_DISPATCH(process_tile_of_patch_groups)
                   (job, {job.wiener ? second : parameters.first, parameters.before, parameters.after}, tile,
                    scratch->local());
                 }});
}

}  // namespace limpid::cpu
#endif
