// SPDX-License-Identifier: MIT
#include "core/grain/grain_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>

namespace limpid {
namespace {

struct Neighbor {
  int dx;
  int dy;
};
using Neighbors = std::array<Neighbor, Autoregression::kNeighbors>;

constexpr Neighbors kNeighborhood = [] {
  Neighbors neighbors{};
  std::size_t i = 0;
  for (int dy = -Autoregression::kLag; dy <= 0; ++dy) {
    for (int dx = -Autoregression::kLag; dx <= (dy < 0 ? Autoregression::kLag : -1); ++dx) {
      neighbors[i++] = {dx, dy};
    }
  }
  return neighbors;
}();

using Equations = std::array<std::array<double, Autoregression::kNeighbors>, Autoregression::kNeighbors>;
using Weights = std::array<double, Autoregression::kNeighbors>;

/// Solves a symmetric system of equations by Gaussian elimination.
Weights solve(Equations a, Weights b) {
  constexpr int kSize = Autoregression::kNeighbors;
  for (int column = 0; column < kSize; ++column) {
    int pivot = column;
    for (int row = column; row < kSize; ++row) {
      pivot = std::abs(a[row][column]) > std::abs(a[pivot][column]) ? row : pivot;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    for (int row = column + 1; row < kSize; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (int i = column; i < kSize; ++i) {
        a[row][i] -= factor * a[column][i];
      }
      b[row] -= factor * b[column];
    }
  }
  Weights x{};
  for (int row = kSize - 1; row >= 0; --row) {
    double rest = b[row];
    for (int i = row + 1; i < kSize; ++i) {
      rest -= a[row][i] * x[i];
    }
    x[row] = rest / a[row][row];
  }
  return x;
}

constexpr int kChromaBlockSide = 8;
constexpr std::size_t kQuietShare = 5;

// The mean of luma over the chroma sample (y, x), times the number of its samples.
template <typename Sample>
int luma_at(const Frame& frame, int y, int x) {
  const int step_y = 1 << frame.format.chroma_shift_y;
  const int step_x = 1 << frame.format.chroma_shift_x;
  int sum = 0;
  for (int dy = 0; dy < step_y; ++dy) {
    const Sample* const row = frame.planes[0].row<Sample>(y * step_y + dy);
    for (int dx = 0; dx < step_x; ++dx) {
      sum += row[x * step_x + dx];
    }
  }
  return sum;
}

constexpr int kBrightnesses = 256;
using Curve = std::array<double, kBrightnesses>;  // standard deviations, by brightness

constexpr double kMostCoefficient = 127;

/// A plane's filter.
struct GrainFilter {
  std::array<int, FilmGrain::kCoefficients> coefficients{};
  double variance = 1;  ///< of filtered white noise of variance 1
};

/// The greatest shift at which all weights have a coefficient, and that of luma in chroma can be `luma`.
int coefficient_shift(const std::vector<Autoregression>& filters, double luma) {
  constexpr int kLeastShift = 6;
  constexpr int kMostShift = 9;
  int shift = kMostShift;
  while (shift > kLeastShift && luma * (1 << shift) > kMostCoefficient) {
    --shift;
  }
  for (const Autoregression& filter : filters) {
    for (const double weight : filter.weights) {
      while (shift > kLeastShift && std::abs(weight) * (1 << shift) > kMostCoefficient) {
        --shift;
      }
    }
  }
  return shift;
}

/// The filter with rounded coefficients.
GrainFilter rounded(Autoregression filter, int shift) {
  GrainFilter result;
  for (std::size_t i = 0; i < filter.weights.size(); ++i) {
    const double scaled = std::round(filter.weights[i] * (1 << shift));
    result.coefficients[i] = static_cast<int>(std::clamp(scaled, -kMostCoefficient, kMostCoefficient));
    filter.weights[i] = static_cast<double>(result.coefficients[i]) / (1 << shift);
  }
  result.variance = filtered_variance(filter);
  return result;
}

/// The shift at which grain of the strongest filter is not clipped.
int grain_shift(double variance) {
  constexpr int kMost = 3;
  constexpr double kMostGain = 1.2;  // Gaussian noise has a deviation of a quarter of its range
  int shift = 0;
  while (shift < kMost && std::sqrt(variance) > kMostGain * (1 << shift)) {
    ++shift;
  }
  return shift;
}

/// Calls `visit` with a plane's and luma's templates of several seeds.
template <typename Visit>
void for_each_template(FilmGrain grain, const FrameFormat& format, int plane, const Visit& visit) {
  constexpr int kSeeds = 12;
  constexpr int kStep = 5003;
  grain.points = {};
  grain.points[0] = grain.points[plane] = {{0, FilmGrain::kMostScaling}};
  for (int i = 0; i < kSeeds; ++i) {
    grain.seed = (grain.seed + kStep) & 0xFFFF;
    const GrainTemplate luma = luma_template(grain, format);
    visit(plane == 0 ? luma : chroma_template(grain, format, plane, luma), luma);
  }
}

/// The spectrum of the grain that frames show, which has less of the lowest frequencies than the filter: its
/// templates are small.
std::array<double, 64> spectrum_of_templates(FilmGrain grain, const FrameFormat& format, int plane) {
  constexpr int kSpan = NoiseShape::kFrequencies;
  std::array<double, 64> covariances{};
  for_each_template(std::move(grain), format, plane,
                    [&](const GrainTemplate& source, const GrainTemplate& /*luma*/) {
                      const int right = source.first_column() + source.columns();
                      const int bottom = source.first_row() + source.rows();
                      for (int dy = 0; dy < kSpan; ++dy) {
                        for (int dx = 1 - kSpan; dx < kSpan; ++dx) {
                          std::int64_t sum = 0;
                          std::int64_t count = 0;
                          for (int y = source.first_row(); y < bottom - dy; ++y) {
                            for (int x = source.first_column() + kSpan; x < right - kSpan; ++x) {
                              sum += std::int64_t{source.at(y, x)} * source.at(y + dy, x + dx);
                              ++count;
                            }
                          }
                          const double share = dx == 0 ? 1 : 0.5;
                          covariances[dy * kSpan + std::abs(dx)] +=
                              share * static_cast<double>(sum) / static_cast<double>(count);
                        }
                      }
                    });
  return noise_spectrum(covariances);
}

/// The difference of two spectra in octaves. Frequencies with hardly any noise do not count.
double spectral_distance(const std::array<double, 64>& found, const NoiseShape& shape) {
  constexpr double kNegligible = 0.01;
  double sum = 0;
  for (std::size_t i = 1; i < found.size(); ++i) {
    const double wanted = static_cast<double>(shape.spectrum[i]);
    const double octaves = std::log2((std::max(found[i], 0.0) + kNegligible) / (wanted + kNegligible));
    sum += octaves * octaves;
  }
  return sum;
}

/// The stable filter whose grain is nearest to a shape. Rounded coefficients need less correlation than exact
/// ones, and so does grain that is not clipped.
GrainFilter filter_for(const NoiseShape& shape, int shift, const FrameFormat& format, int plane) {
  constexpr double kMostVariance = 100;
  constexpr double kStep = 0.01;
  constexpr double kLeast = 0.8;
  GrainFilter best;
  double least = std::numeric_limits<double>::infinity();
  for (double taper = 1; taper > 0.2; taper -= taper > kLeast ? kStep : 10 * kStep) {
    const GrainFilter filter = rounded(autoregression_of(shape, taper), shift);
    if (!(filter.variance <= kMostVariance)) {
      continue;
    }
    FilmGrain grain;
    grain.lag = Autoregression::kLag;
    grain.coefficient_shift = shift;
    grain.coefficients[plane] = filter.coefficients;
    grain.grain_shift = grain_shift(filter.variance);
    const double distance = spectral_distance(spectrum_of_templates(grain, format, plane), shape);
    if (distance < least) {
      least = distance;
      best = filter;
    }
    if (shape.is_white()) {
      break;
    }
  }
  return best;
}

/// The correlation of a chroma plane's grain with luma's over each chroma sample.
double correlation_of_templates(const FilmGrain& grain, const FrameFormat& format, int plane) {
  constexpr int kMargin = 3;  // of templates, in samples of both planes
  const int step_x = 1 << format.chroma_shift_x;
  const int step_y = 1 << format.chroma_shift_y;
  double luma_squares = 0;
  double chroma_squares = 0;
  double products = 0;
  for_each_template(grain, format, plane, [&](const GrainTemplate& chroma, const GrainTemplate& luma) {
    for (int y = chroma.first_row(); y < chroma.first_row() + chroma.rows(); ++y) {
      for (int x = chroma.first_column(); x < chroma.first_column() + chroma.columns(); ++x) {
        int sum = 0;
        for (int i = 0; i < step_x * step_y; ++i) {
          sum += luma.at((y - kMargin) * step_y + kMargin + i / step_x,
                         (x - kMargin) * step_x + kMargin + i % step_x);
        }
        luma_squares += static_cast<double>(sum) * sum;
        chroma_squares += static_cast<double>(chroma.at(y, x)) * chroma.at(y, x);
        products += static_cast<double>(sum) * chroma.at(y, x);
      }
    }
  });
  return products / std::sqrt(luma_squares * chroma_squares);
}

/// Sets the coefficient of luma's grain in a chroma plane's, so that both have the correlation.
void correlate(double correlation, const FrameFormat& format, int plane, FilmGrain& grain) {
  int& coefficient = grain.coefficients[plane][grain.neighbors()];
  const int sign = correlation < 0 ? -1 : 1;
  int low = 0;
  int high = static_cast<int>(kMostCoefficient) + 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    coefficient = sign * middle;
    const double found = sign * correlation_of_templates(grain, format, plane);
    (found < std::abs(correlation) ? low : high) = middle;
  }
  coefficient = sign * low;
}

/// True if a plane's grain can and should have the correlation with luma's.
bool is_correlated(const NoiseModel& noise, int plane, double correlation) {
  constexpr double kLeast = 0.03;
  return noise.sigma[0] > 0 && noise.sigma[plane] > 0 && std::abs(correlation) >= kLeast;
}

/// Sets the coefficients of the neighbors in all planes with noise. Returns the greatest variance. `luma`: a
/// bound of luma's coefficient in chroma.
double set_neighbors(const NoiseModel& noise, const FrameFormat& format, double luma, FilmGrain& grain) {
  constexpr double kUsualTaper = 0.98;
  const int planes = format.color_plane_count();
  std::vector<Autoregression> filters(planes);
  for (int plane = 0; plane < planes; ++plane) {
    if (noise.sigma[plane] > 0 && !noise.shape[plane].is_white()) {
      filters[plane] = autoregression_of(noise.shape[plane], kUsualTaper);
      grain.lag = Autoregression::kLag;
    }
  }
  grain.coefficient_shift = coefficient_shift(filters, luma);
  if (grain.lag == 0) {
    return 1;  // encoders store all coefficients in each frame
  }
  double variance = 1;
  for (int plane = 0; plane < planes; ++plane) {
    if (noise.sigma[plane] > 0) {
      const GrainFilter filter = filter_for(noise.shape[plane], grain.coefficient_shift, format, plane);
      grain.coefficients[plane] = filter.coefficients;
      variance = std::max(variance, filter.variance);
    }
  }
  return variance;
}

/// Sets the coefficients of all planes with noise, and the shift of the grain.
void set_coefficients(const NoiseModel& noise, const FrameFormat& format,
                      const ChromaCorrelations& correlations, FilmGrain& grain) {
  constexpr double kMost = 0.9;
  double greatest = 0;
  for (const double correlation : correlations) {
    greatest = std::max(greatest, std::min(std::abs(correlation), kMost));
  }
  const double independent = 1 - greatest * greatest;  // share of the variance
  // The mean of four samples of luma has half the deviation or more.
  const double luma = 2 * greatest / std::sqrt(independent);
  grain.grain_shift = grain_shift(set_neighbors(noise, format, luma, grain) / independent);
  for (int plane = 1; plane < format.color_plane_count(); ++plane) {
    const double wanted = std::clamp(correlations[plane - 1], -kMost, kMost);
    if (is_correlated(noise, plane, wanted)) {
      correlate(wanted, format, plane, grain);
    }
  }
}

/// A histogram of the grain that frames show, over templates of several seeds.
class GrainSamples {
 public:
  GrainSamples(const FilmGrain& grain, const FrameFormat& format, int plane) : range_(format.bit_depth) {
    counts_.resize(static_cast<std::size_t>(range_.most) - range_.least + 1);
    for_each_template(grain, format, plane,
                      [this](const GrainTemplate& source, const GrainTemplate& /*luma*/) { count(source); });
  }

  /// The standard deviation of the grain times `scaling`, as it is added to samples.
  double deviation(int scaling, int shift) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const double noise = round_shift(scaling * (range_.least + static_cast<int>(i)), shift);
      sum += noise * static_cast<double>(counts_[i]);
      squares += noise * noise * static_cast<double>(counts_[i]);
    }
    const auto total = static_cast<double>(total_);
    return std::sqrt(std::max(squares / total - sum * sum / total / total, 0.0));
  }

 private:
  void count(const GrainTemplate& source) {
    for (int y = source.first_row(); y < source.first_row() + source.rows(); ++y) {
      for (int x = source.first_column(); x < source.first_column() + source.columns(); ++x) {
        ++counts_[static_cast<std::size_t>(source.at(y, x)) - range_.least];
        ++total_;
      }
    }
  }

  GrainRange range_;
  std::vector<std::int64_t> counts_;
  std::int64_t total_ = 0;
};

/// The scaling for a deviation in samples, and the fraction between two scalings.
double scaling_for(double deviation, const GrainSamples& samples, int shift) {
  if (deviation <= 0) {
    return 0;
  }
  int low = 0;
  int high = FilmGrain::kMostScaling;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (samples.deviation(middle, shift) < deviation ? low : high) = middle;
  }
  const double below = samples.deviation(low, shift);
  const double above = samples.deviation(high, shift);
  return above > below ? low + std::clamp((deviation - below) / (above - below), 0.0, 1.0) : low;
}

/// The greatest shift at which the deviation can be expressed.
int scaling_shift(double deviation, const GrainSamples& samples) {
  int shift = FilmGrain::kMostScalingShift;
  while (shift > FilmGrain::kLeastScalingShift &&
         samples.deviation(FilmGrain::kMostScaling, shift) < deviation) {
    --shift;
  }
  return shift;
}

/// Values and their deviations, between which the curve is nearly linear.
std::vector<int> nodes_of(const Curve& curve, std::size_t most) {
  constexpr double kTolerance = 0.01;
  std::vector<int> nodes{0, kBrightnesses - 1};
  while (nodes.size() < most) {
    double worst = kTolerance;
    int at = -1;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const double slope = (curve[nodes[i + 1]] - curve[nodes[i]]) / (nodes[i + 1] - nodes[i]);
      for (int x = nodes[i] + 1; x < nodes[i + 1]; ++x) {
        const double error = std::abs(curve[nodes[i]] + slope * (x - nodes[i]) - curve[x]) / curve[x];
        if (error > worst) {
          worst = error;
          at = x;
        }
      }
    }
    if (at < 0) {
      break;
    }
    nodes.insert(std::ranges::upper_bound(nodes, at), at);
  }
  return nodes;
}

Curve curve_of(const PlaneNoise& noise, const FrameFormat& format) {
  Curve curve{};
  for (int x = 0; x < kBrightnesses; ++x) {
    const double relative = static_cast<double>(deviation_at(noise.shape.curve, static_cast<float>(x)));
    curve[x] = static_cast<double>(noise.sigma) * relative * format.code_value();
  }
  return curve;
}

}  // namespace

double filtered_variance(const Autoregression& filter) {
  constexpr int kRows = 64;
  constexpr int kColumns = 129;
  constexpr int kTail = 4;  // rows
  constexpr double kMostInTail = 1e-3;
  std::vector<double> response(static_cast<std::size_t>(kRows) * kColumns);  // to a single sample
  const auto at = [&](int y, int x) -> double& {
    return response[static_cast<std::size_t>(y) * kColumns + x];
  };
  double all = 0;
  double tail = 0;
  for (int y = 0; y < kRows; ++y) {
    for (int x = Autoregression::kLag; x < kColumns - Autoregression::kLag; ++x) {
      double& value = at(y, x);
      value = y == 0 && x == kColumns / 2 ? 1 : 0;
      for (std::size_t i = 0; i < kNeighborhood.size(); ++i) {
        const auto [dx, dy] = kNeighborhood[i];
        value += y + dy >= 0 ? filter.weights[i] * at(y + dy, x + dx) : 0;
      }
      all += value * value;
      tail += y >= kRows - kTail ? value * value : 0;
    }
  }
  return std::isfinite(all) && tail < kMostInTail * all ? all : std::numeric_limits<double>::infinity();
}

Autoregression autoregression_of(const NoiseShape& shape, double taper) {
  Autoregression result;
  if (shape.is_white()) {
    return result;
  }
  constexpr int kSpan = NoiseShape::kFrequencies;
  const std::array<double, 64> covariances = noise_covariance(shape);
  const auto covariance = [&](int dx, int dy) {
    const double factor = std::pow(taper, std::hypot(dx, dy));
    return factor * covariances[std::abs(dy) * kSpan + std::abs(dx)];
  };
  Equations equations{};
  Weights right{};
  for (std::size_t row = 0; row < kNeighborhood.size(); ++row) {
    for (std::size_t column = 0; column < kNeighborhood.size(); ++column) {
      equations[row][column] = covariance(kNeighborhood[row].dx - kNeighborhood[column].dx,
                                          kNeighborhood[row].dy - kNeighborhood[column].dy);
    }
    right[row] = covariance(kNeighborhood[row].dx, kNeighborhood[row].dy);
  }
  result.weights = solve(equations, right);
  return result;
}

void ChromaCorrelationMeter::Sums::add(const Sums& other) {
  luma += other.luma;
  chroma += other.chroma;
  both += other.both;
}

// Of second differences in a row of a block.
template <typename Sample>
ChromaCorrelationMeter::Sums ChromaCorrelationMeter::of_row(const Frame& frame, int plane, int y, int left) {
  Sums sums;
  const Sample* const row = frame.planes[plane].row<Sample>(y);
  for (int x = left + 1; x < left + kChromaBlockSide - 1; ++x) {
    const double chroma = row[x] - (row[x - 1] + row[x + 1]) / 2.0;
    const double luma = luma_at<Sample>(frame, y, x) -
                        (luma_at<Sample>(frame, y, x - 1) + luma_at<Sample>(frame, y, x + 1)) / 2.0;
    sums.add({luma * luma, chroma * chroma, luma * chroma});
  }
  return sums;
}

// Even rows of a block tell whether it is quiet, odd rows are measured: the noise of the measured rows must
// not influence the choice.
template <typename Sample>
ChromaCorrelationMeter::Sums ChromaCorrelationMeter::of_quiet_blocks(const Frame& frame, int plane) {
  struct Block {
    double energy = 0;
    Sums sums;
  };
  const int width = frame.format.width >> frame.format.chroma_shift_x;
  const int height = frame.format.height >> frame.format.chroma_shift_y;
  std::vector<Block> blocks;
  for (int top = 0; top + kChromaBlockSide <= height; top += kChromaBlockSide) {
    for (int left = 0; left + kChromaBlockSide <= width; left += kChromaBlockSide) {
      Block block;
      for (int y = top; y < top + kChromaBlockSide; y += 2) {
        block.energy += of_row<Sample>(frame, plane, y, left).luma;
        block.sums.add(of_row<Sample>(frame, plane, y + 1, left));
      }
      if (block.energy > 0) {  // not a block of a single value
        blocks.push_back(block);
      }
    }
  }
  std::ranges::sort(blocks, {}, &Block::energy);
  blocks.resize((blocks.size() + kQuietShare - 1) / kQuietShare);
  Sums sums;
  for (const Block& block : blocks) {
    sums.add(block.sums);
  }
  return sums;
}

void ChromaCorrelationMeter::add(const Frame& frame) {
  if (frame.format.color_model != ColorModel::kYuv) {
    return;
  }
  visit_samples(frame.format, [&](auto sample) {
    using Sample = decltype(sample);
    if constexpr (std::is_integral_v<Sample>) {
      sums_[0].add(of_quiet_blocks<Sample>(frame, 1));
      sums_[1].add(of_quiet_blocks<Sample>(frame, 2));
    }
  });
}

ChromaCorrelations ChromaCorrelationMeter::result() const {
  ChromaCorrelations result{};
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double scale = std::sqrt(sums_[i].luma * sums_[i].chroma);
    result[i] = scale > 0 ? sums_[i].both / scale : 0;
  }
  return result;
}

FilmGrain film_grain_of(const NoiseModel& noise, const FrameFormat& format, int seed,
                        const ChromaCorrelations& correlations) {
  const int planes = format.color_plane_count();
  FilmGrain grain;
  grain.seed = seed;
  set_coefficients(noise, format, correlations, grain);
  std::vector<Curve> curves;
  std::vector<GrainSamples> samples;
  for (int plane = 0; plane < planes; ++plane) {
    curves.push_back(curve_of(noise.plane(plane), format));
    samples.emplace_back(grain, format, plane);
    grain.scaling_shift = std::min(grain.scaling_shift,
                                   scaling_shift(*std::ranges::max_element(curves[plane]), samples[plane]));
  }
  for (int plane = 0; plane < planes; ++plane) {
    if (noise.sigma[plane] <= 0) {
      continue;
    }
    for (const int x : nodes_of(curves[plane], FilmGrain::kMaxPoints[plane])) {
      const double scaling = scaling_for(curves[plane][x], samples[plane], grain.scaling_shift);
      grain.points[plane].push_back({x, static_cast<int>(std::lround(scaling))});
    }
  }
  return for_format(std::move(grain), format);
}

}  // namespace limpid
