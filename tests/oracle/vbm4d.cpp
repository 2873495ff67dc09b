// SPDX-License-Identifier: MIT
#include "tests/oracle/vbm4d.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "tests/oracle/along_motion.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/transforms.h"

namespace limpid::oracle {
namespace {

class Vbm4dOracleStep final : public StepAlongMotion {
 public:
  using StepAlongMotion::StepAlongMotion;

 private:
  // The reference patch and those similar to it, in picture t.
  std::vector<Position> members(int t, Position reference, const Trajectory& trajectory) const {
    const int frames = static_cast<int>(trajectory.places.size());
    std::vector<Position> result = {reference};
    const int most_of_lost = step_.spacing > 4 ? 16 : guide_is_clean(t) ? 10 : 8;
    const int most =
        trajectory.lost && frames > 1 ? std::min(step_.max_group_size, most_of_lost) : step_.max_group_size;
    int wanted = 1;
    while (2 * wanted * frames <= most) {
      wanted *= 2;
    }
    if (wanted == 1) {
      return result;
    }
    constexpr double kUnit = kPatchSide * kPatchSide;
    const double limit = std::floor(static_cast<double>(step_.max_distance) * kUnit);
    const auto expected =
        static_cast<std::int64_t>(guide_is_clean(t) ? 0 : std::floor(std::min(variances(t, 2), limit / 2)));
    std::vector<std::tuple<std::int64_t, int, int>> found;
    const int radius = step_.search_window / 2;
    for (int y = reference.y - radius; y <= reference.y + radius; ++y) {
      for (int x = reference.x - radius; x <= reference.x + radius; ++x) {
        if (!is_inside({x, y}) || (x == reference.x && y == reference.y)) {
          continue;
        }
        const std::int64_t off = std::abs(distance(t, reference, t, {x, y}) - expected);
        if (static_cast<double>(off) <= limit - static_cast<double>(expected)) {
          found.emplace_back(off, y, x);
        }
      }
    }
    std::sort(found.begin(), found.end());
    int count = 1;
    while (2 * count <= wanted && 2 * count <= static_cast<int>(found.size()) + 1) {
      count *= 2;
    }
    for (int i = 0; i + 1 < count; ++i) {
      result.push_back({std::get<2>(found[i]), std::get<1>(found[i])});
    }
    return result;
  }

  using Spectrum = std::vector<std::array<double, 64>>;

  // The patches' 2D spectra, transformed over time and across members; or the inverse.
  void transform(Spectrum& group, int frames, bool forward) const {
    const int members = static_cast<int>(group.size()) / frames;
    const Transform over_time = make_transform(Transform2d::kDct, frames);
    const Transform across = make_transform(Transform1d::kHaar, members);
    for (auto& patch : group) {
      transform_patch(patch.data(), forward);
    }
    Spectrum result(group.size());
    for (int k = 0; k < frames; ++k) {
      for (int j = 0; j < members; ++j) {
        for (int f = 0; f < frames; ++f) {
          for (int m = 0; m < members; ++m) {
            const double factor = (forward ? over_time.forward : over_time.inverse).at(k, f) *
                                  (forward ? across.forward : across.inverse).at(j, m);
            for (int i = 0; i < 64; ++i) {
              result[k * members + j][i] += factor * group[f * members + m][i];
            }
          }
        }
      }
    }
    group = result;
  }

  void filter_group(int t, Position reference, const std::vector<std::vector<Picture>>& basic,
                    std::vector<Sums>& sums) override {
    const Trajectory trajectory = follow(t, reference);
    const int frames = static_cast<int>(trajectory.places.size());
    const std::vector<Position> similar = members(t, reference, trajectory);
    std::vector<std::pair<int, Position>> places;
    // In quarters of a sample, 0 to 3, to the right of and below these positions.
    std::vector<Position> behind;
    for (const auto& [u, now] : trajectory.places) {
      const Beside beside = u == t ? Beside() : find_beside(t, reference, u, now);
      const int whole_x = now.x + (beside.x < 0 ? -1 : 0);
      const int whole_y = now.y + (beside.y < 0 ? -1 : 0);
      for (const Position& member : similar) {
        const Position place = confined(member.x + whole_x - reference.x, member.y + whole_y - reference.y);
        places.emplace_back(u, place);
        behind.push_back(is_surrounded(place) ? Position{beside.x & 3, beside.y & 3} : Position());
      }
    }
    const auto load = [&](const std::function<const Picture&(int)>& picture) {
      Spectrum group(places.size());
      for (std::size_t p = 0; p < places.size(); ++p) {
        const auto& [u, place] = places[p];
        for (int i = 0; i < 64; ++i) {
          for (int y = -2; y <= 3; ++y) {
            for (int x = -2; x <= 3; ++x) {
              const double weight =
                  interpolation_weight(behind[p].x, x) * interpolation_weight(behind[p].y, y);
              if (weight != 0) {
                group[p][i] += weight / (64 * 64) *
                               picture(u).at(place.x + i % kPatchSide + x, place.y + i / kPatchSide + y);
              }
            }
          }
        }
      }
      return group;
    };
    Spectrum noisy = load([&](int u) -> const Picture& { return segment_.planes[u][plane_]; });
    Spectrum guide = second_ ? load([&](int u) -> const Picture& { return basic[u][plane_]; }) : noisy;
    double mean = 0;
    for (const auto& patch : guide) {
      for (const double sample : patch) {
        mean += sample / static_cast<double>(64 * guide.size());
      }
    }
    transform(noisy, frames, true);
    transform(guide, frames, true);
    const PlaneNoise& noise = segment_.noise[t][plane_];
    const std::vector<double>& variance = coefficient_variances(t);
    const double deviation = curve_at(noise.shape, plane_ > 0 ? brightness_in_guide(t, reference) : mean);
    const double sigma2 = std::pow(double{noise.sigma}, 2);
    // Variance of the mean of `frames` frames' noise, times their number.
    double constant_variance = 0;
    for (int f = 0; f < frames; ++f) {
      for (int g = 0; g < frames; ++g) {
        constant_variance += std::pow(double{noise.shape.repetition}, std::abs(f - g)) / frames;
      }
    }
    const double constant_deviation = std::sqrt(constant_variance);
    double left = 0;
    for (std::size_t p = 0; p < noisy.size(); ++p) {
      for (int i = 0; i < 64; ++i) {
        // For one frame it is the noise's; for several, the first `members` coefficients are constant over
        // time.
        const double taken = frames == 1          ? 1.0
                             : p < similar.size() ? double{step_.constant_threshold} * constant_deviation
                                                  : double{step_.changing_threshold};
        const double coefficient_variance = variance[i] * deviation * deviation * taken * taken;
        if (second_) {
          const double signal = guide[p][i] * guide[p][i];
          const double factor = signal / (signal + coefficient_variance);
          noisy[p][i] *= factor;
          left += factor * factor * variance[i] / sigma2;
        } else if ((p > 0 || i > 0) && std::abs(noisy[p][i]) <= double{parameters_.lambda} *
                                                                    std::sqrt(coefficient_variance) *
                                                                    (1 - 0x1p-14)) {
          noisy[p][i] = 0;
        } else {
          left += variance[i] / sigma2;
        }
      }
    }
    // Relative to groups of the brightness with the least noise.
    const auto least = double{*std::min_element(noise.shape.curve.begin(), noise.shape.curve.end())};
    const double weight = std::pow(least / deviation, 2) / std::max(left, 1.0);
    transform(noisy, frames, false);
    for (std::size_t p = 0; p < noisy.size(); ++p) {
      const auto& [u, place] = places[p];
      if (u < t - span_.spread || behind[p].x != 0 || behind[p].y != 0) {
        continue;
      }
      for (int i = 0; i < 64; ++i) {
        const int x = i % kPatchSide;
        const int y = i / kPatchSide;
        const double sample_weight = weight * window_[x] * window_[y];
        sums[u].numerator.at(place.x + x, place.y + y) += sample_weight * noisy[p][i];
        sums[u].denominator.at(place.x + x, place.y + y) += sample_weight;
      }
    }
  }
};

}  // namespace

std::vector<Frame> denoise(const std::vector<Frame>& frames, const Vbm4dParameters& parameters,
                           const std::vector<NoiseModel>& noise) {
  return denoise_along_motion(frames, parameters, noise,
                              [](const Segment& segment, const Vbm4dParameters& its_parameters, bool second) {
                                return std::make_unique<Vbm4dOracleStep>(segment, its_parameters, second);
                              });
}

}  // namespace limpid::oracle
