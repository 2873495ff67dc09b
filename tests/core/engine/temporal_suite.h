// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "tests/oracle/pictures.h"

// Requirements for engines with temporal filters, tested with a special filter. It has two steps, the second
// of which uses the results of the first, so that every frame of its reach matters. Its result at t is the
// mean of the basic estimates of t - 1, t and t + 1. The basic estimate of t is the mean of the samples of t
// - 1, t and t + 1, weighted 1, 2 and 3 so that exchanged frames are detected, plus the frame's sigma.
// Missing frames, before the beginning, after the end or beyond a cut, do not count.

namespace limpid::temporal {

inline constexpr Reach kReach{.before = 2, .after = 2};
inline constexpr int kWeights[] = {1, 2, 3};

inline FrameFormat format() { return oracle::gray(7, 5); }

/// A sent frame: the value of its samples (apart from their position) and its flags.
struct Sent {
  int value = 0;
  float sigma = 0;
  bool begins_anew = false;
  bool context_only = false;
};

inline int sample_of(const Sent& sent, int place) { return (sent.value + 3 * place) % 200; }

inline Frame make_frame(const Sent& sent, std::int64_t index) {
  Frame frame = allocate_frame(format());
  for (int y = 0; y < format().height; ++y) {
    for (int x = 0; x < format().width; ++x) {
      frame.planes[0].row<std::uint8_t>(y)[x] =
          static_cast<std::uint8_t>(sample_of(sent, y * format().width + x));
    }
  }
  frame.index = index;
  frame.begins_anew = sent.begins_anew;
  frame.context_only = sent.context_only;
  return frame;
}

/// True if windows do not extend from frame `t` to the frame before.
inline bool begins_window(const std::vector<Sent>& frames, int t) {
  return frames[t].begins_anew ||
         (t > 0 && !have_like_levels(NoiseModel{{frames[t - 1].sigma}}, NoiseModel{{frames[t].sigma}},
                                     kMostFactorInWindow));
}

/// By the definition, from the samples at `place` of all frames.
inline std::vector<int> expected_samples(const std::vector<Sent>& frames, int place) {
  const int count = static_cast<int>(frames.size());
  const auto mean_around = [&](int t, const std::function<int(int)>& value) {
    int sum = 0;
    int weights = 0;
    for (int i = -1; i <= 1; ++i) {
      const int other = t + i;
      const bool is_there = other >= 0 && other < count && !(i == -1 && begins_window(frames, t)) &&
                            !(i == 1 && begins_window(frames, other));
      if (is_there) {
        sum += kWeights[i + 1] * value(other);
        weights += kWeights[i + 1];
      }
    }
    return sum / weights;
  };
  const auto basic = [&](int t) {
    return mean_around(t, [&](int i) { return sample_of(frames[i], place); }) +
           static_cast<int>(frames[t].sigma);
  };
  std::vector<int> samples;
  for (int t = 0; t < count; ++t) {
    if (!frames[t].context_only) {
      samples.push_back(mean_around(t, basic));
    }
  }
  return samples;
}

/// Sends the frames, receives available results at once and, after flush(), the rest. Every result must be
/// available as soon as the frames on which it depends are sent.
inline std::vector<Frame> run(Denoiser& denoiser, const std::vector<Sent>& frames,
                              std::int64_t first_index = 0) {
  std::vector<Frame> results;
  std::size_t wanted = 0;
  const auto take_all = [&] {
    while (std::optional<Frame> result = denoiser.receive()) {
      results.push_back(std::move(*result));
    }
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    denoiser.set_noise({{frames[i].sigma}});
    denoiser.send(make_frame(frames[i], first_index + static_cast<std::int64_t>(i)));
    take_all();
    if (i >= static_cast<std::size_t>(kReach.after) && !frames[i - kReach.after].context_only) {
      ++wanted;
    }
    EXPECT_GE(results.size(), wanted) << "after frame " << i;
  }
  denoiser.flush();
  take_all();
  return results;
}

inline void expect_as_defined(const std::vector<Frame>& results, const std::vector<Sent>& frames,
                              std::int64_t first_index = 0) {
  std::vector<std::int64_t> wanted;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!frames[i].context_only) {
      wanted.push_back(first_index + static_cast<std::int64_t>(i));
    }
  }
  ASSERT_EQ(results.size(), wanted.size());
  for (int place = 0; place < format().width * format().height; ++place) {
    const std::vector<int> expected = expected_samples(frames, place);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto* row = results[i].planes[0].row<std::uint8_t>(place / format().width);
      ASSERT_EQ(row[place % format().width], expected[i]) << "result " << i << ", sample " << place;
      ASSERT_EQ(results[i].index, wanted[i]);
    }
  }
}

/// Makes a denoiser of this filter.
using Maker = std::function<std::unique_ptr<Denoiser>()>;

/// An engine on which every filter is this one.
class OneFilterEngine final : public Engine {
 public:
  explicit OneFilterEngine(Maker maker) : maker_(std::move(maker)) {}
  std::string_view name() const override { return "temporal"; }
  std::string description() const override { return "a filter over time"; }
  std::unique_ptr<Denoiser> make_denoiser(const Filter& /*filter*/, const NoiseModel& /*noise*/,
                                          const FrameFormat& /*format*/) override {
    return maker_();
  }
  Frame allocate_frame(const FrameFormat& format) override { return limpid::allocate_frame(format); }
  NoiseModel estimate_noise(const Frame& /*frame*/) override { return {}; }
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    return limpid::brightness_histogram(frame);
  }

 private:
  Maker maker_;
};

inline std::vector<Sent> random_frames(std::mt19937& random, std::size_t count) {
  std::vector<Sent> frames(count);
  constexpr int kFramesOfLevel = 6;
  float sigma = 0;
  for (Sent& frame : frames) {
    frame.value = static_cast<int>(random() % 200);
    sigma = random() % kFramesOfLevel == 0 ? static_cast<float>(random() % 20) : sigma;
    frame.sigma = sigma;
  }
  return frames;
}

/// Streams of all lengths, with and without cuts and context, one after the other through one denoiser.
inline void expect_every_stream_as_defined(const Maker& make) {
  std::mt19937 random(3);
  const auto denoiser = make();
  EXPECT_EQ(denoiser->reach(), kReach);
  EXPECT_EQ(denoiser->latency(), kReach.after);
  for (std::size_t count = 0; count < 40; ++count) {
    for (const bool odd : {false, true}) {
      SCOPED_TRACE(std::to_string(count) + " frames" + (odd ? ", cut and context" : ""));
      std::vector<Sent> frames = random_frames(random, count);
      if (odd) {
        for (Sent& frame : frames) {
          frame.begins_anew = random() % 5 == 0;
          frame.context_only = random() % 3 == 0;
        }
      }
      expect_as_defined(run(*denoiser, frames, 100), frames, 100);
      denoiser->reset();
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

/// Any segment of a stream, with its reach of context, is bit-exact with the whole stream.
inline void expect_segments_to_give_the_whole(const Maker& make) {
  std::mt19937 random(4);
  std::vector<Sent> all = random_frames(random, 30);
  all[17].begins_anew = true;
  const std::vector<Frame> whole = run(*make(), all);
  ASSERT_EQ(whole.size(), all.size());
  const auto denoiser = make();
  for (int first = 0; first < 30; first += 3) {
    for (int last = first + 1; last <= 30; last += 7) {
      std::vector<Sent> segment;
      const int begin = std::max(first - kReach.before, 0);
      const int end = std::min(last + kReach.after, 30);
      for (int i = begin; i < end; ++i) {
        segment.push_back(all[i]);
        segment.back().context_only = i < first || i >= last;
      }
      denoiser->reset();
      const std::vector<Frame> results = run(*denoiser, segment, begin);
      ASSERT_EQ(results.size(), static_cast<std::size_t>(last - first));
      for (int i = first; i < last; ++i) {
        ASSERT_TRUE(oracle::same_bits(results[i - first], whole[i])) << first << " to " << last << ", " << i;
      }
    }
  }
}

/// A seek: frames in progress are dropped, received or not, and do not affect later results.
inline void expect_reset_to_begin_anew(const Maker& make) {
  std::mt19937 random(5);
  const auto denoiser = make();
  for (int sent = 0; sent < 9; ++sent) {
    for (int received = 0; received <= std::max(sent - kReach.after, 0); ++received) {
      for (int i = 0; i < sent; ++i) {
        denoiser->send(make_frame({.value = 7 * i}, i));
      }
      for (int i = 0; i < received; ++i) {
        EXPECT_TRUE(denoiser->receive().has_value());
      }
      denoiser->reset();
      EXPECT_FALSE(denoiser->receive().has_value());
      const std::vector<Sent> frames = random_frames(random, 6);
      expect_as_defined(run(*denoiser, frames), frames);
      denoiser->reset();
    }
  }
}

}  // namespace limpid::temporal
