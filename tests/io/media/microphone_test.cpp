// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "io/media/camera.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

class MicrophoneTest : public MediaTest {};

TEST_F(MicrophoneTest, TheLevelIsTheGreatestSample) {
  for (const std::string codec : {"pcm_s16le", "pcm_s32le", "pcm_f32le", "pcm_f64le"}) {
    const std::string file = make(codec + ".mkv",
                                  "-f lavfi -i testsrc2=size=32x32:rate=10:duration=0.5 "
                                  "-f lavfi -i aevalsrc='-0.5*sin(880*t)':d=0.5 -c:v ffv1 -c:a " +
                                      codec);
    Reader reader(file);
    float peak = 0;
    for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item);
         item = reader.read()) {
      if (const auto* const packet = std::get_if<std::shared_ptr<Packet>>(&item)) {
        peak = std::max(peak, peak_of(**packet, reader));
      }
    }
    EXPECT_NEAR(peak, 0.5F, 0.02F) << codec;
  }
}

TEST_F(MicrophoneTest, AFormatWithoutAListHasNone) {
  EXPECT_TRUE(list_microphones("lavfi").empty());
  EXPECT_TRUE(list_microphones("no such format").empty());
}

}  // namespace
}  // namespace limpid::io
