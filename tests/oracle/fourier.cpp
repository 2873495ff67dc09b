// SPDX-License-Identifier: MIT
#include "tests/oracle/fourier.h"

#include <fftw3.h>

#include <algorithm>
#include <complex>
#include <functional>

#include "tests/oracle/transforms.h"

namespace limpid::oracle {
namespace {

using Spectrum = std::vector<std::complex<double>>;

// Orthonormal, so that noise has equal standard deviations in samples and coefficients.
Spectrum transformed(Spectrum values, int patches, int patch_size, int sign) {
  auto* data = reinterpret_cast<fftw_complex*>(values.data());
  fftw_plan plan = fftw_plan_dft_3d(patches, patch_size, patch_size, data, data, sign, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  for (std::complex<double>& value : values) {
    value /= std::sqrt(static_cast<double>(values.size()));
  }
  return values;
}

Spectrum spectrum(const Picture& picture, const Group& group, int k) {
  Spectrum values;
  for (const Position& patch : group) {
    for (int y = 0; y < k; ++y) {
      for (int x = 0; x < k; ++x) {
        values.emplace_back(picture.at(patch.x + x, patch.y + y));
      }
    }
  }
  return transformed(values, static_cast<int>(group.size()), k, FFTW_FORWARD);
}

// `shrink` changes a group's spectrum and returns the group's weight.
Picture filter(const Picture& noisy, const std::vector<Group>& groups, const Bm3dStep& step,
               const std::function<double(const Group&, Spectrum&)>& shrink) {
  const int k = step.patch_size;
  const std::vector<double> window = kaiser_line(k, static_cast<double>(step.kaiser_beta));
  Picture numerator{noisy.width, noisy.height, std::vector<double>(noisy.samples.size(), 0.0)};
  Picture denominator = numerator;
  for (const Group& group : groups) {
    Spectrum values = spectrum(noisy, group, k);
    const double weight = shrink(group, values);
    values = transformed(values, static_cast<int>(group.size()), k, FFTW_BACKWARD);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int sample = static_cast<int>(i) % (k * k);
      const int x = sample % k;
      const int y = sample / k;
      const Position& patch = group[i / (k * k)];
      numerator.at(patch.x + x, patch.y + y) += weight * window[x] * window[y] * values[i].real();
      denominator.at(patch.x + x, patch.y + y) += weight * window[x] * window[y];
    }
  }
  for (std::size_t i = 0; i < numerator.samples.size(); ++i) {
    numerator.samples[i] /= denominator.samples[i];
  }
  return numerator;
}

}  // namespace

Picture fourier_hard_threshold(const Picture& noisy, const std::vector<Group>& groups, const Bm3dStep& step,
                               double lambda, const PlaneNoise& noise) {
  return filter(noisy, groups, step, [&](const Group& /*group*/, Spectrum& values) {
    double kept = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0 && std::abs(values[i]) <= lambda * double{noise.sigma}) {
        values[i] = 0;
      } else {
        ++kept;
      }
    }
    return 1 / kept;
  });
}

Picture fourier_wiener(const Picture& noisy, const Picture& basic, const std::vector<Group>& groups,
                       const Bm3dStep& step, const PlaneNoise& noise) {
  return filter(noisy, groups, step, [&](const Group& group, Spectrum& values) {
    const Spectrum estimate = spectrum(basic, group, step.patch_size);
    double energy = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double signal = std::norm(estimate[i]);
      const double factor = signal / (signal + std::pow(double{noise.sigma}, 2));
      values[i] *= factor;
      energy += factor * factor;
    }
    return 1 / std::max(1.0, energy);
  });
}

}  // namespace limpid::oracle
