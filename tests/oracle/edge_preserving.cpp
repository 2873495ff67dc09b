// SPDX-License-Identifier: MIT
#include "tests/oracle/edge_preserving.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>

namespace limpid::oracle {
namespace {

struct Point {
  int x = 0;
  int y = 0;
};

double square(double x) { return x * x; }
double gaussian(double squared_difference, double sigma) {
  return std::exp(-squared_difference / (2 * square(sigma)));
}
double squared_distance(Point p, Point q) { return square(p.x - q.x) + square(p.y - q.y); }
double squared_difference(const Picture& in, Point p, Point q) {
  return square(in.at(p.x, p.y) - in.at(q.x, q.y));
}

// sum w(p, q) f(q) / sum w(p, q) over the samples at most `radius` rows and columns from p.
double weighted_mean(const Picture& in, Point p, int radius, const std::function<double(Point)>& weight,
                     const std::function<double(Point)>& value) {
  double sum = 0;
  double weights = 0;
  for (int y = std::max(p.y - radius, 0); y <= std::min(p.y + radius, in.height - 1); ++y) {
    for (int x = std::max(p.x - radius, 0); x <= std::min(p.x + radius, in.width - 1); ++x) {
      const double w = weight({x, y});
      sum += w * value({x, y});
      weights += w;
    }
  }
  return sum / weights;
}

// The values that are compared in patches.
Picture matching_values(const Picture& in, const FrameFormat& format) {
  Picture values = in;
  if (format.sample_type != SampleType::kUint8) {
    for (double& value : values.samples) {
      value = std::clamp(std::floor(4 * (value - 128) + 0.5), -1023.0, 1023.0) / 4;
    }
  }
  return values;
}

double patch_distance(const Picture& values, Point p, Point q, int radius) {
  const auto inside = [&](int x, int y) { return x >= 0 && x < values.width && y >= 0 && y < values.height; };
  double sum = 0;
  int count = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      if (inside(p.x + dx, p.y + dy) && inside(q.x + dx, q.y + dy)) {
        sum += squared_difference(values, {p.x + dx, p.y + dy}, {q.x + dx, q.y + dy});
        ++count;
      }
    }
  }
  return sum / count;
}

double filtered(const Picture& in, const Picture& /*values*/, Point p, const BilateralParameters& parameters,
                double /*sigma*/) {
  return weighted_mean(
      in, p, *parameters.radius,
      [&](Point q) {
        return gaussian(squared_distance(p, q), static_cast<double>(*parameters.spatial_sigma)) *
               gaussian(squared_difference(in, p, q), static_cast<double>(*parameters.range_sigma));
      },
      [&](Point q) { return in.at(q.x, q.y); });
}

double filtered(const Picture& in, const Picture& values, Point p,
                const AdaptiveBilateralParameters& parameters, double sigma) {
  const auto spatial = static_cast<double>(*parameters.spatial_sigma);
  const double variance = weighted_mean(
      in, p, *parameters.radius,
      [&](Point q) {
        return gaussian(squared_distance(p, q), spatial) *
               gaussian(squared_difference(in, p, q), static_cast<double>(*parameters.range_sigma));
      },
      [&](Point q) { return squared_difference(in, p, q); });
  const auto epsilon = static_cast<double>(parameters.epsilon);
  const double range =
      static_cast<double>(*parameters.kappa) * std::sqrt(std::max(variance + epsilon, epsilon));
  const BilateralParameters second{parameters.radius, parameters.spatial_sigma, static_cast<float>(range)};
  return filtered(in, values, p, second, sigma);
}

double filtered(const Picture& in, const Picture& values, Point p, const NlmParameters& parameters,
                double sigma) {
  return weighted_mean(
      in, p, *parameters.search_window / 2,
      [&](Point q) {
        const double distance = patch_distance(values, p, q, *parameters.patch_size / 2);
        return std::exp(-std::max(distance - 2 * square(sigma), 0.0) /
                        square(static_cast<double>(*parameters.h)));
      },
      [&](Point q) { return in.at(q.x, q.y); });
}

double filtered(const Picture& in, const Picture& values, Point p, const NlmBilateralParameters& parameters,
                double /*sigma*/) {
  const int radius =
      *parameters.search_window == 0 ? std::max(in.width, in.height) : *parameters.search_window / 2;
  return weighted_mean(
      in, p, radius,
      [&](Point q) {
        const double distance = patch_distance(values, p, q, *parameters.patch_size / 2);
        const double spatial =
            parameters.spatial_sigma
                ? gaussian(squared_distance(p, q), static_cast<double>(*parameters.spatial_sigma))
                : 1;
        return gaussian(distance, static_cast<double>(*parameters.patch_sigma)) * spatial *
               gaussian(squared_difference(in, p, q), static_cast<double>(*parameters.range_sigma));
      },
      [&](Point q) { return in.at(q.x, q.y); });
}

Picture filter_picture(const Picture& in, const FrameFormat& format, const Filter& filter, float sigma) {
  const Picture values = matching_values(in, format);
  Picture out = in;
  std::visit(
      [&](const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        if constexpr (std::is_convertible_v<Parameters, EdgePreservingFilter>) {
          const auto resolved = resolve(parameters, sigma);
          for (int y = 0; y < in.height; ++y) {
            for (int x = 0; x < in.width; ++x) {
              out.at(x, y) = filtered(in, values, {x, y}, resolved, static_cast<double>(sigma));
            }
          }
        }
      },
      filter);
  return out;
}

}  // namespace

std::vector<Picture> filter_planes(const Frame& frame, const Filter& filter, const NoiseModel& noise) {
  std::vector<Picture> planes;
  for (int plane = 0; plane < frame.format.color_plane_count(); ++plane) {
    Picture picture = to_picture(frame, plane);
    const int fields = frame.interlaced ? 2 : 1;
    for (int parity = 0; parity < fields && noise.sigma[plane] > 0; ++parity) {
      Picture field{picture.width, (picture.height + fields - 1 - parity) / fields, {}};
      field.samples.resize(static_cast<std::size_t>(field.width) * field.height);
      const auto copy = [&](const auto& sample) {
        for (int y = 0; y < field.height; ++y) {
          for (int x = 0; x < field.width; ++x) {
            sample(field.at(x, y), picture.at(x, y * fields + parity));
          }
        }
      };
      copy([](double& in_field, double in_picture) { in_field = in_picture; });
      field = filter_picture(field, frame.format, filter, noise.sigma[plane]);
      copy([](double in_field, double& in_picture) { in_picture = in_field; });
    }
    planes.push_back(std::move(picture));
  }
  return planes;
}

}  // namespace limpid::oracle
