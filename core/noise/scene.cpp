// SPDX-License-Identifier: MIT
#include "core/noise/scene.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>

#include "core/noise/noise_blocks.h"

namespace limpid {

std::vector<float> brightness_cells(const Frame& frame) {
  const Plane& plane = frame.planes[brightness_plane(frame.format)];
  const int width = std::min(plane.width, kBrightnessCellSide);
  const int height = std::min(plane.height, kBrightnessCellSide);
  std::vector<float> means;
  for (int i = 0; i < kBrightnessCells; ++i) {
    const int top = brightness_cell(plane.height, height, i);
    for (int j = 0; j < kBrightnessCells; ++j) {
      const int left = brightness_cell(plane.width, width, j);
      float sum = 0;
      for (int y = top; y < top + height; ++y) {
        std::array<float, kBrightnessCellSide> row;
        load_usable_code_values(plane, frame.format, left, y, width, row.data());
        sum = std::accumulate(row.begin(), row.begin() + width, sum);
      }
      means.push_back(sum / static_cast<float>(width * height));
    }
  }
  return means;
}

BrightnessHistogram brightness_histogram(const Frame& frame) {
  BrightnessHistogram shares{};
  for (const float mean : brightness_cells(frame)) {
    shares[brightness_level(mean)] += 1.0F / (kBrightnessCells * kBrightnessCells);
  }
  return shares;
}

bool is_cut(const BrightnessHistogram& before, const BrightnessHistogram& after) {
  // Limit of the summed changes of all shares, which is 2 at most. Nearly all scene cuts exceed it, at a
  // noise level of sigma 50 too. Frames of one scene rarely do, even with three frames between them.
  constexpr float kCutDifference = 0.5F;
  float difference = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    difference += std::abs(after[i] - before[i]);
  }
  return difference > kCutDifference;
}

}  // namespace limpid

namespace limpid::noise {
namespace {

BrightnessScale brightness_scale(const Frame& frame) {
  constexpr float kFilled = 64;    // code values
  constexpr float kUsedSteps = 8;  // with more classes, each would have too few blocks
  if (frame.format.sample_type == SampleType::kUint8) {
    return {};
  }
  const std::vector<float> means = brightness_cells(frame);
  const auto [least, most] = std::ranges::minmax(means);
  if (most - least > kFilled || !(most > least)) {
    return {};
  }
  return {.origin = least, .spacing = (most - least) / kUsedSteps};
}

bool has_counts(const Frame& frame) {
  constexpr double kLeastRatio = 0.8;  // less than 1, because frames have few samples
  constexpr double kMostRatio = 3;
  constexpr float kMostFraction = 1.0F / 16;
  const Plane& plane = frame.planes[0];
  std::vector<float> samples(static_cast<std::size_t>(plane.width) * plane.height);
  for (int y = 0; y < plane.height; ++y) {
    load_usable_code_values(plane, frame.format, 0, y, plane.width,
                            samples.data() + std::ptrdiff_t{y} * plane.width);
  }
  float unit = std::numeric_limits<float>::infinity();
  for (const float sample : samples) {
    unit = sample > 0 ? std::min(unit, sample) : unit;
  }
  std::array<double, 3> numbers{};
  for (const float sample : samples) {
    const float count = std::round(sample / unit);
    if (sample < 0 || !(std::abs(sample / unit - count) < kMostFraction)) {
      return false;
    }
    if (count < static_cast<float>(numbers.size())) {
      ++numbers[static_cast<std::size_t>(count)];
    }
  }
  const double ratio = 2 * numbers[0] * numbers[2] / (numbers[1] * numbers[1]);
  return ratio > kLeastRatio && ratio < kMostRatio;
}

// True if few blocks of an RGB picture can be measured with all their planes.
bool is_saturated(const Frame& frame) {
  constexpr int kSpacing = 2 * kBlock;  // a quarter of the blocks suffices
  constexpr int kLeastShare = 16;
  const ClippedRange range(frame.format, {});
  int blocks = 0;
  int measured = 0;
  for (int y = 0; y + kBlock <= frame.format.height; y += kSpacing) {
    for (int x = 0; x + kBlock <= frame.format.width; x += kSpacing) {
      int at_end = 0;
      for (int row = 0; row < kBlock; ++row) {
        std::array<std::array<float, kBlock>, 3> rgb;
        for (int p = 0; p < 3; ++p) {
          load_usable_code_values(frame.planes[p], frame.format, x, y + row, kBlock, rgb[p].data());
        }
        for (int i = 0; i < kBlock; ++i) {
          at_end += range.is_at_end(rgb[0][i], rgb[1][i], rgb[2][i]) ? 1 : 0;
        }
      }
      ++blocks;
      measured += at_end <= kMostCutOff ? 1 : 0;
    }
  }
  return measured * kLeastShare < blocks;
}

// True if all samples of the region are alike, but for what codecs change.
bool is_constant(const Frame& frame, const Region& region) {
  const float tolerance = 2 * quantization_step(frame.format);
  float least = std::numeric_limits<float>::infinity();
  float most = -least;
  std::vector<float> row(region.width);
  for (int y = region.y; y < region.y + region.height; ++y) {
    load_usable_code_values(frame.planes[brightness_plane(frame.format)], frame.format, region.x, y,
                            region.width, row.data());
    const auto [lowest, highest] = std::ranges::minmax(row);
    least = std::min(least, lowest);
    most = std::max(most, highest);
    if (most - least > tolerance) {
      return false;
    }
  }
  return true;
}

struct Span {
  int first = 0;
  int count = 0;
};

// The part of a side of `length` samples that remains without bars at its ends.
template <typename IsBar>
Span without_ends(int length, const IsBar& is_bar) {
  int first = 0;
  while (first < length && is_bar(first)) {
    ++first;
  }
  int last = length;
  while (last > first && is_bar(last - 1)) {
    --last;
  }
  // Whole blocks, and one block for the edge of the bar.
  const auto bar = [](int samples) {
    return samples < kBlock ? 0 : (samples + 2 * kBlock - 1) / kBlock * kBlock;
  };
  return {bar(first), length - bar(first) - bar(length - last)};
}

// A row of luma in the picture that is measured. With `range`, samples at its ends in any plane are NaN.
std::vector<float> row_of_luma(const Frame& frame, const PictureRows& rows, int y,
                               const ClippedRange* range) {
  const int planes = frame.format.color_model == ColorModel::kRgb ? 3 : 1;
  std::vector<float> row(frame.format.width);
  std::vector<float> own(row.size());
  for (int p = 0; p < planes; ++p) {
    load_usable_code_values(frame.planes[p], frame.format, 0, rows.first + y * rows.spacing,
                            frame.format.width, own.data());
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] += range != nullptr && range->is_at_end(own[i]) ? std::numeric_limits<float>::quiet_NaN()
                                                             : own[i] / static_cast<float>(planes);
    }
  }
  return row;
}

// The variances of the patches that count.
std::vector<float> patch_variances(const Frame& frame, const PictureRows& rows, const ClippedRange& range) {
  constexpr int kPatch = 4;
  constexpr int kMostPatches = 16384;
  const int width = frame.format.width;
  const int height = rows.count(frame.format.height);
  int spacing = 2;
  const auto count = [&](int side) { return (side - kPatch) / spacing + 1; };
  while (std::int64_t{count(width)} * count(height) > kMostPatches) {
    spacing += spacing == 2 ? 1 : 2;  // odd, for patches at all places of a codec's blocks
  }
  std::vector<float> variances;
  for (int y = 0; y + kPatch <= height; y += spacing) {
    std::array<std::vector<float>, kPatch> samples;
    for (int row = 0; row < kPatch; ++row) {
      samples[row] = row_of_luma(frame, rows, y + row, &range);
    }
    for (int x = 0; x + kPatch <= width; x += spacing) {
      std::array<float, kPatch * kPatch> patch;
      for (int row = 0; row < kPatch; ++row) {
        std::copy_n(samples[row].begin() + x, kPatch, patch.begin() + std::ptrdiff_t{row} * kPatch);
      }
      const float mean = std::accumulate(patch.begin(), patch.end(), 0.0F) / patch.size();
      const float variance = std::accumulate(patch.begin(), patch.end(), 0.0F,
                                             [mean](float sum, float sample) {
                                               return sum + (sample - mean) * (sample - mean);
                                             }) /
                             (patch.size() - 1);
      if (!std::isnan(variance)) {
        variances.push_back(variance);
      }
    }
  }
  return variances;
}

double grid_of(const Frame& frame, const PictureRows& rows) {
  constexpr int kRows = 128;
  const int height = rows.count(frame.format.height);
  std::array<double, kBlock> sums{};
  for (int y = 0; y < height; y += (height + kRows - 1) / kRows) {
    const std::vector<float> row = row_of_luma(frame, rows, y, nullptr);
    for (int x = 0; x + 1 < frame.format.width / kBlock * kBlock; ++x) {
      sums[x % kBlock] += std::abs(double{row[x + 1]} - double{row[x]});
    }
  }
  std::ranges::sort(sums);
  const double median = (sums[kBlock / 2 - 1] + sums[kBlock / 2]) / 2;
  return median > 0 ? sums.back() / median : 0;
}

constexpr int kSide = 16;
constexpr int kLeastAreaSide = 64 / kSide;  // along each side of the area
constexpr double kMostShare = 0.6;          // of the picture
constexpr double kLeastFilled = 0.9;        // share of the area's blocks that change
constexpr double kLeastOfLine = 0.75;       // changing blocks of a row or column, relative to the busiest
constexpr double kMostOutside = 0.1;  // changing blocks outside, relative to those inside: a pointer, a clock

// The samples of a rectangle of blocks.
Region samples_of(const Region& blocks, const Plane& plane) {
  const int x = blocks.x * kSide;
  const int y = blocks.y * kSide;
  return {x, y, std::min(blocks.width * kSide, plane.width - x),
          std::min(blocks.height * kSide, plane.height - y)};
}

// True if more than a third of the block's samples change unlike their left neighbors. Noise changes more of
// them. Codecs change a few samples of what stands still, and windows that open change most samples alike.
// Every fourth row is compared.
bool is_changed(const Frame& a, const Frame& b, const Region& block) {
  constexpr int kRowStep = 4;
  int differing = 0;
  int compared = 0;
  visit_samples(a.format, [&]<typename Sample>(Sample) {
    for (int y = block.y; y < block.y + block.height; y += kRowStep) {
      const auto* const row = a.planes[0].row<const Sample>(y);
      const auto* const other = b.planes[0].row<const Sample>(y);
      auto last = row[block.x] - other[block.x];
      for (int x = block.x + 1; x < block.x + block.width; ++x) {
        const auto change = row[x] - other[x];
        differing += change != last ? 1 : 0;
        last = change;
      }
      compared += block.width;
    }
  });
  return 3 * differing > compared;
}

// From the first to the last of `lines` that have about as many changing blocks as the busiest one.
template <typename Count>
Span busy_range(int lines, const Count& count) {
  std::vector<int> counts(lines);
  for (int i = 0; i < lines; ++i) {
    counts[i] = count(i);
  }
  const int most = std::max(*std::ranges::max_element(counts), 1);
  Span range;
  for (int i = 0; i < lines; ++i) {
    if (counts[i] >= kLeastOfLine * most) {
      range.first = range.count == 0 ? i : range.first;
      range.count = i + 1 - range.first;
    }
  }
  return range;
}

}  // namespace

std::optional<PatchDeviations> patch_deviations(const Frame& frame, const SceneRange& range) {
  constexpr std::size_t kLeastPatches = 64;
  const PictureRows rows = pictures_of(frame.interlaced || frame.combed).front();
  std::vector<float> variances = patch_variances(frame, rows, ClippedRange(frame.format, range));
  if (variances.size() < kLeastPatches) {
    return std::nullopt;
  }
  std::ranges::sort(variances);
  const auto quantile = [&](double share) {
    return std::sqrt(
        double{variances[static_cast<std::size_t>(share * static_cast<double>(variances.size()))]});
  };
  const auto equal = std::ranges::upper_bound(variances, 0.0F) - variances.begin();
  return PatchDeviations{.tenth = quantile(0.1),
                         .third = quantile(1.0 / 3),
                         .half = quantile(0.5),
                         .equal = static_cast<double>(equal) / static_cast<double>(variances.size()),
                         .grid = grid_of(frame, rows)};
}

SceneRange scene_range(const Frame& frame) {
  SceneRange range;
  if (frame.format.color_plane_count() == 1) {
    range.scale = brightness_scale(frame);
    range.counts = has_counts(frame);
  }
  range.saturated = frame.format.color_model == ColorModel::kRgb && is_saturated(frame);
  return range;
}

Region region_inside_bars(const Frame& frame) {
  constexpr int kLeastSide = 64;
  Region inside{0, 0, frame.format.width, frame.format.height};
  const auto [top, rows] = without_ends(inside.height, [&](int y) {
    return is_constant(frame, {0, y, inside.width, 1});
  });
  const auto [left, columns] = without_ends(inside.width, [&, y = top, count = rows](int x) {
    return is_constant(frame, {x, y, 1, count});
  });
  return rows < kLeastSide || columns < kLeastSide ? inside : Region{left, top, columns, rows};
}

bool is_fade(const Frame& first, const Frame& second, const Frame& third) {
  constexpr int kLength = kBrightnessCellSide;
  constexpr double kLeastChange = 8;  // mean square of both steps of a changing cell, above those of rounding
  // Mean square of the difference of both steps, relative to theirs: 0 in a fade, 1.5 in noise.
  constexpr double kMostBend = 0.1;
  constexpr int kLeastCells = 32;       // one of so many cells must change
  constexpr double kLeastShare = 0.75;  // of the changing cells, and of their squares
  const int number = brightness_plane(first.format);
  const int columns = std::min(first.planes[number].width / kLength, kBrightnessCells);
  const int rows = std::min(first.planes[number].height / kLength, kBrightnessCells);
  std::array<int, 2> cells{};  // that change, by unequal and by equal steps
  std::array<double, 2> squares{};
  for (int i = 0; i < rows * columns; ++i) {
    const int x = i % columns * (first.planes[number].width / columns);
    const int y = i / columns * (first.planes[number].height / rows);
    double change = 0;
    double bend = 0;
    for (int row = y; row < y + kLength; ++row) {
      std::array<std::array<float, kLength>, 3> samples;
      for (int f = 0; f < 3; ++f) {
        const Frame& frame = *std::array{&first, &second, &third}[f];
        load_usable_code_values(frame.planes[number], frame.format, x, row, kLength, samples[f].data());
      }
      for (int column = 0; column < kLength; ++column) {
        const double before = double{samples[1][column]} - double{samples[0][column]};
        const double after = double{samples[2][column]} - double{samples[1][column]};
        change += before * before + after * after;
        bend += (after - before) * (after - before);
      }
    }
    if (change > kLeastChange * kLength * kLength) {
      ++cells[bend < kMostBend * change ? 1 : 0];
      squares[bend < kMostBend * change ? 1 : 0] += change;
    }
  }
  return cells[1] * kLeastCells >= rows * columns && (1 - kLeastShare) * cells[1] >= kLeastShare * cells[0] &&
         (1 - kLeastShare) * squares[1] >= kLeastShare * squares[0];
}

void ChangingArea::add(const Frame& frame) {
  columns_ = (frame.planes[0].width + kSide - 1) / kSide;
  rows_ = (frame.planes[0].height + kSide - 1) / kSide;
  changes_.resize(static_cast<std::size_t>(columns_) * rows_);
  for (int i = 0; last_ && i < columns_ * rows_; ++i) {
    const Region block = samples_of({i % columns_, i / columns_, 1, 1}, frame.planes[0]);
    changes_[i] += is_changed(*last_, frame, block) ? 1 : 0;
  }
  pairs_ += last_ ? 1 : 0;
  last_ = frame;
}

std::optional<Region> ChangingArea::find() const {
  if (pairs_ == 0) {
    return std::nullopt;
  }
  // Noise changes in each frame. The picture in a recording of a screen may have a lower frame rate.
  const int least = std::max((pairs_ + 2) / 3, std::min(pairs_, 2));
  const auto count = [&](const Region& blocks) {
    int sum = 0;
    for (int y = blocks.y; y < blocks.y + blocks.height; ++y) {
      const auto row = changes_.begin() + std::ptrdiff_t{y} * columns_ + blocks.x;
      sum +=
          static_cast<int>(std::count_if(row, row + blocks.width, [&](int each) { return each >= least; }));
    }
    return sum;
  };
  Span rows = busy_range(rows_, [&](int y) { return count({0, y, columns_, 1}); });
  const Span columns = busy_range(columns_, [&](int x) { return count({x, rows.first, 1, rows.count}); });
  rows = busy_range(rows_, [&](int y) { return count({columns.first, y, columns.count, 1}); });
  const Region blocks{columns.first, rows.first, columns.count, rows.count};
  const double size = static_cast<double>(blocks.width) * blocks.height;
  const int inside = count(blocks);
  const int outside = count({0, 0, columns_, rows_}) - inside;
  if (blocks.width < kLeastAreaSide || blocks.height < kLeastAreaSide ||
      size > kMostShare * columns_ * rows_ || inside < kLeastFilled * size ||
      outside > kMostOutside * inside) {
    return std::nullopt;
  }
  return samples_of(blocks, last_->planes[0]);
}

}  // namespace limpid::noise
