// SPDX-License-Identifier: MIT
// Requesting a GPU's decoder gives all frames, with and without a GPU.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

class CudaDecodingTest : public MediaTest {
 protected:
  static Clip read(const std::string& file, bool same_samples = false) {
    ReaderOptions options;
    options.memory = cuda_memory(0);
    options.same_samples = same_samples;
    Clip clip = read_clip(file, options);
    EXPECT_NE(clip.video.decoded_on_cuda, !clip.video.why_not_on_cuda.empty()) << clip.video.why_not_on_cuda;
    return clip;
  }
};

TEST_F(CudaDecodingTest, FramesComeWithAGpuOrWithout) {
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=256x192:r=25:d=0.4 -pix_fmt yuv420p -c:v libx264 -bf 2");
  const Clip clip = read(source);
  ASSERT_EQ(clip.frames.size(), 10U);
  for (const Frame& frame : clip.frames) {
    EXPECT_EQ(frame.memory, clip.video.decoded_on_cuda ? cuda_memory(0) : kHostMemory);
  }
}

// More than the decoder has memory for: all frames arrive, or the missing one is reported.
TEST_F(CudaDecodingTest, AFrameThatTheGpuHasNoMemoryForIsAnError) {
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=256x192:r=25:d=4 -pix_fmt yuv420p -c:v libx264 -bf 2");
  ReaderOptions options;
  options.memory = cuda_memory(0);
  Reader reader(source, options);
  std::vector<Frame> held;
  std::string why;
  try {
    for (Reader::Item item = reader.read(); !std::holds_alternative<Reader::End>(item);
         item = reader.read()) {
      if (Frame* const frame = std::get_if<Frame>(&item)) {
        EXPECT_NE(frame->planes[0].data, nullptr);
        held.push_back(std::move(*frame));
      }
    }
  } catch (const Error& error) {
    why = error.what();
  }
  if (reader.video().decoded_on_cuda) {
    EXPECT_LT(held.size(), 100U);
    EXPECT_EQ(why, source + ": frame " + std::to_string(held.size()) + ": the GPU decoder ran out of memory");
  } else {
    EXPECT_EQ(held.size(), 100U);
    EXPECT_EQ(why, "");
  }
}

TEST_F(CudaDecodingTest, CodecsThatNoGpuKnowsAreDecodedByTheCpu) {
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v ffv1");
  const Clip clip = read(source);
  EXPECT_EQ(clip.frames.size(), 5U);
  EXPECT_EQ(clip.video.why_not_on_cuda, "no GPU decodes ffv1");
}

// Decoders of MPEG-2 may round in different ways.
TEST_F(CudaDecodingTest, CodecsWhoseSamplesGpusMakeOthersOfAreDecodedByTheCpuIfThatIsAskedFor) {
  const std::string source = "-f lavfi -i testsrc2=s=256x192:r=25:d=0.2 -pix_fmt yuv420p -c:v ";
  const Clip mpeg = read(make("mpeg.mkv", source + "mpeg2video"), true);
  EXPECT_EQ(mpeg.frames.size(), 5U);
  EXPECT_FALSE(mpeg.video.decoded_on_cuda);
  EXPECT_NE(mpeg.video.why_not_on_cuda.find("mpeg2video"), std::string::npos) << mpeg.video.why_not_on_cuda;
  const std::string h264 = make("h264.mkv", source + "libx264");
  EXPECT_EQ(read(h264, true).video.why_not_on_cuda, read(h264).video.why_not_on_cuda);
}

TEST_F(CudaDecodingTest, MonochromeH264IsDecodedByTheCpu) {
  for (const std::string preset : {"ultrafast", "medium"}) {
    const std::string source = make(preset + ".mp4",
                                    "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v libx264 "
                                    "-pix_fmt yuv420p -preset " +
                                        preset);
    EXPECT_EQ(read(source).video.why_not_on_cuda.find("chroma"), std::string::npos) << preset;
  }
  for (const std::string name : {"source.mp4", "source.264"}) {
    const std::string source =
        make(name, "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v libx264 -pix_fmt gray");
    const Clip clip = read(source);
    EXPECT_EQ(clip.frames.size(), 5U) << name;
    EXPECT_EQ(clip.video.why_not_on_cuda, "GPUs don't decode H.264 without chroma") << name;
  }
}

// A GPU would output half the rows of chroma.
TEST_F(CudaDecodingTest, JpegWithMoreChromaThanGpusGiveIsDecodedByTheCpu) {
  const auto with_format = [&](const std::string& format) {
    return read(
        make(format + ".avi", "-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v mjpeg -pix_fmt " + format));
  };
  for (const std::string format : {"yuvj420p", "yuvj444p"}) {
    EXPECT_EQ(with_format(format).video.why_not_on_cuda.find("chroma"), std::string::npos) << format;
  }
  const Clip clip = with_format("yuvj422p");
  EXPECT_EQ(clip.frames.size(), 5U);
  EXPECT_EQ(clip.video.why_not_on_cuda, "GPUs reduce the chroma of JPEG pictures to 4:2:0");
}

}  // namespace
}  // namespace limpid::io
