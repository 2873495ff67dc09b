// SPDX-License-Identifier: MIT
// Picture and video files from an encoder's packets.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

extern "C" {
#include <libavutil/display.h>
}

#include "core/base/error.h"
#include "io/media/encoder.h"
#include "io/media/orientation.h"
#include "io/media/writer/sinks.h"
#include "tests/io/media/writer/made_source.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

class SinksTest : public ::testing::Test {
 protected:
  /// A sink for the made source, to a file of this name.
  template <typename Made>
  std::unique_ptr<Made> open(const std::string& name, const std::string& codec, WriterOptions options = {}) {
    options.codec = codec;
    const std::string url = (folder_.path() / name).string();
    const AVOutputFormat& container = choose_container(url, "");
    const Source source = made_.get();
    rotation_ = std::make_unique<Rotation>(source, container, diagnostics_);
    std::vector<std::string> warnings;
    encoder_ = std::make_unique<Encoder>(url, container,
                                         EncoderSource{.format = source.format, .properties = &source.first},
                                         options, warnings);
    const Target target{url, container, *encoder_, *rotation_, options};
    if constexpr (std::is_same_v<Made, Pictures>) {
      return std::make_unique<Pictures>(target, source, diagnostics_);
    } else {
      return std::make_unique<MediaFile>(target, source, Audio(url, container, options), diagnostics_);
    }
  }
  void write(Sink& sink, int frames) {
    for (int i = 0; i < frames; ++i) {
      Frame frame = allocate_frame(made_.get().format);
      frame.index = i;
      sink.expect(frame);
      encoder_->send(frame);
      write_encoded(sink);
    }
    encoder_->flush();
    write_encoded(sink);
  }
  void write_encoded(Sink& sink) {
    while (PacketHandle packet = encoder_->receive()) {
      sink.write_frame(std::move(packet));
    }
  }
  std::vector<std::string> files() const { return folder_.files(); }

  MadeSource made_;
  test::TemporaryFolder folder_;
  Diagnostics diagnostics_;
  std::unique_ptr<Rotation> rotation_;
  std::unique_ptr<Encoder> encoder_;
};

TEST_F(SinksTest, PicturesArePutInPlaceOneByOne) {
  const auto sequence = open<Pictures>("p_%02d.png", "png");
  write(*sequence, 2);
  EXPECT_EQ(files(), (std::vector<std::string>{"p_01.png", "p_02.png"}));
  EXPECT_GT(sequence->bytes(), 0);
  EXPECT_EQ(sequence->finish_partial(), "");
}

TEST_F(SinksTest, OnePictureIsOneFile) {
  std::string completed;
  const auto picture = open<Pictures>(
      "p.png", "png", {.when_whole = [&](const std::string& temporary) { completed = temporary; }});
  write(*picture, 1);
  picture->finish();
  EXPECT_EQ(files(), std::vector<std::string>{"p.png"});
  EXPECT_NE(completed, "");
  const auto second = open<Pictures>("q.png", "png");
  EXPECT_THROW(write(*second, 2), Error);
}

TEST_F(SinksTest, PicturesHoldNothingBeside) {
  made_.add_sound();
  open<Pictures>("p.png", "png");
  EXPECT_EQ(texts_of(diagnostics_),
            std::vector<std::string>{"png can't hold the audio stream #1 (pcm_s16le): it is left out"});
  EXPECT_TRUE(files().empty());
  EXPECT_THROW(open<Pictures>("p.png", "png", {.encoder_options = {{"nosuch", "1"}}}), UsageError);
}

TEST_F(SinksTest, AFileHasAllFramesAndChapters) {
  made_.add_chapter(0, 100, "One");
  const auto file = open<MediaFile>("out.mkv", "ffv1");
  write(*file, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out.mkv"));
  file->finish();
  EXPECT_EQ(files(), std::vector<std::string>{"out.mkv"});
  EXPECT_EQ(file->bytes(), static_cast<std::int64_t>(std::filesystem::file_size(folder_.path() / "out.mkv")));
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(SinksTest, AFileThatBreaksOffIsCalledPartial) {
  const auto file = open<MediaFile>("out.mkv", "ffv1");
  write(*file, 1);
  EXPECT_FALSE(file->is_full());
  EXPECT_EQ(file->finish_partial(), (folder_.path() / "out.partial.mkv").string());
}

class RotationTest : public ::testing::Test {
 protected:
  void ask_for(double degrees) {
    std::array<std::int32_t, 9> matrix{};
    av_display_rotation_set(matrix.data(), degrees);
    add_side_data(*made_.input->streams[0], AV_PKT_DATA_DISPLAYMATRIX,
                  reinterpret_cast<const std::uint8_t*>(matrix.data()), sizeof matrix);
  }
  Rotation in(const std::string& container) {
    diagnostics_.clear();
    return {made_.get(), container_named(container), diagnostics_};
  }

  MadeSource made_;
  Diagnostics diagnostics_;
};

TEST_F(RotationTest, UprightPicturesStayAsTheyAre) {
  EXPECT_TRUE(in("matroska").applied().is_upright());
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(RotationTest, AContainerThatHoldsItLeavesThePicturesAlone) {
  ask_for(90);
  const Rotation kept = in("mp4");
  EXPECT_TRUE(kept.applied().is_upright());
  EXPECT_FALSE(kept.is_lost());
  EXPECT_TRUE(diagnostics_.empty());
}

TEST_F(RotationTest, OtherContainersGetTurnedPictures) {
  ask_for(90);
  Rotation turned = in("matroska");
  EXPECT_TRUE(turned.applied().transposed);
  EXPECT_FALSE(turned.is_lost());
  EXPECT_EQ(text_of(diagnostics_, Diagnostic::Kind::kLoss),
            "matroska can't hold the source's rotation: the samples are rotated instead");
  EXPECT_EQ(turned.turn(allocate_frame(made_.get().format)).format.width, 48);
  EXPECT_EQ(turned.copies(), 1);
}

TEST_F(RotationTest, FieldsAndObliqueAnglesAreNotTurned) {
  const std::string sentence =
      "matroska can't hold the source's rotation: players show the picture without it";
  ask_for(30);
  EXPECT_TRUE(in("matroska").is_lost());
  EXPECT_EQ(text_of(diagnostics_, Diagnostic::Kind::kLoss), sentence);
  ask_for(90);
#ifdef AV_FRAME_FLAG_INTERLACED
  made_.first->flags |= AV_FRAME_FLAG_INTERLACED;
#else
  made_.first->interlaced_frame = 1;
#endif
  const Rotation fields = in("matroska");
  EXPECT_TRUE(fields.is_lost());
  EXPECT_TRUE(fields.applied().is_upright());
  EXPECT_EQ(text_of(diagnostics_, Diagnostic::Kind::kLoss), sentence);
}

}  // namespace

}  // namespace limpid::io
