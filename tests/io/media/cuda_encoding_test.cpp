// SPDX-License-Identifier: MIT
// Encoders that accept frames in a GPU's memory, and requests for a missing GPU. Without a GPU, an attempt is
// visible in the warning that libav cannot use it.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "io/media/cuda_frames.h"
#include "io/media/encoder.h"
#include "io/media/pixel_format.h"
#include "tests/io/media/media.h"

namespace limpid::io {
namespace {

bool gpu_can_be_reached() {
  try {
    open_cuda_device(0);
    return true;
  } catch (const Error&) {
    return false;
  }
}

struct Attempt {
  bool tried = false;  // an attempt to have the frames on the GPU was made
  std::string error;
};

/// Sets up an encoder for frames of a pixel format, with a GPU's memory available.
Attempt open_encoder(const std::string& codec, AVPixelFormat source, const std::string& pixel_format = "") {
  EncoderSource description;
  description.format = frame_format(source).value();
  description.format.width = 320;
  description.format.height = 240;
  const FrameHandle properties = make_frame();
  description.properties = properties.get();
  WriterOptions options;
  options.codec = codec;
  options.pixel_format = pixel_format;
  options.memory = cuda_memory(0);
  std::vector<std::string> warnings;
  Attempt attempt;
  try {
    const Encoder encoder("out.mkv", choose_container("out.mkv", options.container), description, options,
                          warnings);
    EXPECT_EQ(encoder.cuda_frames(), nullptr);
  } catch (const Error& error) {
    attempt.error = error.what();
  }
  attempt.tried =
      joined(warnings).find("frames go to " + codec + " by way of the host's memory: ") != std::string::npos;
  return attempt;
}

TEST(CudaEncoding, IsForEncodersThatTakeFramesInItsMemory) {
  void* state = nullptr;
  while (const AVCodec* const codec = av_codec_iterate(&state)) {
    const std::span<const AVPixelFormat> formats = pixel_formats_of(*codec);
    const bool listed = std::ranges::find(formats, AV_PIX_FMT_CUDA) != formats.end();
    if (av_codec_is_encoder(codec) != 0) {
      EXPECT_EQ(takes_cuda_frames(*codec), listed) << codec->name;
    } else {
      EXPECT_FALSE(takes_cuda_frames(*codec)) << codec->name;
    }
  }
}

TEST(CudaEncoding, IsTriedWhereFramesNeedNoConversion) {
  if (avcodec_find_encoder_by_name("hevc_nvenc") == nullptr) {
    GTEST_SKIP() << "this libavcodec has no hevc_nvenc";
  }
  if (gpu_can_be_reached()) {
    GTEST_SKIP() << "there is a GPU, which leaves no warning";
  }
  EXPECT_TRUE(open_encoder("hevc_nvenc", AV_PIX_FMT_YUV420P).tried);
  EXPECT_TRUE(open_encoder("hevc_nvenc", AV_PIX_FMT_YUV420P, "nv12").tried);
  EXPECT_TRUE(open_encoder("hevc_nvenc", AV_PIX_FMT_YUV420P10).tried);
  EXPECT_TRUE(open_encoder("hevc_nvenc", AV_PIX_FMT_YUV444P).tried);
  EXPECT_FALSE(open_encoder("hevc_nvenc", AV_PIX_FMT_YUV422P).tried);
  EXPECT_FALSE(open_encoder("hevc_nvenc", AV_PIX_FMT_YUV444P10).tried);
  EXPECT_FALSE(open_encoder("hevc_nvenc", AV_PIX_FMT_GRAY8).tried);
  EXPECT_FALSE(open_encoder("libx264", AV_PIX_FMT_YUV420P).tried);
}

using CudaEncodingFile = MediaTest;

TEST_F(CudaEncodingFile, MissingGpuEncoderIsAnErrorThatLeavesNoFile) {
  const std::string codec = "h264_nvenc";
  const Attempt attempt = open_encoder(codec, AV_PIX_FMT_YUV420P);
  if (attempt.error.empty()) {
    GTEST_SKIP() << "there is a GPU that encodes";
  }
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=320x240:r=25:d=0.2 -c:v ffv1");
  const Reader reader(source);
  WriterOptions options;
  options.codec = codec;
  options.memory = cuda_memory(0);
  try {
    const Writer writer(path("out.mkv"), reader, options);
    ADD_FAILURE() << "was opened";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("h264_nvenc"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
  EXPECT_EQ(files(), std::vector<std::string>{"source.mkv"});
}

}  // namespace
}  // namespace limpid::io
