// SPDX-License-Identifier: MIT
#include "tests/oracle/vnlb.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include "core/motion/motion_field.h"
#include "core/vbm4d/trajectories.h"
#include "tests/oracle/along_motion.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/transforms.h"

namespace limpid::oracle {
namespace {

using Rows = std::vector<std::vector<double>>;  // of a matrix

// Replaces a symmetric matrix of `size` rows by its eigenvalues, on the diagonal, and computes its
// eigenvectors, as rows, by Jacobi's method.
void decompose(std::vector<double>& matrix, int size, std::vector<double>& eigenvectors) {
  eigenvectors.assign(static_cast<std::size_t>(size) * size, 0);
  for (int i = 0; i < size; ++i) {
    eigenvectors[i * size + i] = 1;
  }
  const auto at = [size](std::vector<double>& of, int row, int column) -> double& {
    return of[row * size + column];
  };
  for (int sweep = 0; sweep < 30; ++sweep) {
    double beside = 0;
    double all = 0;
    for (int p = 0; p < size; ++p) {
      for (int q = 0; q < size; ++q) {
        all += at(matrix, p, q) * at(matrix, p, q);
        beside += p == q ? 0 : at(matrix, p, q) * at(matrix, p, q);
      }
    }
    if (beside <= 1e-26 * all) {
      return;
    }
    for (int p = 0; p < size; ++p) {
      for (int q = p + 1; q < size; ++q) {
        if (at(matrix, p, q) == 0) {
          continue;
        }
        const double theta = (at(matrix, q, q) - at(matrix, p, p)) / (2 * at(matrix, p, q));
        const double tangent = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1));
        const double cosine = 1 / std::hypot(tangent, 1);
        const double sine = tangent * cosine;
        const auto rotate = [&](double& a, double& b) {
          const double turned = cosine * a - sine * b;
          b = sine * a + cosine * b;
          a = turned;
        };
        for (int i = 0; i < size; ++i) {
          rotate(at(matrix, i, p), at(matrix, i, q));
        }
        for (int i = 0; i < size; ++i) {
          rotate(at(matrix, p, i), at(matrix, q, i));
          rotate(at(eigenvectors, p, i), at(eigenvectors, q, i));
        }
      }
    }
  }
}

// The factor of an eigenvalue.
double factor_of(double x, const vnlb::EigenvalueFilter& filter) {
  const auto bound = double{filter.bound};
  double sign = (x - bound) / (x + bound);
  for (int round = 0; round < filter.rounds; ++round) {
    sign = sign * (3 - sign * sign) / 2;
  }
  return (1 + sign) / 2 * (double{filter.constant} + double{filter.inverse} / (x + bound));
}

class VnlbOracleStep final : public StepAlongMotion {
 public:
  VnlbOracleStep(const Segment& segment, const Vbm4dParameters& followed, bool second,
                 const VnlbParameters& parameters)
      : StepAlongMotion(segment, followed, second),
        before_(parameters.before),
        after_(parameters.after),
        own_(second ? *parameters.second : parameters.first) {}

 private:
  // True if the patch at `place` of picture t can have a slice in picture t + direction.
  bool has_slice(int t, Position place, int direction, int earliest, int latest) const {
    const int u = t + direction;
    if (u < earliest || u > latest || (direction < 0 ? segment_.cut_back[t] : segment_.cut_ahead[t])) {
      return false;
    }
    return !repeats({u, place}, {t, place});
  }

  void filter_group(int t, Position reference, const std::vector<std::vector<Picture>>& basic,
                    std::vector<Sums>& sums) override {
    const int earliest = std::max(t - span_.before, 0);
    const int latest = std::min(t + span_.after, segment_.size() - 1);
    const std::vector<std::pair<int, Position>> trajectory = follow(t, reference).places;
    int direction = 0;
    if (has_slice(t, reference, 1, earliest, latest)) {
      direction = 1;
    } else if (has_slice(t, reference, -1, earliest, latest)) {
      direction = -1;
    }
    const int slices = direction == 0 ? 1 : 2;
    // Ordered by distance and position, with the reference patch first.
    std::vector<std::tuple<std::int64_t, int, int, Position>> candidates = {{0, 0, t, reference}};
    for (const auto& [u, center] : trajectory) {
      if (u < t - before_ || u > t + after_ ||
          (u != t && direction != 0 && !has_slice(u, center, direction, earliest, latest))) {
        continue;
      }
      int side = u == t ? own_.search_window : own_.temporal_search_window;
      if (trajectory.size() == 1) {
        side = 2 * side + 1;
      }
      for (int y = center.y - side / 2; y <= center.y + side / 2; ++y) {
        for (int x = center.x - side / 2; x <= center.x + side / 2; ++x) {
          if (!is_inside({x, y}) || (u == t && x == reference.x && y == reference.y)) {
            continue;
          }
          std::int64_t difference = 0;
          for (int s = 0; s < slices; ++s) {
            difference += distance(t + s * direction, reference, u + s * direction, {x, y});
          }
          candidates.emplace_back(difference, static_cast<int>(candidates.size()), u, Position{x, y});
        }
      }
    }
    std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
    });
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(own_.group_size)));

    const auto load = [&](const auto& picture) {
      Rows patches;
      for (const auto& [difference, order, u, place] : candidates) {
        std::vector<double> patch;
        patch.reserve(static_cast<std::size_t>(slices) * kPatchSide * kPatchSide);
        for (int s = 0; s < slices; ++s) {
          for (int i = 0; i < kPatchSide * kPatchSide; ++i) {
            patch.push_back(
                picture(u + s * direction).at(place.x + i % kPatchSide, place.y + i / kPatchSide));
          }
        }
        patches.push_back(patch);
      }
      return patches;
    };
    Rows noisy = load([&](int u) -> const Picture& { return segment_.planes[u][plane_]; });
    Rows guide = second_ ? load([&](int u) -> const Picture& { return basic[u][plane_]; }) : noisy;
    const std::vector<double> mean = subtract_mean(noisy);
    const std::vector<double> guide_mean = subtract_mean(guide);
    double brightness = 0;
    for (const double value : guide_mean) {
      brightness += value / static_cast<double>(guide_mean.size());
    }
    const PlaneNoise& noise = segment_.noise[t][plane_];
    const double deviation =
        curve_at(noise.shape, plane_ > 0 ? brightness_in_guide(t, reference) : brightness);
    // Both are scaled to white noise, and the estimate is scaled back.
    transform(noisy, t, deviation, true);
    transform(guide, t, deviation, true);
    shrink(noisy, guide);
    transform(noisy, t, deviation, false);
    const auto least = double{*std::min_element(noise.shape.curve.begin(), noise.shape.curve.end())};
    const double weight = std::pow(least / deviation, 2);
    for (std::size_t p = 0; p < candidates.size(); ++p) {
      const auto& [difference, order, u, place] = candidates[p];
      for (int s = 0; s < slices; ++s) {
        const int picture = u + s * direction;
        if (picture < t - span_.spread) {
          continue;
        }
        for (int i = 0; i < kPatchSide * kPatchSide; ++i) {
          const int x = i % kPatchSide;
          const int y = i / kPatchSide;
          const int k = s * kPatchSide * kPatchSide + i;
          const double sample_weight = weight * window_[x] * window_[y];
          sums[picture].numerator.at(place.x + x, place.y + y) += sample_weight * (noisy[p][k] + mean[k]);
          sums[picture].denominator.at(place.x + x, place.y + y) += sample_weight;
        }
      }
    }
  }

  static std::vector<double> subtract_mean(Rows& patches) {
    std::vector<double> mean(patches[0].size());
    for (const auto& patch : patches) {
      for (std::size_t k = 0; k < mean.size(); ++k) {
        mean[k] += patch[k] / static_cast<double>(patches.size());
      }
    }
    for (auto& patch : patches) {
      for (std::size_t k = 0; k < mean.size(); ++k) {
        patch[k] -= mean[k];
      }
    }
    return mean;
  }

  // Converts slices to coefficients divided by their noise's standard deviations, or back.
  void transform(Rows& patches, int t, double deviation, bool forward) const {
    constexpr std::size_t kSamples = kPatchSide * kPatchSide;
    const std::vector<double>& variance = coefficient_variances(t);
    for (auto& patch : patches) {
      for (std::size_t slice = 0; slice < patch.size(); slice += kSamples) {
        double* const samples = &patch[slice];
        if (forward) {
          transform_patch(samples, true);
        }
        for (std::size_t i = 0; i < kSamples; ++i) {
          const double unit = std::sqrt(variance[i]) * deviation;
          samples[i] = forward ? samples[i] / unit : samples[i] * unit;
        }
        if (!forward) {
          transform_patch(samples, false);
        }
      }
    }
  }

  void shrink(Rows& noisy, const Rows& guide) const {
    const int count = static_cast<int>(noisy.size());
    const std::size_t samples = noisy[0].size();
    if (count == 1) {
      return;
    }
    std::vector<double> products(static_cast<std::size_t>(count) * count);
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        for (std::size_t k = 0; k < samples; ++k) {
          products[i * count + j] += guide[i][k] * guide[j][k] / (count - 1);
        }
      }
    }
    std::vector<double> vectors;
    const float least = trace(products, count) / (1 << 20);
    decompose(products, count, vectors);
    const auto edge =
        static_cast<float>(std::pow(1 + std::sqrt(static_cast<double>(samples) / (count - 1)), 2));
    Rows result(count, std::vector<double>(samples));
    for (int e = 0; e < count; ++e) {
      const double x = products[e * count + e];
      const double factor = second_ ? x * factor_of(x, {std::max(0.8F, least), 2, 0, 1})
                                    : factor_of(x, {std::max(edge, least), 4, 1, -2});
      if (x < 1e-12) {
        continue;
      }
      // A unit vector in the space of patches, and each patch's component along it.
      std::vector<double> direction(samples);
      for (int i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < samples; ++k) {
          direction[k] += vectors[e * count + i] * guide[i][k] / std::sqrt(x * (count - 1));
        }
      }
      for (int i = 0; i < count; ++i) {
        double part = 0;
        for (std::size_t k = 0; k < samples; ++k) {
          part += direction[k] * noisy[i][k];
        }
        for (std::size_t k = 0; k < samples; ++k) {
          result[i][k] += factor * part * direction[k];
        }
      }
    }
    noisy = result;
  }

  int before_;
  int after_;
  VnlbStep own_;
};

}  // namespace

std::vector<double> filter_eigenvalues(std::vector<double> matrix, int size,
                                       const vnlb::EigenvalueFilter& filter) {
  std::vector<double> vectors;
  decompose(matrix, size, vectors);
  std::vector<double> result(matrix.size());
  for (int k = 0; k < size; ++k) {
    const double factor = factor_of(matrix[k * size + k], filter);
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        result[i * size + j] += factor * vectors[k * size + i] * vectors[k * size + j];
      }
    }
  }
  return result;
}

float trace(const std::vector<double>& matrix, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    sum += matrix[i * size + i];
  }
  return static_cast<float>(sum);
}

std::vector<double> make_products(int size, int rank, double greatest, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> products(static_cast<std::size_t>(size) * size);
  for (int r = 0; r < rank; ++r) {
    std::vector<double> vector(size);
    for (double& value : vector) {
      value = normal(random) * (r == 0 ? greatest : 1);
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        products[i * size + j] += vector[i] * vector[j];
        products[i * size + j] += ((i + j) % 2 == 0 ? 1 : -1) * vector[std::min(i ^ 1, size - 1)] *
                                  vector[std::min(j ^ 1, size - 1)];
      }
    }
  }
  return products;
}

std::vector<Frame> denoise(const std::vector<Frame>& frames, const VnlbParameters& parameters,
                           const std::vector<NoiseModel>& noise) {
  return denoise_along_motion(frames, followed_like(parameters), noise,
                              [&](const Segment& segment, const Vbm4dParameters& followed, bool second) {
                                return std::make_unique<VnlbOracleStep>(segment, followed, second,
                                                                        parameters);
                              });
}

}  // namespace limpid::oracle
