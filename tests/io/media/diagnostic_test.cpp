// SPDX-License-Identifier: MIT
#include "io/media/diagnostic.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace limpid::io {
namespace {

using Kind = Diagnostic::Kind;

TEST(Diagnostics, ReaderAndWriterShareOneListInTheOrderOfKinds) {
  const Diagnostics of_reader{{.kind = Kind::kScanChange, .text = "scan"},
                              {.kind = Kind::kDamagedPackets, .text = {}, .count = 2},
                              {.kind = Kind::kConvertedFrames, .text = {}, .count = 7}};
  const Diagnostics of_writer{{.kind = Kind::kLeftOut, .text = "no room", .stream = 3},
                              {.kind = Kind::kLoss, .text = "tags"},
                              {.kind = Kind::kLeftOut, .text = "unknown", .stream = 5},
                              {.kind = Kind::kDamagedPackets, .text = {}, .count = 1}};
  const Diagnostics all = merged(of_reader, of_writer);
  EXPECT_EQ(texts_of(all), (std::vector<std::string>{"tags", "no room", "unknown", "", "", "scan"}));
  EXPECT_EQ(count_of(all, Kind::kDamagedPackets), 3);
  EXPECT_EQ(count_of(all, Kind::kConvertedFrames), 7);
  EXPECT_EQ(count_of(all, Kind::kDamagedFrames), 0);
  EXPECT_EQ(text_of(all, Kind::kScanChange), "scan");
  EXPECT_EQ(text_of(all, Kind::kFailure), "");
  EXPECT_EQ(streams_left_out(all), (std::vector<unsigned>{3, 5}));
}

TEST(Diagnostics, StreamsLeftOutForOneReasonHaveOneText) {
  Diagnostics all;
  for (const unsigned stream : {2U, 3U, 14U}) {
    all.push_back(
        {.kind = Kind::kLeftOut,
         .text = "mov can't hold the data stream #" + std::to_string(stream) + " (mebx): it is left out",
         .stream = stream});
  }
  all.push_back({.kind = Kind::kLeftOut,
                 .text = "mov can't hold the data stream #1 (klv): it is left out",
                 .stream = 1});
  EXPECT_EQ(texts_of(all), (std::vector<std::string>{
                               "mov can't hold the data stream #2 (mebx): it is left out, and also #3, #14",
                               "mov can't hold the data stream #1 (klv): it is left out"}));
  EXPECT_EQ(streams_left_out(all).size(), 4U);
}

}  // namespace
}  // namespace limpid::io
