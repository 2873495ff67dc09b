// SPDX-License-Identifier: MIT
#include "tests/oracle/clipping.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "tests/oracle/bm3d.h"

namespace limpid::oracle {
namespace {

// The share of unit normal noise below z.
double below(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

// Code values from one end of the range.
struct End {
  std::function<double(double)> sigma_at;

  // The mean of noise around `truth`, clipped at the end.
  double mean(double truth) const {
    const double sigma = sigma_at(truth);
    const double z = truth / sigma;
    return truth * below(z) + sigma * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }
  double truth_of(double estimate) const {
    if (estimate <= mean(0)) {
      return 0;
    }
    double low = 0;
    double high = 260;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (mean(middle) < estimate ? low : high) = middle;
    }
    return low;
  }
  double share_at_end(double truth, double half_a_sample) const {
    return below((half_a_sample - truth) / sigma_at(truth));
  }
  bool counts(double distance) const {
    return distance > 0.45 * sigma_at(0) && distance <= 1.3 * sigma_at(0);
  }
};

}  // namespace

void undo_clipping(const Frame& noisy, const NoiseModel& noise, Frame& out) {
  const FrameFormat& format = out.format;
  const int planes = format.color_model == ColorModel::kRgb ? 3 : 1;
  for (int p = 0; p < planes; ++p) {
    const PlaneNoise of_plane = noise.plane(p);
    if (format.sample_type == SampleType::kFloat32 || of_plane.sigma < 2) {
      continue;
    }
    const double sample = 1 / format.code_value();
    const double greatest = (std::exp2(format.bit_depth) - 1) * sample;
    const auto sigma_at = [&](double brightness) {
      return static_cast<double>(of_plane.sigma) * curve_at(of_plane.shape, brightness);
    };
    const End ends[2] = {{sigma_at}, {[&](double distance) { return sigma_at(greatest - distance); }}};
    Picture estimate = to_picture(out, p);
    const Picture samples = to_picture(noisy, p);
    double weights[2];
    std::map<double, double> shifts[2];  // by distance
    for (int e = 0; e < 2; ++e) {
      const auto distance_of = [&](double value) { return e == 0 ? value : greatest - value; };
      std::map<double, double> shares;
      double expected = 0;
      double found = 0;
      for (std::size_t i = 0; i < samples.samples.size(); ++i) {
        const double distance = distance_of(estimate.samples[i]);
        const double whole = std::floor(distance + 0.5);
        if (ends[e].counts(whole)) {
          if (!shares.contains(whole)) {
            shares[whole] = ends[e].share_at_end(ends[e].truth_of(whole), sample / 2);
          }
          expected += shares[whole];
          found += distance_of(samples.samples[i]) == 0 ? 1 : 0;
        }
        if (!shifts[e].contains(distance)) {
          shifts[e][distance] = distance > 5 * ends[e].sigma_at(0) + 5 * ends[e].sigma_at(distance)
                                    ? 0
                                    : distance - ends[e].truth_of(distance);
        }
      }
      weights[e] = expected < 32 ? 0 : 0.75 * std::clamp((found / expected - 0.25) / 0.5, 0.0, 1.0);
    }
    for (double& value : estimate.samples) {
      value += weights[1] * shifts[1][greatest - value] - weights[0] * shifts[0][value];
    }
    store(estimate, out, p);
  }
}

}  // namespace limpid::oracle
