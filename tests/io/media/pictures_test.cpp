// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

class PicturesTest : public MediaTest {
 protected:
  std::string make_clip() const {
    return make("clip.mkv", "-f lavfi -i testsrc2=s=34x21:r=25:d=0.2 -c:v ffv1 -pix_fmt bgr0");
  }
};

TEST_F(PicturesTest, LosslessFormatsComeBackBitExact) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"rgb24", "png"}, {"gray", "png"},   {"gray16be", "png"}, {"rgb48be", "png"}, {"rgba", "png"},
      {"ya8", "png"},   {"rgb24", "tiff"}, {"rgb48le", "tiff"}, {"rgb24", "bmp"}};
  for (const auto& [format, extension] : cases) {
    SCOPED_TRACE(extension);
    SCOPED_TRACE(format);
    const std::string encoder = extension == "bmp" ? "png" : extension;
    const std::string source =
        make("source." + encoder,
             "-f lavfi -i testsrc2=s=35x21,noise=alls=20 -frames:v 1 -update 1 -pix_fmt " + format);
    const Transcoded result = transcode(source, path("copy." + extension), {.overwrite = Overwrite::kAlways});
    EXPECT_EQ(joined(result.warnings), "");
    const Clip original = read_clip(source);
    EXPECT_TRUE(original.video.still_picture);
    EXPECT_EQ(original.video.frame_count, 1);
    expect_same_frames(original.frames, read_clip(path("copy." + extension)).frames);
  }
}

TEST_F(PicturesTest, PalettesBecomeRgbWithTheSameColors) {
  const std::string palette =
      make("palette.png",
           "-f lavfi -i "
           "'testsrc2=s=36x20:r=1:d=1,split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse' "
           "-frames:v 1 -update 1");
  const Clip clip = read_clip(palette);
  EXPECT_EQ(clip.video.pixel_format, "pal8");
  EXPECT_EQ(to_string(clip.video.format), "36x20 RGB 8 bit");
  const std::string expected = make("expected.png", "-i '" + palette + "' -pix_fmt rgb24 -update 1");
  expect_same_frames(read_clip(expected).frames, clip.frames);
}

TEST_F(PicturesTest, BlackAndWhiteBecomesGray) {
  const std::string source =
      make("source.png", "-f lavfi -i color=white:s=40x20:r=1:d=1 -frames:v 1 -update 1 -pix_fmt monob");
  const Clip clip = read_clip(source);
  EXPECT_EQ(to_string(clip.video.format), "40x20 gray 8 bit");
  EXPECT_EQ(clip.frames[0].planes[0].row<std::uint8_t>(19)[39], 255);
}

TEST_F(PicturesTest, SequencesAreNumberedFromOne) {
  const std::string clip = make_clip();
  transcode(clip, path("picture_%03d.png"));
  EXPECT_EQ(
      joined(files()),
      "clip.mkv\npicture_001.png\npicture_002.png\npicture_003.png\npicture_004.png\npicture_005.png\n");
  const Clip sequence = read_clip(path("picture_%03d.png"), {.options = {{"framerate", "50"}}});
  EXPECT_FALSE(sequence.video.still_picture);
  EXPECT_EQ(sequence.video.frame_count, 5);
  EXPECT_DOUBLE_EQ(sequence.video.frames_per_second, 50);
  expect_same_frames(read_clip(clip).frames, sequence.frames);

  EXPECT_THROW(transcode(clip, path("picture_%03d.png")), Error);
  EXPECT_NO_THROW(transcode(clip, path("picture_%03d.png"), {.overwrite = Overwrite::kAlways}));
  EXPECT_THROW(
      transcode(path("picture_%03d.png"), path("picture_%03d.png"), {.overwrite = Overwrite::kAlways}),
      Error);
}

TEST_F(PicturesTest, SequencesKeepTheNumbersOfTheirSource) {
  make("shot.%04d.png", "-f lavfi -i testsrc2=s=32x32:r=25:d=0.12 -start_number 1001");
  transcode(path("shot.%04d.png"), path("out.%04d.png"));
  EXPECT_EQ(joined(files()),
            "out.1001.png\nout.1002.png\nout.1003.png\nshot.1001.png\nshot.1002.png\nshot.1003.png\n");
  EXPECT_EQ(read_clip(path("shot.%04d.png"), {.options = {{"start_number", "1002"}}}).frames.size(), 2U);
  transcode(path("shot.%04d.png"), path("late.%04d.png"), {}, {.options = {{"start_number", "1002"}}});
  EXPECT_TRUE(std::filesystem::exists(path("late.1002.png")));
}

TEST_F(PicturesTest, PicturesOfTheInputAreNeverOverwritten) {
  namespace fs = std::filesystem;
  fs::create_directories(path("in/sub"));
  fs::create_directory_symlink("in", path("link"));
  fs::create_directory(path("out"));
  const std::string clip = make_clip();
  const std::string source = path("in/take2%03d.png");
  transcode(clip, source);
  const auto pictures = [&] { return output_of("cd '" + path("in") + "' && md5sum *.png"); };
  const std::string before = pictures();
  const auto message = [&](const std::string& from, const std::string& to) -> std::string {
    try {
      transcode(from, path(to), {.overwrite = Overwrite::kAlways});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const std::string target : {"in/take2%03d.png", "in/./take2%03d.png", "in/sub/../take2%3d.png",
                                   "link/take2%03d.png", "in/take2001.png"}) {
    const std::string sentence = message(source, target);
    EXPECT_NE(sentence.find(": is a picture of the input"), std::string::npos) << target << ": " << sentence;
  }
  const fs::path folder = fs::current_path();
  fs::current_path(path("in"));
  EXPECT_NE(message("take2%03d.png", "in/take2%03d.png").find("picture of the input"), std::string::npos);
  fs::current_path(folder);
  fs::create_symlink("../in/take2002.png", path("out/take2002.png"));
  EXPECT_NE(message(source, "out/take2%03d.png").find("picture of the input"), std::string::npos);
  EXPECT_EQ(pictures(), before);

  for (const std::string target :
       {"in/take3%03d.png", "in/take2%03d.tiff", "in/take2%02d.png", "in/take%04d.png"}) {
    EXPECT_EQ(message(source, target), "no error");
  }
}

TEST_F(PicturesTest, UnfinishedPicturesCanBeRemovedAtOnce) {
  const Reader reader(make_clip());
  const std::vector<std::string> before = files();
  const Writer sequence(path("picture_%03d.png"), reader, {});
  const Writer picture(path("picture.png"), reader, {});
  const Writer video(path("video_%03d.mkv"), reader, {});
  EXPECT_EQ(files().size(), before.size() + 3);
  EXPECT_EXIT(exit_without_temporary_files(1), testing::ExitedWithCode(1), "");
  EXPECT_EQ(files(), before);
}

TEST_F(PicturesTest, OnePictureFileHoldsOneFrame) {
  const std::string clip = make_clip();
  try {
    transcode(clip, path("one.png"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()),
        path("one.png") +
            ": holds one picture only, and the input has more; name a sequence such as picture_%04d.png");
  }
  EXPECT_EQ(joined(files()), "clip.mkv\n");
}

TEST_F(PicturesTest, JpegOfLimitedRangeIsWrittenInFullRange) {
  for (const std::string format : {"yuv420p", "yuv420p10le", "gray"}) {
    SCOPED_TRACE(format);
    const std::string source =
        make(format + ".mkv",
             "-f lavfi -i color=white:s=32x32:d=0.04,format=yuv444p10le -vf "
             "scale=out_range=tv,setparams=range=tv -color_range tv -c:v ffv1 -pix_fmt " +
                 format);
    const Clip clip = read_clip(source);
    ASSERT_EQ(clip.video.format.range, ColorRange::kLimited);
    transcode(source, path(format + ".jpg"));
    const Clip copy = read_clip(path(format + ".jpg"));
    EXPECT_EQ(copy.video.format.range, ColorRange::kFull);
    EXPECT_GE(copy.frames[0].planes[0].row<std::uint8_t>(16)[16], 254);
  }
}

TEST_F(PicturesTest, JpegIsWrittenInFullRange) {
  const std::string source =
      make("source.png", "-f lavfi -i color=white:s=32x32 -frames:v 1 -update 1 -pix_fmt rgb24");
  transcode(source, path("copy.jpg"));
  const Clip copy = read_clip(path("copy.jpg"));
  EXPECT_EQ(copy.video.format.range, ColorRange::kFull);
  EXPECT_GE(copy.frames[0].planes[0].row<std::uint8_t>(16)[16], 254);
}

}  // namespace
}  // namespace limpid::io
