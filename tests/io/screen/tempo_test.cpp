// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/media/libav.h"
#include "io/screen/audio_output.h"

namespace limpid::io {
namespace {

constexpr int kTempoRate = 48000;
constexpr double kPitch = 440;

/// A frame of these samples of both channels.
FrameHandle frame_of(const std::vector<float>& samples, std::int64_t time = 0) {
  FrameHandle frame = make_frame();
  frame->format = AV_SAMPLE_FMT_FLT;
  frame->sample_rate = kTempoRate;
  frame->nb_samples = static_cast<int>(samples.size() / 2);
  av_channel_layout_default(&frame->ch_layout, 2);
  frame->pts = time;
  check(av_frame_get_buffer(frame.get(), 0), "frame", "no memory");
  std::copy(samples.begin(), samples.end(), reinterpret_cast<float*>(frame->data[0]));
  return frame;
}

/// A second of a tone, in both channels, in pieces.
std::vector<float> played_at(double speed) {
  Tempo tempo(kTempoRate);
  tempo.set_speed(speed);
  std::vector<float> played;
  constexpr int kPiece = 4800;
  for (int first = 0; first < kTempoRate; first += kPiece) {
    std::vector<float> piece;
    for (int i = first; i < first + kPiece; ++i) {
      piece.insert(piece.end(), 2, static_cast<float>(std::sin(2 * M_PI * kPitch * i / kTempoRate)));
    }
    const std::vector<float> made = tempo.filter(*frame_of(piece, first));
    played.insert(played.end(), made.begin(), made.end());
  }
  const double length = static_cast<double>(played.size()) / 2 / kTempoRate;
  EXPECT_NEAR(length * speed + tempo.held(), 1, 0.001) << "nothing is lost";
  EXPECT_LT(tempo.held(), 0.2);
  return played;
}

/// Oscillations per second.
double pitch_of(const std::vector<float>& both) {
  int rises = 0;
  for (std::size_t i = 2; i < both.size(); i += 2) {
    rises += both[i - 2] < 0 && both[i] >= 0 ? 1 : 0;
  }
  return rises / (static_cast<double>(both.size()) / 2 / kTempoRate);
}

TEST(TempoTest, SpeedChangesTheLengthAndNotThePitch) {
  for (const double speed : {0.5, 0.8, 1.0, 1.5, 2.0}) {
    EXPECT_NEAR(pitch_of(played_at(speed)), kPitch, 15) << speed;
  }
}

TEST(TempoTest, AtTheNormalSpeedSamplesPassAtOnce) {
  Tempo tempo(kTempoRate);
  const std::vector<float> samples{0.1F, 0.2F, 0.3F, 0.4F};
  EXPECT_EQ(tempo.filter(*frame_of(samples)), samples);
  EXPECT_EQ(tempo.held(), 0);
}

TEST(TempoTest, AnotherSpeedDropsWhatIsHeld) {
  Tempo tempo(kTempoRate);
  tempo.set_speed(2);
  const std::vector<float> silence(9600);
  tempo.filter(*frame_of(silence));
  EXPECT_GT(tempo.held(), 0);
  tempo.set_speed(0.5);
  EXPECT_EQ(tempo.held(), 0);
  EXPECT_EQ(tempo.speed(), 0.5);
  tempo.set_speed(100);
  EXPECT_EQ(tempo.speed(), Tempo::kFastest);
}

}  // namespace
}  // namespace limpid::io
