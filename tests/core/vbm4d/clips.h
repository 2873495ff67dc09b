// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "tests/core/motion/moving_pictures.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/samples.h"

// Clips for tests of filters along motion.

namespace limpid::test {

inline constexpr float kSigma = 12;

inline NoiseModel white_noise(float sigma = kSigma) { return {{sigma, sigma, sigma}}; }

inline void store_sample(const Frame& frame, int plane, int x, int y, double code_value) {
  oracle::set_sample(frame, plane, x, y, code_value * frame.format.code_value());
}

/// Picture t of a clip in which a texture moves behind a still frame, with a patch that is in no other
/// picture. Its upper and lower halves differ in speed.
inline Frame clean_picture(const FrameFormat& format, int t, unsigned scene = 0) {
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    const int shift_x = p == 1 || p == 2 ? format.chroma_shift_x : 0;
    const int shift_y = p == 1 || p == 2 ? format.chroma_shift_y : 0;
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        const int luma_x = x << shift_x;
        const int luma_y = y << shift_y;
        const bool lower = 2 * luma_y > format.height;
        double value = endless_texture(luma_x + (lower ? 3 : 1) * t, luma_y, scene);
        if (luma_x < 12) {
          value = luma_y % 9 < 4 ? 200 : 40;
        } else if (t % 4 == 2 && luma_x > format.width - 14 && luma_y < 14) {
          value = 255 - value;
        }
        value = p == 0 ? value : 128 + (p == 1 ? 0.4 : -0.3) * (value - 128);
        store_sample(frame, p, x, y, std::clamp(value, 16.0, 235.0));
      }
    }
  }
  frame.index = t;
  return frame;
}

/// Reduces the contrast of all planes around code value 60, so that little of the range is used.
inline void flatten(const Frame& frame, double contrast) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    for (int y = 0; y < frame.format.plane_height(p); ++y) {
      for (int x = 0; x < frame.format.plane_width(p); ++x) {
        const double value = oracle::sample_at(frame, p, x, y) / frame.format.code_value();
        store_sample(frame, p, x, y, 60 + contrast * (value - 60));
      }
    }
  }
}

inline std::vector<Frame> noisy_clip(const FrameFormat& format, int count, double sigma, unsigned scene = 0) {
  std::vector<Frame> frames;
  for (int t = 0; t < count; ++t) {
    frames.push_back(oracle::add_noise(clean_picture(format, t, scene), sigma, 100 + t));
    frames.back().index = t;
  }
  return frames;
}

/// The results of a sequence of frames.
inline std::vector<Frame> run_stream(Denoiser& denoiser, const std::vector<Frame>& frames) {
  std::vector<Frame> results;
  const auto take_all = [&] {
    while (std::optional<Frame> result = denoiser.receive()) {
      results.push_back(std::move(*result));
    }
  };
  for (const Frame& frame : frames) {
    denoiser.send(frame);
    take_all();
  }
  denoiser.flush();
  take_all();
  return results;
}

inline void expect_same(const std::vector<Frame>& results, const std::vector<Frame>& expected) {
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t t = 0; t < results.size(); ++t) {
    EXPECT_TRUE(oracle::same_bits(results[t], expected[t])) << "frame " << t;
  }
}

/// A picture in 8-bit gray with changed contrast and brightness.
inline Frame relit(const Frame& clean, double gain, double brighter) {
  Frame result = allocate_frame(clean.format);
  for (int y = 0; y < clean.format.height; ++y) {
    for (int x = 0; x < clean.format.width; ++x) {
      store_sample(result, 0, x, y, clean.planes[0].row<std::uint8_t>(y)[x] * gain + brighter);
    }
  }
  return result;
}

/// Any segment of the frames, with its context, is bit-exact with the whole stream.
inline void expect_segments_as_the_whole(Engine& engine, const Filter& filter,
                                         const std::vector<Frame>& frames) {
  const int count = static_cast<int>(frames.size());
  const std::unique_ptr<Denoiser> denoiser =
      engine.make_denoiser(filter, white_noise(), frames.front().format);
  const std::vector<Frame> whole = run_stream(*denoiser, frames);
  ASSERT_EQ(whole.size(), frames.size());
  const Reach reach = reach_of(filter);
  EXPECT_EQ(denoiser->reach(), reach);
  for (int first = 0; first < count; first += 3) {
    for (int last = first + 1; last <= count; last += 5) {
      std::vector<Frame> segment;
      for (int t = std::max(first - reach.before, 0); t < std::min(last + reach.after, count); ++t) {
        segment.push_back(frames[t]);
        segment.back().context_only = t < first || t >= last;
      }
      denoiser->reset();
      const std::vector<Frame> results = run_stream(*denoiser, segment);
      ASSERT_EQ(results.size(), static_cast<std::size_t>(last - first));
      for (int t = first; t < last; ++t) {
        EXPECT_TRUE(oracle::same_bits(results[t - first], whole[t])) << first << " to " << last << ", " << t;
      }
    }
  }
}

/// Results arrive as soon as the denoiser declares, at most `delay` frames after their own.
inline void expect_no_later(Engine& engine, const Filter& filter, int delay,
                            const std::vector<Frame>& frames) {
  const std::unique_ptr<Denoiser> denoiser =
      engine.make_denoiser(filter, white_noise(), frames.front().format);
  EXPECT_LE(denoiser->latency(), delay);
  for (int t = 0; t < static_cast<int>(frames.size()); ++t) {
    denoiser->send(frames[t]);
    EXPECT_EQ(denoiser->receive().has_value(), t >= denoiser->latency()) << delay << ", frame " << t;
  }
}

}  // namespace limpid::test
