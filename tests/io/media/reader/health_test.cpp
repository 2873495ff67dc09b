// SPDX-License-Identifier: MIT
// Faults of a source are counted and reported.
#include "io/media/reader/health.h"

#include <gtest/gtest.h>

#include "io/media/diagnostic.h"
#include "tests/io/media/reader/memory_source.h"

namespace limpid::io {
namespace {

using Kind = Diagnostic::Kind;

constexpr AVRational kMillisecond{1, 1000};

TEST(HealthTest, ASoundSourceHasNoDiagnostics) {
  Health health;
  health.note_container_error("");
  health.note_packet(*packet_at(0), kMillisecond, true, true);
  health.note_frame({.frame = make_frame()});
  health.note_end(false, false, false);
  health.note_length(9'900'000, 10'000'000, 200'000);
  EXPECT_TRUE(health.diagnostics(true).empty());
}

TEST(HealthTest, ErrorsOfTheContainerCountOncePerPacketInTheRange) {
  Health health;
  health.note_container_error("before");
  health.note_packet(*packet_at(0), kMillisecond, true, false);
  EXPECT_TRUE(health.diagnostics(false).empty()) << "outside";
  health.note_container_error("first");
  health.note_container_error("second");
  health.note_packet(*packet_at(40), kMillisecond, true, true);
  health.note_packet(*packet_at(80), kMillisecond, true, true);
  health.note_container_error("last");
  health.note_end(false, false, false);
  const Diagnostics all = health.diagnostics(false);
  EXPECT_EQ(count_of(all, Kind::kContainerErrors), 2);
  EXPECT_EQ(text_of(all, Kind::kContainerErrors), "first");
}

TEST(HealthTest, ASeekForgetsAnErrorThatNoPacketHasFollowed) {
  Health health;
  health.note_container_error("an error");
  health.forget_position();
  health.note_packet(*packet_at(0), kMillisecond, true, true);
  EXPECT_TRUE(health.diagnostics(false).empty());
}

TEST(HealthTest, GapsNeedASteadyClock) {
  for (const bool has_clock : {true, false}) {
    Health health;
    for (std::int64_t time = 0; time < 4000; time += time == 2000 ? 400 : 40) {
      health.note_packet(*packet_at(time), kMillisecond, has_clock, true);
    }
    EXPECT_TRUE(health.diagnostics(false).empty()) << "not judged before the end";
    EXPECT_EQ(count_of(health.diagnostics(true), Kind::kMissingFrames), has_clock ? 9 : 0);
    health.note_end(true, false, false);
    EXPECT_TRUE(health.diagnostics(false).empty()) << "nor if the source was interrupted";
    health.note_end(false, false, false);
    EXPECT_EQ(count_of(health.diagnostics(false), Kind::kMissingFrames), has_clock ? 9 : 0);
  }
}

TEST(HealthTest, AShortLengthIsToldOfASourceThatHasEndedByItself) {
  const auto shortfall_of = [](bool interrupted, const std::string& failure) {
    Health health;
    if (!failure.empty()) {
      health.note_failure(failure);
    }
    health.note_end(interrupted, false, false);
    health.note_length(3'000'000, 10'000'000, 200'000);
    return text_of(health.diagnostics(false), Kind::kShortfall);
  };
  EXPECT_EQ(shortfall_of(false, ""), "it ends after 3.00 s of the 10.00 s that its header declares");
  EXPECT_EQ(shortfall_of(true, ""), "");
  EXPECT_EQ(shortfall_of(false, "Input/output error"), "");
}

TEST(HealthTest, MissingFramesOfTheHeadersCountAreToldAtTheEnd) {
  Health health;
  health.note_frame_count(33, 36);
  EXPECT_TRUE(health.diagnostics(false).empty()) << "not at the end";
  health.note_end(false, false, false);
  health.note_frame_count(36, 36);
  EXPECT_TRUE(health.diagnostics(false).empty());
  health.note_frame_count(33, 36);
  EXPECT_EQ(text_of(health.diagnostics(false), Kind::kShortfall),
            "3 of the 36 frames that it declares are missing");
}

TEST(HealthTest, ErrorsOfTheDecoderCountUnlessOtherSignsExplainThem) {
  Health health;
  health.note_decoder_errors(2, "first");
  EXPECT_EQ(count_of(health.diagnostics(false), Kind::kDecoderErrors), 2);
  EXPECT_EQ(text_of(health.diagnostics(false), Kind::kDecoderErrors), "first");
  health.note_damaged_packet();
  EXPECT_EQ(count_of(health.diagnostics(false), Kind::kDecoderErrors), 2) << "one of them is unexplained";
  health.note_frame({nullptr, true, false});
  EXPECT_EQ(count_of(health.diagnostics(false), Kind::kDecoderErrors), 0);
}

TEST(HealthTest, AnIncompleteFrameIsTheFaultOfThePipeOrTheFile) {
  Health file;
  file.note_end(false, true, false);
  EXPECT_EQ(text_of(file.diagnostics(false), Kind::kShortfall), "it ends in the middle of a frame");
  file.note_length(1, 10'000'000, 0);
  EXPECT_EQ(text_of(file.diagnostics(false), Kind::kShortfall), "it ends in the middle of a frame");
  file.forget_position();
  EXPECT_TRUE(file.diagnostics(false).empty()) << "a seek leads away from the end";

  Health pipe;
  pipe.note_end(false, true, true);
  EXPECT_EQ(text_of(pipe.diagnostics(false), Kind::kFailure), "it ends in the middle of a frame");

  Health damaged;
  damaged.note_damage("Invalid data");
  damaged.note_end(false, true, false);
  EXPECT_EQ(text_of(damaged.diagnostics(false), Kind::kDamage), "Invalid data");
  EXPECT_EQ(text_of(damaged.diagnostics(false), Kind::kShortfall), "");
}

TEST(HealthTest, DamageIsCountedByItsKind) {
  Health health;
  health.note_frame({make_frame(), true, false});
  health.note_frame({make_frame(), true, true});
  health.note_converted_frame();
  health.note_damaged_packet();
  const std::int64_t before = health.damaged_packets();
  health.note_damaged_packet();
  health.restore_damaged_packets(before);
  const Diagnostics all = health.diagnostics(false);
  EXPECT_EQ(count_of(all, Kind::kDamagedFrames), 2);
  EXPECT_EQ(count_of(all, Kind::kWrongChecksums), 1);
  EXPECT_EQ(count_of(all, Kind::kConvertedFrames), 1);
  EXPECT_EQ(count_of(all, Kind::kDamagedPackets), 1);
}

}  // namespace
}  // namespace limpid::io
