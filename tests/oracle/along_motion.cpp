// SPDX-License-Identifier: MIT
#include "tests/oracle/along_motion.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "core/motion/motion_blocks.h"
#include "tests/oracle/clipping.h"

namespace limpid::oracle {
namespace {

constexpr int kPatch = 8;

int floor_divided(int value, int shift) {
  return static_cast<int>(std::floor(static_cast<double>(value) / (1 << shift)));
}

// Integer code values, 1 to 255, minus 128; with a scale, the values as a triangle wave from -127 to 127.
std::vector<std::int64_t> guide_samples(const Picture& guide, int scale) {
  std::vector<std::int64_t> result;
  for (const double sample : guide.samples) {
    const float units = (static_cast<float>(sample) - 128) * static_cast<float>(scale) + 0x1p-10F;
    auto value = static_cast<std::int64_t>(std::nearbyint(units));
    while (scale > 1 && std::abs(value) > 127) {
      value = value > 0 ? 254 - value : -254 - value;
    }
    result.push_back(std::clamp<std::int64_t>(value, -127, 127));
  }
  return result;
}

// The deviation of the noise of luma in the guide of a plane of this subsampling.
double guide_deviation(const PlaneNoise& noise, int shift_x, int shift_y) {
  return double{noise.sigma} * std::sqrt(left_of(noise.shape, shift_x, shift_y, false) /
                                         left_of({}, shift_x, shift_y, false) / (1 << (shift_x + shift_y)));
}

// Guides of deep pictures are scaled to a noise of at least 1, unless a curve of chroma needs the brightness.
std::array<int, 2> guide_scales_of(const FrameFormat& format, const std::vector<PlaneNoise>& noise) {
  std::array<int, 2> scales{1, 1};
  const bool rgb = format.color_model == ColorModel::kRgb;
  const bool subsampled = format.chroma_shift_x > 0 || format.chroma_shift_y > 0;
  bool curve = false;
  for (int p = 1; p < format.color_plane_count(); ++p) {
    curve = curve || (!rgb && noise[p].sigma > 0 && noise[p].shape.curve != NoiseShape().curve);
  }
  for (int kind = 0; kind < 2 && format.bit_depth > 8; ++kind) {
    if (curve && (kind == 1) == subsampled) {
      continue;
    }
    const double least = guide_deviation(noise[0], kind == 1 ? format.chroma_shift_x : 0,
                                         kind == 1 ? format.chroma_shift_y : 0) *
                         double{*std::min_element(noise[0].shape.curve.begin(), noise[0].shape.curve.end())};
    while (least > 0 && least * scales[kind] < 1 && scales[kind] < 128) {
      scales[kind] *= 2;
    }
  }
  return scales;
}

std::vector<std::vector<Picture>> denoise_segment(const Segment& segment, const Vbm4dParameters& parameters,
                                                  const MakeStep& make_step) {
  const auto fits = [&](std::size_t plane) {
    return segment.planes[0][plane].width >= kPatch && segment.planes[0][plane].height >= kPatch;
  };
  const auto filtered = [&](bool second, const std::vector<std::vector<Picture>>& basic) {
    std::vector<std::vector<Picture>> result = segment.planes;
    for (std::size_t plane = 0; plane < segment.planes[0].size(); ++plane) {
      if (fits(0) && fits(plane)) {
        const std::vector<Picture> estimates = make_step(segment, parameters, second)->run(plane, basic);
        for (std::size_t t = 0; t < estimates.size(); ++t) {
          result[t][plane] = estimates[t];
        }
      }
    }
    return result;
  };
  std::vector<std::vector<Picture>> result = filtered(false, {});
  return parameters.wiener ? filtered(true, result) : result;
}

template <typename Sample>
int guide_value_at(const Frame& frame, int plane, int x, int y) {
  return motion::guide_value(frame.planes[plane].row<const Sample>(y)[x], frame.format.bit_depth);
}

BytePicture motion_guide(const Frame& frame, int first_row, int row_spacing) {
  const FrameFormat& format = frame.format;
  BytePicture guide{format.width, (format.height - first_row + row_spacing - 1) / row_spacing, {}};
  const auto value = [&](int plane, int x, int y) {
    return visit_samples(format,
                         [&]<typename Sample>(Sample) { return guide_value_at<Sample>(frame, plane, x, y); });
  };
  for (int y = first_row; y < format.height; y += row_spacing) {
    for (int x = 0; x < format.width; ++x) {
      const int sample = format.color_model == ColorModel::kRgb
                             ? motion::guide_value_of_rgb(value(0, x, y), value(1, x, y), value(2, x, y))
                             : value(0, x, y);
      guide.samples.push_back(static_cast<std::uint8_t>(sample));
    }
  }
  return guide;
}

// The variance of a plane's noise after smoothing by [1 2 1] / 4 along both axes, at the brightness with the
// strongest noise.
double smoothed_variance(const PlaneNoise& noise) {
  const auto gain = [](int u, int v) {
    return std::pow(std::cos(u * std::numbers::pi / 16) * std::cos(v * std::numbers::pi / 16), 4);
  };
  double sum = 0;
  double weight = 0;
  for (int v = 0; v < 8; ++v) {
    for (int u = 0; u < 8; ++u) {
      sum += gain(u, v) * static_cast<double>(noise.shape.spectrum[8 * v + u]);
      weight += gain(u, v);
    }
  }
  const double strongest =
      static_cast<double>(*std::max_element(noise.shape.curve.begin(), noise.shape.curve.end()));
  const double white = 9.0 / 64 * std::pow(static_cast<double>(noise.sigma) * strongest, 2);
  return white * sum / weight;
}

// True if more than half of a field's blocks have vectors that lead to other content.
bool has_nothing_in_common(const MotionField& field, const FrameFormat& format, const NoiseModel& model) {
  const bool rgb = format.color_model == ColorModel::kRgb;
  const double variance = rgb ? (smoothed_variance(model.plane(0)) + 4 * smoothed_variance(model.plane(1)) +
                                 smoothed_variance(model.plane(2))) /
                                    16
                              : smoothed_variance(model.plane(0));
  if (variance == 0) {
    return false;  // the noise is unknown
  }
  const auto of_noise = static_cast<std::int32_t>(2 / std::sqrt(std::numbers::pi) * std::sqrt(variance) *
                                                  motion::kDifferenceUnit);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < field.vectors.size(); ++i) {
    lost += motion::is_followed(field.differences[i], field.textures[i], of_noise) ? 0U : 1U;
  }
  return 2 * lost > field.vectors.size();
}

// The standard deviation of the squared difference of equal patches, relative to white noise: it is a sum of
// squares of independent coefficients.
double spread_of_distances(const PlaneNoise& noise) {
  double sum = 0;
  double of_white = 0;
  for (const float variance : noise.shape.spectrum) {
    sum += double{variance} * double{variance};
    of_white += 1;
  }
  return std::sqrt(sum / of_white);
}

}  // namespace

StepAlongMotion::StepAlongMotion(const Segment& segment, const Vbm4dParameters& parameters, bool second)
    : segment_(segment),
      parameters_(parameters),
      span_(temporal_span(parameters)),
      second_(second),
      step_(second ? *parameters.wiener : parameters.hard_threshold),
      window_(kaiser_line(kPatchSide, static_cast<double>(step_.kaiser_beta))) {}

std::vector<Picture> StepAlongMotion::run(std::size_t plane, const std::vector<std::vector<Picture>>& basic) {
  plane_ = plane;
  shift_x_ = plane > 0 ? segment_.format.chroma_shift_x : 0;
  shift_y_ = plane > 0 ? segment_.format.chroma_shift_y : 0;
  const int count = segment_.size();
  const Bm3dStep grid = {.patch_size = kPatchSide, .spacing = step_.spacing};
  guides_.clear();
  noisy_guides_.clear();
  guide_variances_.clear();
  coefficient_variances_.clear();
  std::vector<Sums> sums;
  std::vector<Picture> estimates;
  for (int t = 0; t < count; ++t) {
    const Picture& noisy = segment_.planes[t][plane];
    const Picture& luma = second_ ? basic[t][0] : segment_.planes[t][0];
    const bool shrinks = shift_x_ > 0 || shift_y_ > 0;
    const Picture guide = shrinks ? shrunk(luma, segment_.format, noisy.width, noisy.height) : luma;
    const int scale = segment_.guide_scales[t][shrinks ? 1 : 0];
    guides_.push_back(guide_samples(guide, scale));
    const Picture& noisy_luma = segment_.planes[t][0];
    noisy_guides_.push_back(guide_samples(
        shrinks ? shrunk(noisy_luma, segment_.format, noisy.width, noisy.height) : noisy_luma, scale));
    Picture empty = noisy;
    std::fill(empty.samples.begin(), empty.samples.end(), 0.0);
    sums.push_back({empty, empty});
    estimates.push_back(noisy);
    guide_variances_.push_back(
        std::pow(scale * guide_deviation(segment_.noise[t][0], shift_x_, shift_y_), 2));
    coefficient_variances_.push_back(
        oracle::coefficient_variances(segment_.noise[t][plane], {.patch_size = kPatchSide}));
  }
  width_ = segment_.planes[0][plane].width;
  height_ = segment_.planes[0][plane].height;
  for (int t = 0; t < count; ++t) {
    if (segment_.noise[t][plane].sigma > 0) {
      for (const int y : reference_positions(height_, grid)) {
        for (const int x : reference_positions(width_, grid)) {
          filter_group(t, {x, y}, basic, sums);
        }
      }
    }
  }
  for (int t = 0; t < count; ++t) {
    if (segment_.noise[t][plane].sigma > 0) {
      for (std::size_t i = 0; i < estimates[t].samples.size(); ++i) {
        estimates[t].samples[i] = sums[t].numerator.samples[i] / sums[t].denominator.samples[i];
      }
    }
  }
  return estimates;
}

std::int64_t StepAlongMotion::distance(int t, Position a, int u, Position b) const {
  std::int64_t sum = 0;
  for (int y = 0; y < kPatchSide; ++y) {
    for (int x = 0; x < kPatchSide; ++x) {
      const std::int64_t difference = guides_[t][static_cast<std::size_t>(a.y + y) * width_ + a.x + x] -
                                      guides_[u][static_cast<std::size_t>(b.y + y) * width_ + b.x + x];
      sum += difference * difference;
    }
  }
  return sum;
}

double StepAlongMotion::brightness_in_guide(int t, Position reference) const {
  std::int64_t sum = 0;
  for (int y = 0; y < kPatchSide; ++y) {
    for (int x = 0; x < kPatchSide; ++x) {
      sum += guides_[t][static_cast<std::size_t>(reference.y + y) * width_ + reference.x + x];
    }
  }
  return 128 + static_cast<double>(sum) / (kPatchSide * kPatchSide);
}

bool StepAlongMotion::is_inside(Position p) const {
  return p.x >= 0 && p.y >= 0 && p.x <= width_ - kPatchSide && p.y <= height_ - kPatchSide;
}
Position StepAlongMotion::confined(int x, int y) const {
  return {std::clamp(x, 0, width_ - kPatchSide), std::clamp(y, 0, height_ - kPatchSide)};
}

double StepAlongMotion::variances(int t, double factor) const {
  return factor * guide_variances_[t] * kPatchSide * kPatchSide;
}
bool StepAlongMotion::guide_is_clean(int t) const { return second_ && segment_.noise[t][0].sigma > 0; }

Trajectory StepAlongMotion::follow(int t, Position reference) const {
  constexpr int kSamples = kPatchSide * kPatchSide;
  const double by_contrast = guide_is_clean(t) ? 800.0 * kSamples : variances(t, 2) + 2000.0 * kSamples;
  // The threshold for white noise. The excess over the mean of equal patches grows with the spread of d.
  const double mean = guide_is_clean(t) ? 0 : 2;
  const auto end = static_cast<double>(step_.trajectory_threshold);
  const double coarse = end > mean ? mean + (end - mean) * spread_of_distances(segment_.noise[t][0]) : end;
  const auto greatest = static_cast<std::int64_t>(std::floor(std::min(variances(t, coarse), by_contrast)));
  const auto cost = static_cast<std::int64_t>(std::floor(variances(t, guide_is_clean(t) ? 0.02 : 0.2)));
  Trajectory trajectory = {.places = {{t, reference}}};
  for (const int direction : {-1, 1}) {
    Position place = reference;
    for (int i = 1; i <= (direction < 0 ? span_.before : span_.after); ++i) {
      const int u = t + direction * i;
      if (u < 0 || u >= segment_.size()) {
        break;
      }
      const MotionField& field = direction < 0 ? segment_.back[u - direction] : segment_.ahead[u - direction];
      if ((direction < 0 ? segment_.cut_back[u - direction] : segment_.cut_ahead[u - direction])) {
        break;
      }
      const MotionVector& vector = field.vectors[field.block_at((place.x + kPatchSide / 2) << shift_x_,
                                                                (place.y + kPatchSide / 2) << shift_y_)];
      const auto scaled = [](int whole, int shift) {
        return floor_divided(whole + (1 << shift >> 1), shift);
      };
      const Position predicted =
          confined(place.x + scaled(vector.x, shift_x_), place.y + scaled(vector.y, shift_y_));
      std::int64_t least = INT64_MAX;
      Position best;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const Position candidate = {predicted.x + dx, predicted.y + dy};
          if (!is_inside(candidate)) {
            continue;
          }
          const std::int64_t whole =
              distance(t, reference, u, candidate) + cost * (std::abs(dx) + std::abs(dy));
          if (whole < least) {
            least = whole;
            best = candidate;
          }
        }
      }
      if (find_beside(t, reference, u, best).distance > greatest) {
        trajectory.lost = true;
        break;
      }
      place = best;
      const std::pair<int, Position> now = {u, place};
      if (repeats(now, direction < 0 ? trajectory.places.front() : trajectory.places.back())) {
        continue;
      }
      std::vector<std::pair<int, Position>>& places = trajectory.places;
      places.insert(direction < 0 ? places.begin() : places.end(), now);
    }
  }
  return trajectory;
}

int StepAlongMotion::interpolation_weight(int quarters, int offset) {
  // Lanczos with three lobes.
  constexpr int kWeights[3][6] = {{0, 0, 64, 0, 0, 0}, {2, -9, 57, 17, -4, 1}, {2, -9, 39, 39, -9, 2}};
  return quarters == 3 ? kWeights[1][3 - offset] : kWeights[quarters][offset + 2];
}

bool StepAlongMotion::is_surrounded(Position place) const {
  return place.x >= 2 && place.y >= 2 && place.x + kPatchSide + 3 <= width_ &&
         place.y + kPatchSide + 3 <= height_;
}

Beside StepAlongMotion::find_beside(int t, Position reference, int u, Position place) const {
  const Beside in_place = {0, 0, distance(t, reference, u, place)};
  if (parameters_.motion_precision == 1 || !guide_is_clean(t)) {
    return in_place;
  }
  const auto value = [&](int picture, int x, int y) {
    return guides_[picture][static_cast<std::size_t>(y) * width_ + x];
  };
  const auto own = [&](int x, int y) { return value(t, reference.x + x, reference.y + y); };
  // Along one axis, at position i of a patch.
  const auto gradient = [&](int i, const auto& along) -> std::int64_t {
    if (i == 0 || i == kPatchSide - 1) {
      return std::clamp<std::int64_t>(i == 0 ? along(1) - along(0) : along(i) - along(i - 1), -127, 127);
    }
    return (along(i + 1) - along(i - 1)) / 2;
  };
  std::int64_t xx = 1;
  std::int64_t yy = 1;
  std::int64_t xy = 0;
  std::int64_t of_x = 0;
  std::int64_t of_y = 0;
  for (int y = 0; y < kPatchSide; ++y) {
    for (int x = 0; x < kPatchSide; ++x) {
      const std::int64_t dx = gradient(x, [&](int i) { return own(i, y); });
      const std::int64_t dy = gradient(y, [&](int i) { return own(x, i); });
      const std::int64_t greater = own(x, y) - value(u, place.x + x, place.y + y);
      xx += dx * dx;
      yy += dy * dy;
      xy += dx * dy;
      of_x += dx * greater;
      of_y += dy * greater;
    }
  }
  // The quarter nearest to the vector that minimizes the squared remainder, at most half a sample.
  const std::int64_t determinant = xx * yy - xy * xy;
  const auto quarters = [&](std::int64_t numerator) {
    const std::int64_t eighths = 8 * std::abs(numerator);
    const int nearest = eighths >= 3 * determinant ? 2 : eighths >= determinant ? 1 : 0;
    return numerator < 0 ? -nearest : nearest;
  };
  Beside found = {quarters(yy * of_x - xy * of_y), quarters(xx * of_y - xy * of_x), 0};
  const Position whole = {place.x + floor_divided(found.x, 2), place.y + floor_divided(found.y, 2)};
  if ((found.x == 0 && found.y == 0) || !is_surrounded(whole)) {
    return in_place;
  }
  for (int y = 0; y < kPatchSide; ++y) {
    for (int x = 0; x < kPatchSide; ++x) {
      int column = 32;
      for (int j = -2; j <= 3; ++j) {
        int row = 32;
        for (int i = -2; i <= 3; ++i) {
          row += interpolation_weight(found.x & 3, i) *
                 static_cast<int>(value(u, whole.x + x + i, whole.y + y + j));
        }
        column += interpolation_weight(found.y & 3, j) * floor_divided(row, 6);
      }
      const std::int64_t difference = own(x, y) - floor_divided(column, 6);
      found.distance += difference * difference;
    }
  }
  const auto cost = static_cast<std::int64_t>(std::floor(variances(t, 0.02)));
  return found.distance + cost < in_place.distance ? found : in_place;
}

bool StepAlongMotion::repeats(const std::pair<int, Position>& patch,
                              const std::pair<int, Position>& other) const {
  bool same = true;
  bool flat = true;
  const auto value = [&](const std::pair<int, Position>& at, int i) {
    return noisy_guides_[at.first][static_cast<std::size_t>(at.second.y + i / kPatchSide) * width_ +
                                   at.second.x + i % kPatchSide];
  };
  for (int i = 0; i < kPatchSide * kPatchSide; ++i) {
    same = same && value(patch, i) == value(other, i);
    flat = flat && value(patch, i) == value(patch, 0);
  }
  return same && !flat;
}

void StepAlongMotion::transform_patch(double* samples, bool forward) const {
  const auto entry = [&](int row, int column) {
    return forward ? dct_.at(row, column) : dct_.at(column, row);
  };
  std::array<double, kPatchSide * kPatchSide> half{};
  for (int v = 0; v < kPatchSide; ++v) {
    for (int x = 0; x < kPatchSide; ++x) {
      for (int y = 0; y < kPatchSide; ++y) {
        half[v * kPatchSide + x] += entry(v, y) * samples[y * kPatchSide + x];
      }
    }
  }
  for (int v = 0; v < kPatchSide; ++v) {
    for (int u = 0; u < kPatchSide; ++u) {
      double sum = 0;
      for (int x = 0; x < kPatchSide; ++x) {
        sum += entry(u, x) * half[v * kPatchSide + x];
      }
      samples[v * kPatchSide + u] = sum;
    }
  }
}

std::vector<Frame> denoise_along_motion(const std::vector<Frame>& frames, const Vbm4dParameters& parameters,
                                        const std::vector<NoiseModel>& noise, const MakeStep& make_step) {
  std::vector<Frame> results;
  for (std::size_t begin = 0; begin < frames.size();) {
    std::size_t end = begin + 1;
    while (end < frames.size() && !frames[end].begins_anew &&
           frames[end].interlaced == frames[begin].interlaced) {
      ++end;
    }
    const FrameFormat& format = frames[begin].format;
    const bool rgb = format.color_model == ColorModel::kRgb;
    const int fields = frames[begin].interlaced ? 2 : 1;
    for (std::size_t t = begin; t < end; ++t) {
      results.push_back(allocate_frame(format));
      for (int p = 0; p < format.plane_count(); ++p) {
        copy_plane(frames[t], results.back(), p);
      }
    }
    std::vector<std::vector<Picture>> whole(end - begin);
    for (std::size_t t = begin; t < end; ++t) {
      for (int p = 0; p < format.color_plane_count(); ++p) {
        whole[t - begin].push_back(to_picture(frames[t], p));
      }
    }
    for (int parity = 0; parity < fields; ++parity) {
      Segment segment;
      segment.format = format;
      for (std::size_t t = begin; t < end; ++t) {
        std::vector<Picture> planes = whole[t - begin];
        if (fields == 2) {
          for (Picture& plane : planes) {
            plane = field_of(plane, parity);
          }
        }
        const NoiseModel& model = noise[noise.size() == 1 ? 0 : t];
        segment.planes.push_back(rgb ? to_opponent(planes) : planes);
        segment.noise.push_back(
            rgb ? opponent_noise(model)
                : std::vector<PlaneNoise>{model.plane(0), model.plane(1), model.plane(2)});
        segment.guides.push_back(motion_guide(frames[t], parity, fields));
        segment.guide_scales.push_back(guide_scales_of(format, segment.noise.back()));
      }
      for (std::size_t t = 0; t < segment.guides.size(); ++t) {
        segment.back.push_back(t > 0 ? find_motion(segment.guides[t - 1], segment.guides[t]) : MotionField());
        segment.ahead.push_back(t + 1 < segment.guides.size()
                                    ? find_motion(segment.guides[t + 1], segment.guides[t])
                                    : MotionField());
        const NoiseModel& model = noise[noise.size() == 1 ? 0 : begin + t];
        const auto differs = [&](std::size_t u) {
          return u < segment.guides.size() && segment.guide_scales[u] != segment.guide_scales[t];
        };
        segment.cut_back.push_back(differs(t - 1) ||
                                   has_nothing_in_common(segment.back.back(), format, model));
        segment.cut_ahead.push_back(differs(t + 1) ||
                                    has_nothing_in_common(segment.ahead.back(), format, model));
      }
      const std::vector<std::vector<Picture>> filtered = denoise_segment(segment, parameters, make_step);
      for (std::size_t t = begin; t < end; ++t) {
        const std::vector<Picture>& planes = filtered[t - begin];
        const std::vector<Picture> back = rgb ? from_opponent(planes) : planes;
        for (std::size_t p = 0; p < back.size(); ++p) {
          if (fields == 2) {
            insert_field(back[p], parity, whole[t - begin][p]);
          } else {
            whole[t - begin][p] = back[p];
          }
        }
      }
    }
    for (std::size_t t = begin; t < end; ++t) {
      const NoiseModel& model = noise[noise.size() == 1 ? 0 : t];
      for (int p = 0; p < format.color_plane_count(); ++p) {
        if (model.sigma[p] > 0) {
          store(whole[t - begin][p], results[t], p);
        }
      }
    }
    begin = end;
  }
  for (std::size_t t = 0; t < frames.size(); ++t) {
    undo_clipping(frames[t], noise[noise.size() == 1 ? 0 : t], results[t]);
  }
  return results;
}

}  // namespace limpid::oracle
