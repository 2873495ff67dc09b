// SPDX-License-Identifier: MIT
#include "core/repair/repair.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace limpid {

using repair::Box;
using repair::kTile;
using repair::kUnit;
using repair::Picture;
using repair::Samples;
using repair::samples_of;
using repair::tiles_along;

namespace {

constexpr int kLeastHeight = 6 * kUnit;  // of a defective pixel

// Calls visit(y, differences) for each row inside the border. The difference of a sample inside is that from
// the median of the four samples beside it.
template <typename Visit>
void for_each_row(const Samples& samples, const Visit& visit) {
  std::vector<std::int16_t> differences(samples.width);
  for (int y = 1; y + 1 < samples.height; ++y) {
    const std::int16_t* const above = samples.row(y - 1);
    const std::int16_t* const row = samples.row(y);
    const std::int16_t* const below = samples.row(y + 1);
    for (int x = 1; x + 1 < samples.width; ++x) {
      const std::int16_t least = std::min(std::min(above[x], below[x]), std::min(row[x - 1], row[x + 1]));
      const std::int16_t most = std::max(std::max(above[x], below[x]), std::max(row[x - 1], row[x + 1]));
      const int median = (above[x] + below[x] + row[x - 1] + row[x + 1] - least - most) / 2;
      differences[x] = static_cast<std::int16_t>(row[x] - median);
    }
    visit(y, differences);
  }
}

// A sample of a frame with its eight neighbors and the samples around these.
constexpr int kNeighbors = 8;
using Surroundings = std::array<int, 24>;
struct Look {
  int value = 0;
  int excess = 0;         // over the median of the eight neighbors
  Surroundings around{};  // the neighbors come first
};

// The sample must be 2 or more from the border.
Look look_at(const Samples& samples, int x, int y) {
  Look look;
  std::size_t inside = 0;
  std::size_t outside = kNeighbors;
  Box{-2, -2, 3, 3}.for_each([&](int dx, int dy) {
    const int distance = std::max(std::abs(dx), std::abs(dy));
    (distance == 0 ? look.value : look.around[distance == 1 ? inside++ : outside++]) =
        samples.row(y + dy)[x + dx];
  });
  std::array<int, kNeighbors> sorted{};
  std::copy_n(look.around.begin(), kNeighbors, sorted.begin());
  std::ranges::sort(sorted);
  look.excess = look.value - (sorted[3] + sorted[4]) / 2;
  return look;
}

Look sum_of(const std::vector<Look>& looks) {
  Look sum;
  for (const Look& look : looks) {
    sum.value += look.value;
    sum.excess += look.excess;
    std::ranges::transform(sum.around, look.around, sum.around.begin(), std::plus<>());
  }
  return sum;
}

// The mean of the samples around the eight neighbors, and their mean absolute deviation from it.
std::pair<int, int> contrast_of(const Surroundings& around) {
  const auto ring = std::span(around).subspan<kNeighbors>();
  constexpr int kCount = static_cast<int>(ring.size());
  const int mean = std::accumulate(ring.begin(), ring.end(), 0) / kCount;
  int sum = 0;
  for (const int value : ring) {
    sum += std::abs(value - mean);
  }
  return {mean, sum / kCount};
}

// True if the surroundings change in most pairs of frames, by more than noise and by most of their contrast.
// Dust in one frame changes fewer pairs.
bool is_moving(const std::vector<Look>& looks, int noise) {
  std::ptrdiff_t moved = 0;
  for (std::size_t t = 1; t < looks.size(); ++t) {
    for (std::size_t u = 0; u < t; ++u) {
      const Surroundings& now = looks[t].around;
      const Surroundings& before = looks[u].around;
      Surroundings difference{};
      std::ranges::transform(now, before, difference.begin(), std::minus<>());
      const int change = contrast_of(difference).second;
      const int contrast = std::max(contrast_of(now).second, contrast_of(before).second);
      moved += 5 * change > 8 * noise + 5 * kUnit && 3 * change > 2 * contrast ? 1 : 0;
    }
  }
  return 4 * moved > std::ssize(looks) * (std::ssize(looks) - 1);
}

// True if a sample exceeds its neighbors in all frames, and each of them in the mean. `detail`: that of its
// tile.
bool is_outlier(const std::vector<Look>& looks, int detail) {
  const auto frames = static_cast<int>(looks.size());
  const Look sum = sum_of(looks);
  const int sign = sum.excess < 0 ? -1 : 1;
  const int height = sign * sum.excess / frames;
  return height >= std::max(kLeastHeight, 2 * detail) &&
         std::ranges::all_of(
             looks, [=](const Look& look) { return 2 * sign * look.excess >= height - 3 * detail; }) &&
         std::all_of(sum.around.begin(), sum.around.begin() + kNeighbors,
                     [&](int neighbor) { return 4 * sign * (sum.value - neighbor) >= 3 * height * frames; });
}

// True for an outlier in all frames whose height is constant but for noise, on a flat ground that changes by
// noise only. Drawings and screens have no noise, and samples beside stars are lighter than the sky.
// `detail`: that of its tile.
bool is_isolated(const std::vector<Look>& looks, int detail) {
  constexpr int kLeastNoise = kUnit / 2;  // mean absolute deviation, as all noise here
  const auto frames = static_cast<int>(looks.size());
  auto [value, height, means] = sum_of(looks);
  height /= frames;
  std::ranges::for_each(means, [frames](int& mean) { mean /= frames; });
  int noise = 0;
  for (const Look& look : looks) {
    noise = std::transform_reduce(means.begin(), means.end(), look.around.begin(), noise, std::plus<>(),
                                  [](int a, int b) { return std::abs(a - b); });
  }
  noise /= frames * static_cast<int>(means.size());
  const auto [ground, contrast] = contrast_of(means);
  const int beside = (means[1] + means[3] + means[4] + means[6]) / 4 - ground;
  const int texture = std::max(contrast, detail - 5 * noise / 4);
  return noise >= kLeastNoise && 8 * std::abs(beside) < std::abs(height) + 4 * noise &&
         std::abs(height) > std::max(5 * noise / 2, 3 * texture) &&
         std::ranges::all_of(looks, [steady = height, noise](const Look& look) {
           return std::abs(look.excess - steady) < 6 * noise + kUnit;
         });
}

// False for a sample with one like it in its row or column, or with several around, as in patterns, text and
// texture. Samples are alike if their sizes are above `least`, and at least half as great.
template <typename Size>
bool is_alone(const Box& sample, const Box& inside, int least, const Size& size_at) {
  constexpr int kRadius = 12;
  constexpr int kMostOthers = 2;
  const int most = std::max(size_at(sample.left, sample.top) / 2, least);
  int others = 0;
  sample.wider(kRadius, inside).for_each([&](int x, int y) {
    const int lines = (x == sample.left ? 1 : 0) + (y == sample.top ? 1 : 0);
    if (lines < 2 && size_at(x, y) > most) {
      others += lines > 0 ? kMostOthers + 1 : 1;
    }
  });
  return others <= kMostOthers;
}

// The rows of a plane (or its columns), compared with their neighbors: the medians of both halves of a row,
// in units of Samples.
using LineProfile = std::vector<std::array<int, 2>>;

double median_of_magnitudes(std::vector<int> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle, {}, [](int value) { return std::abs(value); });
  return values.empty() ? 0 : std::abs(*middle);
}

// For rows and columns: how many on each side one is compared with, the variance of its difference from them
// relative to that of one, and the standard deviation of a normal distribution relative to its median
// magnitude.
constexpr int kLinesBeside = 4;
constexpr double kOfDifference = 1 + 0.5 / kLinesBeside;
constexpr double kOfMedian = 1.4826;

// The standard deviation of the offsets of rows in successive frames; 0 unless all rows have offsets that are
// new in each frame. Both halves of a row have the same offset, but independent white noise. So the variance
// of the sum of both halves is greater than the variance of their difference, by four times the variance of
// the offset. Rows of the picture cancel in differences of frames. Stripes that move are not independent of
// the rows beside them.
float line_deviation(const std::vector<LineProfile>& profiles) {
  constexpr double kLeastExcess = 2;
  constexpr double kLeastDeviation = kUnit / 4.0;
  constexpr double kLeastStep = 1.2;  // from row to row; about 1.5 for independent rows
  constexpr double kMostStep = 1.8;
  std::vector<int> sums;
  std::vector<int> differences;
  for (std::size_t t = 1; t < profiles.size(); ++t) {
    for (std::size_t line = 0; line < profiles[t].size(); ++line) {
      const int first = profiles[t][line][0] - profiles[t - 1][line][0];
      const int second = profiles[t][line][1] - profiles[t - 1][line][1];
      sums.push_back(first + second);
      differences.push_back(first - second);
    }
  }
  if (sums.empty()) {
    return 0;
  }
  const double sum = median_of_magnitudes(sums);
  const double difference = median_of_magnitudes(differences);
  const double excess = (sum * sum - difference * difference) / 8 / kOfDifference;
  bool is_noise = sum * sum > kLeastExcess * difference * difference;
  for (const int lag : {1, 2, 3}) {
    std::vector<int> steps;
    std::transform(sums.begin() + lag, sums.end(), sums.begin(), std::back_inserter(steps), std::minus<>());
    const double step = median_of_magnitudes(steps);
    is_noise = is_noise && step > kLeastStep * sum && step < kMostStep * sum;
  }
  const double deviation = kOfMedian * std::sqrt(std::max(excess, 0.0));
  return is_noise && deviation > kLeastDeviation ? static_cast<float>(deviation / kUnit) : 0;
}

// Empty for small planes.
LineProfile profile_of(const Samples& samples, bool columns) {
  constexpr int kMostSamples = 512;
  constexpr int kLeastSamples = 64;
  const int lines = columns ? samples.width : samples.height;
  const int length = columns ? samples.height : samples.width;
  const int sampled = std::min(length, kMostSamples) / 4 * 4;
  if (std::min(lines, sampled) < kLeastSamples) {
    return {};
  }
  std::vector<std::int16_t> differences(std::size_t{1} * lines * sampled);
  std::vector<int> sums(lines + 1);
  for (int i = 0; i < sampled; ++i) {
    const int at = static_cast<int>(std::int64_t{i} * length / sampled);
    const auto value = [&](int line) { return columns ? samples.row(at)[line] : samples.row(line)[at]; };
    for (int line = 0; line < lines; ++line) {
      sums[line + 1] = sums[line] + value(line);
    }
    for (int line = 1; line + 1 < lines; ++line) {
      const int reach = std::min({kLinesBeside, line, lines - 1 - line});
      const int others = sums[line + reach + 1] - sums[line - reach] - value(line);
      differences[std::size_t{1} * line * sampled + i] =
          static_cast<std::int16_t>(value(line) - others / (2 * reach));
    }
  }
  LineProfile profile(lines);
  auto half = differences.begin();
  for (auto& medians : profile) {
    for (int& median : medians) {
      std::nth_element(half, half + sampled / 4, half + sampled / 2);
      median = half[sampled / 4];
      half += sampled / 2;
    }
  }
  return profile;
}

std::vector<float> line_offsets(const Samples& samples, bool columns, float deviation) {
  constexpr double kMost = 4;  // standard deviations of a row's difference; what is greater is the picture's
  std::vector<int> sums;
  std::ranges::transform(deviation > 0 ? profile_of(samples, columns) : LineProfile(),
                         std::back_inserter(sums), [](const auto& halves) { return halves[0] + halves[1]; });
  const double own = std::pow(double{deviation} * kUnit, 2);
  const double whole = std::max(own * kOfDifference, std::pow(kOfMedian * median_of_magnitudes(sums) / 2, 2));
  std::vector<float> offsets(columns ? samples.width : samples.height);
  std::ranges::transform(sums, offsets.begin(), [=](int sum) {
    const double difference = sum / 2.0;
    return difference * difference < kMost * kMost * whole ? static_cast<float>(difference * own / whole) : 0;
  });
  return offsets;
}

// Calls subtract(x, y) for samples of a plane in the box, and subtracts the result, in units of
// Samples.
template <typename Subtract>
void change(const FrameFormat& format, const Plane& plane, const Box& box, const Subtract& subtract) {
  const float unit = static_cast<float>(format.code_value()) / kUnit;
  const auto most = static_cast<float>(format.is_float() ? 0 : (1 << format.bit_depth) - 1);
  visit_samples(format, [&]<typename Sample>(Sample) {
    box.for_each([&](int x, int y) {
      Sample& sample = plane.row<Sample>(y)[x];
      const float value = static_cast<float>(sample) - subtract(x, y) * unit;
      sample = static_cast<Sample>(format.is_float() ? value : std::clamp(value + 0.5F, 0.0F, most));
    });
  });
}

}  // namespace

Samples repair::samples_of(const Frame& frame, int plane, std::optional<Box> part) {
  const Box box = part.value_or(Box{0, 0, frame.planes[plane].width, frame.planes[plane].height});
  Samples samples{box.right - box.left, box.bottom - box.top, {}};
  samples.values.reserve(std::size_t{1} * samples.width * samples.height);
  std::vector<float> row(samples.width);
  for (int y = box.top; y < box.bottom; ++y) {
    load_usable_code_values(frame.planes[plane], frame.format, box.left, y, samples.width, row.data());
    std::ranges::transform(row, std::back_inserter(samples.values), [](float value) {
      return static_cast<std::int16_t>(std::clamp(value * kUnit, 0.0F, 4095.0F));
    });
  }
  return samples;
}

std::vector<int> repair::detail_of(const Samples& samples) {
  const int columns = tiles_along(samples.width);
  std::vector<int> detail(std::size_t{1} * columns * tiles_along(samples.height));
  for_each_row(samples, [&](int y, std::span<const std::int16_t> differences) {
    for (int x = 1; x + 1 < samples.width; ++x) {
      detail[y / kTile * columns + x / kTile] += std::abs(differences[x]);
    }
  });
  const auto inside = [](int tile, int length) {
    return std::max(std::min((tile + 1) * kTile, length - 1) - std::max(tile * kTile, 1), 1);
  };
  for (int tile = 0; tile < std::ssize(detail); ++tile) {
    detail[tile] /= inside(tile % columns, samples.width) * inside(tile / columns, samples.height);
  }
  return detail;
}

void Repairer::send(Frame frame) {
  block_.push_back(std::move(frame));
  if (std::ssize(block_) > look_ahead(choice_) - reach(choice_)) {
    measure();
  }
}

void Repairer::measure() {
  constexpr int kLeast = 4;
  const std::vector<Frame> block = std::exchange(block_, {});
  ++number_;
  std::erase_if(proven_, [this](const auto& proof) { return number_ - proof.second >= kBlocks; });
  if (std::ssize(block) >= kLeast) {
    defects_ = {};
    for (int p = 0; p < block.front().format.color_plane_count(); ++p) {
      std::vector<Samples> frames;
      std::ranges::transform(block, std::back_inserter(frames),
                             [p](const Frame& frame) { return samples_of(frame, p); });
      if (includes(choice_, Repair::kPixels)) {
        find_pixels(frames, p);
      }
      if (includes(choice_, Repair::kRows)) {
        for (const bool columns : {false, true}) {
          std::vector<LineProfile> profiles;
          std::transform(frames.begin(), frames.begin() + kLeast, std::back_inserter(profiles),
                         [columns](const Samples& samples) { return profile_of(samples, columns); });
          defects_.lines[p][columns ? 1 : 0] = line_deviation(profiles);
        }
      }
    }
  }
  for (const Frame& frame : block) {
    send(frame, defects_);
  }
}

void Repairer::find_pixels(std::span<const Samples> frames, int plane) {
  const auto count = static_cast<int>(frames.size());
  const int width = frames.front().width;
  const int height = frames.front().height;
  const int columns = tiles_along(width);
  const std::vector<int> detail = detail_of(frames.front());
  std::vector<std::int16_t> sums(frames.front().values.size());  // of 8 differences below 2^12
  for (const Samples& samples : frames) {
    for_each_row(samples, [&sums, width](int y, std::span<const std::int16_t> differences) {
      std::int16_t* const row = sums.data() + std::ptrdiff_t{y} * width;
      std::transform(row, row + width, differences.begin(), row, std::plus<std::int16_t>());
    });
  }
  const auto size_at = [&](int x, int y) { return std::abs(sums[std::ptrdiff_t{y} * width + x]); };
  const Box inside{2, 2, width - 2, height - 2};
  std::vector<Look> looks(frames.size());
  inside.for_each([&](int x, int y) {
    const Box tile{x / kTile, y / kTile, x / kTile + 1, y / kTile + 1};
    const int own = detail[tile.top * columns + tile.left];
    const int least = count * 3 * own / 2;
    if (size_at(x, y) < std::max(count * kLeastHeight, least)) {
      return;
    }
    std::ranges::transform(frames, looks.begin(),
                           [x, y](const Samples& samples) { return look_at(samples, x, y); });
    if (!is_outlier(looks, own)) {
      return;
    }
    int noise = own;  // the least of the tiles around, as texture is no noise
    tile.wider(1, {0, 0, width / kTile, height / kTile}).for_each([&](int i, int k) {
      noise = std::min(noise, detail[k * columns + i]);
    });
    const DefectivePixel pixel{plane, y, x};
    if (is_moving(looks, noise) ||
        (is_isolated(looks, own) && is_alone({x, y, x + 1, y + 1}, inside, least, size_at))) {
      proven_[pixel] = number_;
    }
    if (proven_.contains(pixel)) {
      defects_.pixels.push_back(pixel);
    }
  });
}

void Repairer::send(Frame frame, const Defects& defects) {
  frame = repaired(frame, defects);
  if (!includes(choice_, Repair::kDust)) {
    repaired_.push_back({std::move(frame), defects});
    return;
  }
  Picture next(frame);
  pass_on(frame.begins_anew ? nullptr : &next);
  current_ = std::move(next);
  current_defects_ = defects;
}

void Repairer::flush() {
  measure();
  pass_on(nullptr);
  before_.reset();
}

std::optional<Repairer::Item> Repairer::receive() {
  std::optional<Item> next;
  if (!repaired_.empty()) {
    next = std::move(repaired_.front());
    repaired_.pop_front();
  }
  return next;
}

// Without the defects of pixels, rows and columns.
Frame Repairer::repaired(const Frame& frame, const Defects& defects) {
  if (defects == Defects()) {
    return frame;
  }
  Frame result = copied(frame, pool_.allocate(frame.format));
  const int counted = frame.context_only ? 0 : 1;
  for (const auto [p, y, x] : defects.pixels) {
    const Plane& plane = result.planes[p];
    if (Box{2, 2, plane.width - 2, plane.height - 2}.contains(x, y)) {
      const Look look = look_at(samples_of(frame, p, Box{x - 2, y - 2, x + 3, y + 3}), 2, 2);
      change(frame.format, plane, {x, y, x + 1, y + 1},
             [&](int, int) { return static_cast<float>(look.excess); });
      counts_.pixels += counted;
    }
  }
  for (int p = 0; p < frame.format.color_plane_count(); ++p) {
    if (defects.lines[p][0] > 0 || defects.lines[p][1] > 0) {
      const Plane& plane = result.planes[p];
      const Samples without = samples_of(result, p);
      const std::vector<float> rows = line_offsets(without, false, defects.lines[p][0]);
      const std::vector<float> columns = line_offsets(without, true, defects.lines[p][1]);
      change(frame.format, plane, {0, 0, plane.width, plane.height},
             [&](int x, int y) { return rows[y] + columns[x]; });
      counts_.rows += counted * (std::ssize(rows) + std::ssize(columns) - std::ranges::count(rows, 0) -
                                 std::ranges::count(columns, 0));
    }
  }
  return result;
}

// Repairs the dust of the current frame. `after`: null at the end of the stream, and before a cut.
void Repairer::pass_on(const Picture* after) {
  if (!current_) {
    return;
  }
  Frame result = current_->frame;
  if (before_ && after != nullptr && !result.begins_anew) {
    Frame copy = copied(result, pool_.allocate(result.format));
    if (const std::int64_t samples = repair::repair_dust(*before_, *current_, *after, copy); samples > 0) {
      counts_.dust += result.context_only ? 0 : samples;
      result = std::move(copy);
    }
  }
  repaired_.push_back({std::move(result), std::move(current_defects_)});
  before_ = std::exchange(current_, std::nullopt);
}

}  // namespace limpid
