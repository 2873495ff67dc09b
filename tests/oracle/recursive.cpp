// SPDX-License-Identifier: MIT
#include "tests/oracle/recursive.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numbers>

#include "core/bm3d/transforms.h"
#include "core/motion/motion_field.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/clipping.h"
#include "tests/oracle/motion.h"
#include "tests/oracle/transforms.h"

namespace limpid::oracle {
namespace recursion {
namespace {

constexpr int kSide = 8;  // of patches, and of blocks of motion
constexpr int kArea = kSide * kSide;

struct EighthsOfSamples {
  int x = 0;
  int y = 0;
};

// Where each block of luma comes from.
struct BlockMotion {
  int columns = 0;
  int rows = 0;
  std::vector<EighthsOfSamples> vectors;

  const EighthsOfSamples& at(int luma_x, int luma_y) const {
    return vectors[std::min(luma_y / kSide, rows - 1) * columns + std::min(luma_x / kSide, columns - 1)];
  }
};

// What is kept of a component.
struct Kept {
  Picture noisy;
  Picture merged;
  Picture result;
  Picture variances;  // of cells of 8 x 8 samples
};

// A component of a picture, as it is filtered.
struct Component {
  bool filtered = false;
  int shift_x = 0;
  int shift_y = 0;
  PlaneNoise noise;
  bool has_curve = false;
  Picture noisy;
  Picture first_estimate;
  Picture prior;
  Picture pilot;
  Picture state_variances;  // of blocks of luma, along motion
};

double clamped_at(const Picture& picture, int x, int y) {
  return picture.at(std::clamp(x, 0, picture.width - 1), std::clamp(y, 0, picture.height - 1));
}

BytePicture bytes_of(const Picture& picture) {
  BytePicture bytes{picture.width, picture.height, {}};
  for (const double sample : picture.samples) {
    bytes.samples.push_back(static_cast<std::uint8_t>(std::clamp(std::floor(sample + 0.5), 0.0, 255.0)));
  }
  return bytes;
}

// Smoothed by 1 2 1 along both axes.
BytePicture smoothed_guide(const BytePicture& picture) {
  BytePicture result = picture;
  constexpr int kWeights[] = {1, 2, 1};
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      int sum = 8;
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) {
          sum += kWeights[j + 1] * kWeights[i + 1] * picture.at(x + i, y + j);
        }
      }
      result.samples[static_cast<std::size_t>(y) * picture.width + x] = static_cast<std::uint8_t>(sum / 16);
    }
  }
  return result;
}

// One step of Gauss and Newton beside a whole vector, in eighths of a sample.
EighthsOfSamples fraction(const BytePicture& reference, const BytePicture& current, int left, int top,
                          const MotionVector& whole, float sigma) {
  double xx = 16384;
  double yy = 16384;
  double xy = 0;
  double xt = 0;
  double yt = 0;
  int before = 0;
  const auto for_each = [&](const auto& function) {
    for (int y = top - 4; y < top + 12; ++y) {
      for (int x = left - 4; x < left + 12; ++x) {
        function(x, y, x + whole.x, y + whole.y);
      }
    }
  };
  for_each([&](int x, int y, int u, int v) {
    const int dx = reference.at(u + 1, v) - reference.at(u - 1, v);
    const int dy = reference.at(u, v + 1) - reference.at(u, v - 1);
    const int t = current.at(x, y) - reference.at(u, v);
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
    xt += dx * t;
    yt += dy * t;
    before += std::abs(t);
  });
  const double determinant = xx * yy - xy * xy;
  const auto eighths = [&](double numerator) {
    return std::clamp(static_cast<int>(std::round(16 * numerator / determinant)), -8, 8);
  };
  const EighthsOfSamples found = {eighths(yy * xt - xy * yt), eighths(xx * yt - xy * xt)};
  if (found.x == 0 && found.y == 0) {
    return {};
  }
  int after = 0;
  const int rest_x = found.x & 7;
  const int rest_y = found.y & 7;
  for_each([&](int x, int y, int u, int v) {
    u += found.x >> 3;
    v += found.y >> 3;
    const int value = (8 - rest_y) * ((8 - rest_x) * reference.at(u, v) + rest_x * reference.at(u + 1, v)) +
                      rest_y * ((8 - rest_x) * reference.at(u, v + 1) + rest_x * reference.at(u + 1, v + 1));
    after += std::abs(current.at(x, y) - ((value + 32) >> 6));
  });
  return after < before - static_cast<int>(4 * sigma) ? found : EighthsOfSamples{};
}

BlockMotion follow(const Picture& reference, const Picture& current, float sigma) {
  const BytePicture from = bytes_of(reference);
  const BytePicture to = bytes_of(current);
  const MotionField field = find_motion(from, to);
  const BytePicture smooth_from = smoothed_guide(from);
  const BytePicture smooth_to = smoothed_guide(to);
  BlockMotion motion{field.columns, field.rows, {}};
  for (int row = 0; row < field.rows; ++row) {
    for (int column = 0; column < field.columns; ++column) {
      const MotionVector& whole = field.vectors[static_cast<std::size_t>(row) * field.columns + column];
      const EighthsOfSamples rest =
          fraction(smooth_from, smooth_to, column * kSide, row * kSide, whole, sigma);
      motion.vectors.push_back({8 * whole.x + rest.x, 8 * whole.y + rest.y});
    }
  }
  return motion;
}

int in_plane(int eighths, int shift) {
  return shift == 0 ? eighths : static_cast<int>(std::floor(eighths / std::pow(2.0, shift) + 0.5));
}

// Lanczos's kernel of four lobes, at eighths of a sample.
std::vector<double> kernel(int eighths) {
  const auto sinc = [](double x) {
    return x == 0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
  };
  std::vector<double> taps;
  double sum = 0;
  for (int i = -3; i <= 4; ++i) {
    const double x = i - eighths / 8.0;
    taps.push_back(std::abs(x) < 4 ? sinc(x) * sinc(x / 4) : 0);
    sum += taps.back();
  }
  for (double& tap : taps) {
    tap /= sum;
  }
  return taps;
}

Picture warped(const Picture& picture, const BlockMotion& motion, const Component& component) {
  Picture result = picture;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const EighthsOfSamples& vector = motion.at(x << component.shift_x, y << component.shift_y);
      const int vx = in_plane(vector.x, component.shift_x);
      const int vy = in_plane(vector.y, component.shift_y);
      const std::vector<double> across = kernel(vx & 7);
      const std::vector<double> down = kernel(vy & 7);
      double sum = 0;
      for (int j = 0; j < kSide; ++j) {
        for (int i = 0; i < kSide; ++i) {
          sum += down[j] * across[i] * clamped_at(picture, x + (vx >> 3) + i - 3, y + (vy >> 3) + j - 3);
        }
      }
      result.at(x, y) = sum;
    }
  }
  return result;
}

// The variances of the cells around a place, weighted by how near their centers are.
double variance_at(const Picture& cells, double x, double y) {
  const double column = std::clamp((x - 3.5) / kSide, 0.0, cells.width - 1.0);
  const double row = std::clamp((y - 3.5) / kSide, 0.0, cells.height - 1.0);
  double sum = 0;
  for (int j = 0; j < cells.height; ++j) {
    for (int i = 0; i < cells.width; ++i) {
      sum += std::max(0.0, 1 - std::abs(i - column)) * std::max(0.0, 1 - std::abs(j - row)) * cells.at(i, j);
    }
  }
  return sum;
}

Picture warped_variances(const Picture& cells, const BlockMotion& motion, const Component& component) {
  Picture result{motion.columns, motion.rows, {}};
  const int width = kSide >> component.shift_x;
  const int height = kSide >> component.shift_y;
  for (int row = 0; row < motion.rows; ++row) {
    for (int column = 0; column < motion.columns; ++column) {
      const EighthsOfSamples& vector = motion.at(column * kSide, row * kSide);
      result.samples.push_back(
          variance_at(cells, column * width + (width - 1) / 2.0 + in_plane(vector.x, component.shift_x) / 8.0,
                      row * height + (height - 1) / 2.0 + in_plane(vector.y, component.shift_y) / 8.0));
    }
  }
  return result;
}

using Block = std::vector<double>;  // of 8 x 8 samples or coefficients, row by row

Block transformed(const Block& block, bool forward) {
  static const Transform dct = make_transform(Transform2d::kDct, kSide);
  const Matrix& matrix = forward ? dct.forward : dct.inverse;
  Block half(kArea);
  Block result(kArea);
  for (int i = 0; i < kArea; ++i) {
    for (int k = 0; k < kSide; ++k) {
      half[i] += matrix.at(i % kSide, k) * block[i / kSide * kSide + k];
    }
  }
  for (int i = 0; i < kArea; ++i) {
    for (int k = 0; k < kSide; ++k) {
      result[i] += matrix.at(i / kSide, k) * half[k * kSide + i % kSide];
    }
  }
  return result;
}

Block coefficients(const Picture& picture, int left, int top) {
  Block block(kArea);
  for (int i = 0; i < kArea; ++i) {
    block[i] = picture.at(left + i % kSide, top + i / kSide);
  }
  return transformed(block, true);
}

// The mean of 3 x 3 coefficients; those beyond the border are those at the border.
Block averaged(const Block& block) {
  Block result(kArea);
  for (int i = 0; i < kArea; ++i) {
    for (int j = 0; j < 9; ++j) {
      const int row = std::clamp(i / kSide + j / 3 - 1, 0, kSide - 1);
      const int column = std::clamp(i % kSide + j % 3 - 1, 0, kSide - 1);
      result[i] += block[row * kSide + column] / 9;
    }
  }
  return result;
}

double mean_of(const Block& block) {
  double sum = 0;
  for (const double value : block) {
    sum += value;
  }
  return sum / static_cast<double>(block.size());
}

// A step over the patches of a component.
class RecursiveStep {
 public:
  RecursiveStep(const Component& component, const Picture& luma, const BlockMotion& motion,
                const RecursiveParameters& parameters, bool second, bool has_prior)
      : component_(component),
        luma_(luma),
        motion_(motion),
        parameters_(parameters),
        second_(second),
        has_prior_(has_prior),
        estimate_(empty()),
        estimate_weight_(empty()),
        merged_(empty()),
        merged_weight_(empty()) {
    Bm3dStep step;
    step.spacing = second ? parameters.second_spacing : parameters.spacing;
    spectrum_ = coefficient_variances(component.noise, step);
    cells_ = {component.noisy.width / kSide, component.noisy.height / kSide, {}};
    cells_.samples.resize(static_cast<std::size_t>(cells_.width) * cells_.height);
    Picture counts = cells_;
    for (const int y : reference_positions(component.noisy.height, step)) {
      for (const int x : reference_positions(component.noisy.width, step)) {
        const double gain = merge(x, y);
        const int column = std::min((x + 4) / kSide, cells_.width - 1);
        const int row = std::min((y + 4) / kSide, cells_.height - 1);
        cells_.at(column, row) += gain;
        counts.at(column, row) += 1;
      }
    }
    for (std::size_t i = 0; i < cells_.samples.size(); ++i) {
      cells_.samples[i] /= counts.samples[i];
    }
  }

  Picture estimate() const { return divided(estimate_, estimate_weight_); }
  Picture merged() const { return divided(merged_, merged_weight_); }
  const Picture& variances() const { return cells_; }
  double unknown_share() const { return static_cast<double>(unknown_) / patches_; }

 private:
  Picture empty() const {
    Picture picture = component_.noisy;
    std::fill(picture.samples.begin(), picture.samples.end(), 0.0);
    return picture;
  }
  static Picture divided(Picture numerator, const Picture& denominator) {
    for (std::size_t i = 0; i < numerator.samples.size(); ++i) {
      numerator.samples[i] /= denominator.samples[i];
    }
    return numerator;
  }

  // The noise's variance of each coefficient of the patch.
  Block noise_at(int x, int y) const {
    double sum = 0;
    int count = 0;
    for (int v = y << component_.shift_y; v < std::min((y + 8) << component_.shift_y, luma_.height); ++v) {
      for (int u = x << component_.shift_x; u < std::min((x + 8) << component_.shift_x, luma_.width); ++u) {
        sum += luma_.at(u, v);
        ++count;
      }
    }
    const double deviation = component_.has_curve ? curve_at(component_.noise.shape, sum / count) : 1;
    Block result = spectrum_;
    for (double& variance : result) {
      variance *= deviation * deviation;
    }
    return result;
  }

  // Returns the mean gain.
  double merge(int x, int y) {
    ++patches_;
    const Block noise = noise_at(x, y);
    const Block noisy = coefficients(component_.noisy, x, y);
    Block gains(kArea, 1);
    Block merged = noisy;
    Block pilot(kArea, 0);
    if (second_) {
      pilot = coefficients(component_.first_estimate, x, y);
    }
    const bool known = has_prior_ && find_gains(x, y, noise, noisy, pilot, gains, merged);
    if (has_prior_ && !known) {
      ++unknown_;
    }
    if (known && !second_) {
      pilot = coefficients(component_.pilot, x, y);
    }
    add(x, y, noise, gains, merged, pilot, known);
    return mean_of(gains);
  }

  // False if the patch has no prior.
  bool find_gains(int x, int y, const Block& noise, const Block& noisy, const Block& pilot, Block& gains,
                  Block& merged) const {
    const double state = 0.005 + component_.state_variances.at(
                                     std::min(((x + 4) << component_.shift_x) / kSide, motion_.columns - 1),
                                     std::min(((y + 4) << component_.shift_y) / kSide, motion_.rows - 1));
    const Block prior = coefficients(component_.prior, x, y);
    Block energy(kArea);
    for (int i = 0; i < kArea; ++i) {
      const double difference = (second_ ? pilot[i] : noisy[i]) - prior[i];
      energy[i] = difference * difference / noise[i];
    }
    if (!second_ && mean_of(energy) > 2.5 * (1 + state)) {
      return false;
    }
    energy = averaged(energy);
    for (int i = 0; i < kArea; ++i) {
      const double variance = second_ ? std::max(1.5 * energy[i], state)
                                      : state + std::max(0.0, 1.5 * (energy[i] - 1.942 * (1 + state)));
      gains[i] = variance / (variance + 1);
      merged[i] = prior[i] + gains[i] * (noisy[i] - prior[i]);
    }
    return true;
  }

  void add(int x, int y, const Block& noise, const Block& gains, const Block& merged, const Block& pilot,
           bool known) {
    const double lambda = double{coefficient_threshold(parameters_.lambda, 1)};
    Block shrunk = merged;
    double variance = gains[0];
    for (int i = 1; i < kArea; ++i) {
      const double left = gains[i] * noise[i];
      const double above = merged[i] * merged[i] - lambda * lambda * left;
      double signal = pilot[i] * pilot[i];
      if (!second_) {
        signal = std::max(signal, above);
      }
      const double factor = second_ || known ? signal / (signal + 0.7 * left) : above > 0 ? 1 : 0;
      shrunk[i] *= factor;
      variance += factor * factor * gains[i];
    }
    const double weight = 1 / std::max(variance, 0.05);
    const Block estimate = transformed(shrunk, false);
    const Block kept = transformed(merged, false);
    const std::vector<double> line = kaiser_line(kSide, 2);
    for (int i = 0; i < kArea; ++i) {
      const double window = line[i % kSide] * line[i / kSide];
      const int u = x + i % kSide;
      const int v = y + i / kSide;
      estimate_.at(u, v) += weight * window * estimate[i];
      estimate_weight_.at(u, v) += weight * window;
      merged_.at(u, v) += window * kept[i];
      merged_weight_.at(u, v) += window;
    }
  }

  const Component& component_;
  const Picture& luma_;
  const BlockMotion& motion_;
  const RecursiveParameters& parameters_;
  bool second_;
  bool has_prior_;
  std::vector<double> spectrum_;
  Picture estimate_;
  Picture estimate_weight_;
  Picture merged_;
  Picture merged_weight_;
  Picture cells_;
  int patches_ = 0;
  int unknown_ = 0;
};

// The frames, or one of their fields.
class RecursiveStream {
 public:
  RecursiveStream(const FrameFormat& format, const RecursiveParameters& parameters)
      : format_(format), parameters_(parameters) {}

  void forget() { kept_.clear(); }

  // The planes of the result.
  std::vector<Picture> filter(const std::vector<Picture>& planes, const NoiseModel& noise) {
    const bool rgb = format_.color_model == ColorModel::kRgb;
    const std::vector<Picture> noisy = rgb ? to_opponent(planes) : planes;
    std::vector<Component> components = describe(noisy, noise);
    adapt(components);
    if (!is_repeat(components)) {
      merge(components);
    }
    std::vector<Picture> results = noisy;
    for (std::size_t c = 0; c < components.size(); ++c) {
      if (components[c].filtered) {
        results[c] = kept_[c].result;
      }
    }
    results = rgb ? from_opponent(results) : results;
    for (std::size_t p = 0; p < results.size(); ++p) {
      results[p] = rgb && !(noise.sigma[p] > 0) ? planes[p] : results[p];
    }
    return results;
  }

 private:
  std::vector<Component> describe(const std::vector<Picture>& noisy, const NoiseModel& noise) const {
    const bool rgb = format_.color_model == ColorModel::kRgb;
    std::vector<Component> components(noisy.size());
    for (std::size_t c = 0; c < noisy.size(); ++c) {
      Component& component = components[c];
      component.noisy = noisy[c];
      component.noise = rgb ? opponent_noise(noise)[c] : noise.plane(static_cast<int>(c));
      component.filtered = component.noise.sigma > 0 && noisy[c].width >= kSide && noisy[c].height >= kSide;
      component.has_curve = !(rgb && c > 0);
      component.shift_x = c > 0 && !rgb ? format_.chroma_shift_x : 0;
      component.shift_y = c > 0 && !rgb ? format_.chroma_shift_y : 0;
    }
    return components;
  }

  void adapt(const std::vector<Component>& components) {
    for (std::size_t c = 0; c < components.size() && !kept_.empty(); ++c) {
      const float sigma = components[c].noise.sigma;
      if (components[c].filtered != filtered_[c]) {
        kept_.clear();
      } else if (components[c].filtered) {
        for (double& variance : kept_[c].variances.samples) {
          variance *= std::pow(double{sigmas_[c]} / double{sigma}, 2);
        }
      }
    }
    filtered_.clear();
    sigmas_.clear();
    for (const Component& component : components) {
      filtered_.push_back(component.filtered);
      sigmas_.push_back(component.noise.sigma);
    }
  }

  bool is_repeat(const std::vector<Component>& components) const {
    bool all = !kept_.empty();
    for (std::size_t c = 0; c < components.size() && all; ++c) {
      all = !components[c].filtered || repeats(components[c], kept_[c].noisy);
    }
    return all;
  }

  static bool repeats(const Component& component, const Picture& last) {
    const Picture& noisy = component.noisy;
    double deviation = double{component.noise.sigma};
    if (component.has_curve) {
      deviation *= double{std::ranges::min(component.noise.shape.curve)};
    }
    const double variance = deviation * deviation * (1 - double{component.noise.shape.repetition});
    int near = 0;
    int blocks = 0;
    for (int y = 0; y < noisy.height; y += kSide) {
      for (int x = 0; x < noisy.width; x += kSide) {
        double sum = 0;
        int count = 0;
        for (int v = y; v < std::min(y + kSide, noisy.height); ++v) {
          for (int u = x; u < std::min(x + kSide, noisy.width); ++u) {
            sum += std::pow(noisy.at(u, v) - last.at(u, v), 2);
            ++count;
          }
        }
        if (sum / count > 0.5 * variance) {
          return false;
        }
        near += sum / count <= 0.1 * variance ? 1 : 0;
        ++blocks;
      }
    }
    return near >= 0.6 * blocks;
  }

  void search(std::vector<Component>& components, const Picture& luma) {
    motion_ = follow(reference_, luma, filtered_[0] ? sigmas_[0] : 0);
    for (std::size_t c = 0; c < components.size(); ++c) {
      if (components[c].filtered) {
        components[c].prior = warped(kept_[c].merged, motion_, components[c]);
        components[c].state_variances = warped_variances(kept_[c].variances, motion_, components[c]);
      }
    }
  }

  void merge(std::vector<Component>& components) {
    const auto for_each_filtered = [&](const std::function<void(std::size_t)>& function) {
      for (std::size_t c = 0; c < components.size(); ++c) {
        if (components[c].filtered) {
          function(c);
        }
      }
    };
    bool has_prior = !kept_.empty();
    if (has_prior) {
      search(components, components[0].noisy);
      for_each_filtered(
          [&](std::size_t c) { components[c].pilot = warped(kept_[c].result, motion_, components[c]); });
    }
    bool decided = false;
    for_each_filtered([&](std::size_t c) {
      const RecursiveStep first(components[c], components[0].noisy, motion_, parameters_, false, has_prior);
      components[c].first_estimate = first.estimate();
      if (!decided && first.unknown_share() > 0.6) {
        has_prior = false;
        components[c].first_estimate =
            RecursiveStep(components[c], components[0].noisy, motion_, parameters_, false, false).estimate();
      }
      decided = true;
    });
    if (has_prior && parameters_.motion_searches == 2 && components[0].filtered) {
      search(components, components[0].first_estimate);
    }
    kept_.resize(components.size());
    const Picture& brightness = components[0].filtered ? components[0].first_estimate : components[0].noisy;
    for_each_filtered([&](std::size_t c) {
      const RecursiveStep second(components[c], brightness, motion_, parameters_, true, has_prior);
      kept_[c] = {components[c].noisy, second.merged(), second.estimate(), second.variances()};
    });
    reference_ = components[0].filtered ? kept_[0].result : components[0].noisy;
  }

  FrameFormat format_;
  RecursiveParameters parameters_;
  std::vector<Kept> kept_;  // none of a first frame
  std::vector<bool> filtered_;
  std::vector<float> sigmas_;
  Picture reference_;
  BlockMotion motion_;
};

}  // namespace
}  // namespace recursion

std::vector<Frame> denoise(const std::vector<Frame>& frames, const RecursiveParameters& parameters,
                           const std::vector<NoiseModel>& noise) {
  const FrameFormat& format = frames.front().format;
  std::vector<recursion::RecursiveStream> streams(2, recursion::RecursiveStream(format, parameters));
  std::vector<Frame> results;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    const Frame& frame = frames[t];
    if (frame.begins_anew || (t > 0 && frame.interlaced != frames[t - 1].interlaced)) {
      std::ranges::for_each(streams, &recursion::RecursiveStream::forget);
    }
    const NoiseModel& model = noise.size() == 1 ? noise.front() : noise[t];
    std::vector<Picture> planes;
    for (int p = 0; p < format.color_plane_count(); ++p) {
      planes.push_back(to_picture(frame, p));
    }
    std::vector<Picture> filtered = planes;
    if (frame.interlaced) {
      for (int parity = 0; parity < 2; ++parity) {
        std::vector<Picture> field;
        for (const Picture& plane : planes) {
          field.push_back(field_of(plane, parity));
        }
        field = streams[parity].filter(field, model);
        for (std::size_t p = 0; p < planes.size(); ++p) {
          insert_field(field[p], parity, filtered[p]);
        }
      }
    } else {
      filtered = streams[0].filter(planes, model);
    }
    Frame result = allocate_frame(format);
    pass_on(frame, result);
    for (int p = 0; p < format.plane_count(); ++p) {
      if (p < format.color_plane_count() && model.sigma[p] > 0) {
        store(filtered[p], result, p);
      } else {
        copy_plane(frame, result, p);
      }
    }
    undo_clipping(frame, model, result);
    results.push_back(result);
  }
  return results;
}

}  // namespace limpid::oracle
