// SPDX-License-Identifier: MIT
// The C library's behavior as its header defines it.
#include <gtest/gtest.h>
#include <limpid.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/metrics.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_tracker.h"
#include "tests/lib/handles.h"
#include "tests/lib/quick.h"
#include "tests/oracle/pictures.h"

namespace limpid::lib {
namespace {

using oracle::add_noise;
using oracle::draw_picture;

// With the engine's C++ interface.
std::vector<Frame> denoise_by_core(const Filter& filter, const std::vector<Frame>& frames, float sigma = 10) {
  const auto engine = engine_registry().open("cpu", EngineOptions{1});
  const auto denoiser =
      engine->make_denoiser(filter, NoiseModel{{sigma, sigma, sigma}}, frames.front().format);
  std::vector<Frame> results;
  for (const Frame& frame : frames) {
    denoiser->send(frame);
  }
  denoiser->flush();
  while (auto result = denoiser->receive()) {
    results.push_back(*result);
  }
  return results;
}

void expect_same(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(oracle::same_bits(a[i], b[i])) << "frame " << i;
  }
}

std::vector<FrameFormat> formats() {
  using oracle::gray;
  using oracle::rgb;
  using oracle::yuv;
  std::vector<FrameFormat> all{gray(1, 1),
                               gray(37, 23, 16),
                               yuv(33, 17, 0, 0),
                               yuv(33, 17, 1, 1, 10),
                               yuv(35, 9, 1, 0),
                               yuv(35, 9, 2, 0),
                               yuv(35, 9, 0, 1),
                               rgb(31, 19),
                               rgb(31, 19, 12),
                               yuv(64, 48, 1, 1),
                               oracle::as_float(yuv(33, 17, 1, 1)),
                               oracle::as_float(gray(20, 30)),
                               oracle::as_float(rgb(21, 22)),
                               oracle::as_half(yuv(33, 17, 1, 1)),
                               oracle::as_half(rgb(21, 22))};
  FrameFormat with_alpha = rgb(31, 19);
  with_alpha.has_alpha = true;
  all.push_back(with_alpha);
  return all;
}

TEST(Library, GivesTheEnginesBitsInEveryFormatAndSize) {
  for (const FrameFormat& format : formats()) {
    SCOPED_TRACE(to_string(format));
    const std::vector<Frame> frames = noisy_frames(format, 2);
    const Handle denoiser;
    set_quick(denoiser);
    ASSERT_EQ(start(denoiser, format), LIMPID_OK) << limpid_error(denoiser);
    expect_same(denoise(denoiser, frames), denoise_by_core(parse_filter("bilateral"), frames));
  }
}

TEST(Library, TakesRowsOfAnyStrideAlsoUpwards) {
  const FrameFormat format = oracle::yuv(33, 17, 1, 1, 10);
  const std::vector<Frame> frames = noisy_frames(format, 1);
  const Frame expected = denoise_by_core(parse_filter("bilateral"), frames).front();
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  // Upside down; samples at a distance of two, of which the upper ten bits count, at an odd address.
  constexpr int kStride = 33 * 4 + 11;
  constexpr int kPadding = 6;
  std::vector<std::vector<std::byte>> in(3, std::vector<std::byte>(kStride * 17 + 1));
  std::vector<std::vector<std::byte>> out = in;
  const auto place = [&](std::vector<std::vector<std::byte>>& memory) {
    auto frame = sized<limpid_frame>();
    frame.padding_bits = kPadding;
    for (int p = 0; p < 3; ++p) {
      frame.planes[p] = {memory[p].data() + 1 + kStride * (format.plane_height(p) - 1), -kStride, 2};
    }
    return frame;
  };
  const auto at = [](const limpid_frame& frame, int p, int x, int y) {
    return static_cast<std::byte*>(frame.planes[p].data) + y * frame.planes[p].stride + x * 4;
  };
  const limpid_frame sent = place(in);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        const auto sample =
            static_cast<std::uint16_t>(frames[0].planes[p].row<std::uint16_t>(y)[x] << kPadding);
        std::memcpy(at(sent, p, x, y), &sample, sizeof sample);
      }
    }
  }
  ASSERT_EQ(limpid_send(denoiser, &sent), LIMPID_OK) << limpid_error(denoiser);
  limpid_frame result = place(out);
  ASSERT_EQ(limpid_receive_into(denoiser, &result), LIMPID_OK) << limpid_error(denoiser);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      for (int x = 0; x < format.plane_width(p); ++x) {
        std::uint16_t sample = 0;
        std::memcpy(&sample, at(result, p, x, y), sizeof sample);
        ASSERT_EQ(sample, expected.planes[p].row<std::uint16_t>(y)[x] << kPadding)
            << p << " " << x << " " << y;
      }
    }
  }
}

TEST(Library, FramesOfItsOwnMemoryNeedNoCopies) {
  const FrameFormat format = oracle::yuv(48, 32, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 1);
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  auto frame = sized<limpid_frame>();
  ASSERT_EQ(limpid_allocate(denoiser, &frame), LIMPID_OK);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < format.plane_height(p); ++y) {
      std::memcpy(static_cast<std::byte*>(frame.planes[p].data) + y * frame.planes[p].stride,
                  frames[0].planes[p].row<std::byte>(y), static_cast<std::size_t>(format.plane_width(p)));
    }
  }
  int user = 0;
  frame.pts = 77;
  frame.user = &user;
  frame.flags = LIMPID_INTERLACED;
  ASSERT_EQ(limpid_send(denoiser, &frame), LIMPID_OK);
  limpid_release(&frame);
  EXPECT_EQ(frame.buffer, nullptr);
  EXPECT_EQ(frame.planes[0].data, nullptr);
  auto result = sized<limpid_frame>();
  ASSERT_EQ(limpid_receive(denoiser, &result), LIMPID_OK);
  EXPECT_EQ(result.pts, 77);
  EXPECT_EQ(result.user, &user);
  EXPECT_EQ(result.flags, std::uint32_t{LIMPID_INTERLACED});
  EXPECT_EQ(result.memory, LIMPID_HOST);
  // A result may be sent again, and may outlive the denoiser.
  EXPECT_EQ(limpid_send(denoiser, &result), LIMPID_OK);
  limpid_frame copy = result;
  result.buffer = nullptr;
  {
    limpid_denoiser* gone = nullptr;
    ASSERT_EQ(limpid_new(&gone, nullptr), LIMPID_OK);
    limpid_free(&gone);
    EXPECT_EQ(gone, nullptr);
  }
  limpid_release(&copy);
  limpid_release(&copy);
}

TEST(Library, CallsOutOfTurnAreToldOf) {
  const FrameFormat format = oracle::gray(32, 32);
  const Frame frame = noisy_frames(format, 1).front();
  const Handle denoiser;
  set_quick(denoiser);
  auto result = sized<limpid_frame>();
  EXPECT_EQ(send(denoiser, frame), LIMPID_BAD_STATE);
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_BAD_STATE);
  EXPECT_EQ(limpid_flush(denoiser), LIMPID_BAD_STATE);
  EXPECT_EQ(limpid_reset(denoiser), LIMPID_BAD_STATE);
  EXPECT_STREQ(limpid_error(denoiser), "the denoiser has not been started");

  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_AGAIN);
  EXPECT_EQ(send(denoiser, frame), LIMPID_OK);
  EXPECT_EQ(limpid_flush(denoiser), LIMPID_OK);
  EXPECT_EQ(limpid_flush(denoiser), LIMPID_OK);
  EXPECT_EQ(send(denoiser, frame), LIMPID_BAD_STATE);
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_OK);
  limpid_release(&result);
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_END);
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_END);

  ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_AGAIN);
  EXPECT_EQ(send(denoiser, frame), LIMPID_OK);
  ASSERT_EQ(start(denoiser, oracle::gray(16, 16)), LIMPID_OK) << "a new stream, of another format";
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_AGAIN);
}

TEST(Library, NullIsToldOf) {
  auto format = c_format(oracle::gray(8, 8));
  auto frame = sized<limpid_frame>();
  auto stream = sized<limpid_stream_info>();
  auto noise = sized<limpid_noise>();
  auto quality = sized<limpid_quality>();
  EXPECT_EQ(limpid_new(nullptr, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_engine_new(nullptr, nullptr, 0), LIMPID_BAD_ARGUMENT);
  limpid_engine* engine = nullptr;
  EXPECT_EQ(limpid_engine_new(&engine, "cpu", -1), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_engine_new(&engine, "cpu", 1025), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(engine, nullptr);
  EXPECT_EQ(limpid_list_engines(nullptr, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_get_filter(0, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_get_parameter(0, 0, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_measure(&format, nullptr, &frame, &quality), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_measure(nullptr, &frame, &frame, &quality), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_measure(&format, &frame, &frame, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_measure(&format, &frame, &frame, &quality), LIMPID_BAD_ARGUMENT) << "planes";
  limpid_release(nullptr);
  limpid_release(&frame);
  limpid_free(nullptr);
  limpid_engine_free(nullptr);
  for (limpid_denoiser* none : {static_cast<limpid_denoiser*>(nullptr)}) {
    EXPECT_EQ(limpid_set_log(none, nullptr, nullptr), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_set(none, "sigma", "1"), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_set_int(none, "sigma", 1), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_set_float(none, "sigma", 1), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_start(none, &format), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_get_stream(none, &stream), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_allocate(none, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_send(none, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_send_to(none, &frame, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_receive(none, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_receive_into(none, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_flush(none), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_reset(none), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_get_noise(none, &noise), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_get_result_noise(none, &noise), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_cancel(none), LIMPID_BAD_ARGUMENT);
  }
  const Handle denoiser;
  EXPECT_EQ(limpid_set(denoiser, nullptr, "1"), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_start(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  set_quick(denoiser);
  ASSERT_EQ(limpid_start(denoiser, &format), LIMPID_OK);
  EXPECT_EQ(limpid_get_stream(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_allocate(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_send(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_send_to(denoiser, &frame, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_receive(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_receive_into(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_get_noise(denoiser, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT);
  EXPECT_STREQ(limpid_error(denoiser), "plane 0 of a frame of 8x8 gray 8 bit is null");
  EXPECT_EQ(limpid_receive_into(denoiser, &frame), LIMPID_BAD_ARGUMENT);
}

TEST(Library, ErrorsWithoutADenoiserHaveTexts) {
  std::thread([] {
    EXPECT_STREQ(limpid_error(nullptr), "");
    const auto text_of = [](limpid_status status) {
      EXPECT_EQ(status, LIMPID_BAD_ARGUMENT);
      return std::string(limpid_error(nullptr));
    };
    limpid_engine* engine = nullptr;
    auto filter = sized<limpid_filter_info>();
    auto parameter = sized<limpid_parameter_info>();
    auto quality = sized<limpid_quality>();
    auto frame = sized<limpid_frame>();
    const limpid_format format = c_format(oracle::gray(8, 8));
    EXPECT_EQ(text_of(limpid_new(nullptr, nullptr)), "the pointer to the denoiser is null");
    EXPECT_EQ(text_of(limpid_engine_new(nullptr, nullptr, 0)), "the pointer to the engine is null");
    EXPECT_EQ(text_of(limpid_engine_new(&engine, "cpu", 1025)), "threads: 1025 is not 0 to 1024");
    EXPECT_EQ(text_of(limpid_list_engines(nullptr, nullptr)), "the function for each engine is null");
    EXPECT_EQ(text_of(limpid_get_filter(99, &filter)), "there is no filter number 99");
    EXPECT_EQ(text_of(limpid_get_filter(0, nullptr)), "info is null");
    EXPECT_EQ(text_of(limpid_get_parameter(0, 999, &parameter)), "the filter has no parameter number 999");
    EXPECT_EQ(text_of(limpid_measure(&format, &frame, &frame, nullptr)), "the quality is null");
    EXPECT_EQ(text_of(limpid_measure(&format, &frame, &frame, &quality)),
              "plane 0 of a frame of 8x8 gray 8 bit is null");
    EXPECT_EQ(text_of(limpid_set(nullptr, "sigma", "1")), "the denoiser is null");
    std::thread([] { EXPECT_STREQ(limpid_error(nullptr), "") << "of another thread"; }).join();
  }).join();
}

TEST(Library, StructsOfOtherVersionsAreKnownByTheirSize) {
  struct Later {
    limpid_format format;
    std::int64_t more;
  };
  const Handle denoiser;
  set_quick(denoiser);
  Later later{c_format(oracle::gray(8, 8)), 0};
  later.format.struct_size = sizeof later;
  EXPECT_EQ(limpid_start(denoiser, &later.format), LIMPID_OK) << "unknown members are ignored";
  later.more = 1;
  EXPECT_EQ(limpid_start(denoiser, &later.format), LIMPID_BAD_ARGUMENT);
  EXPECT_NE(std::string(limpid_error(denoiser)).find("later version"), std::string::npos);
  for (const std::size_t size : {std::size_t{0}, sizeof(limpid_format) - 1, ~std::size_t{0}}) {
    later.format.struct_size = size;
    EXPECT_EQ(limpid_start(denoiser, &later.format), LIMPID_BAD_ARGUMENT) << size;
  }
  limpid_frame frame{};
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_receive(denoiser, &frame), LIMPID_BAD_ARGUMENT);
  limpid_filter_info info{};
  EXPECT_EQ(limpid_get_filter(0, &info), LIMPID_BAD_ARGUMENT);
  struct LaterInfo {
    limpid_filter_info info;
    std::int64_t more = 5;
  } later_info{};
  later_info.info.struct_size = sizeof later_info;
  EXPECT_EQ(limpid_get_filter(0, &later_info.info), LIMPID_OK);
  EXPECT_EQ(later_info.info.struct_size, sizeof later_info);
  EXPECT_EQ(later_info.more, 5) << "not touched";
  // Programs that were built with an earlier header.
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, oracle::gray(8, 8)), LIMPID_OK);
  limpid_stream_info earlier{};
  earlier.struct_size = offsetof(limpid_stream_info, level_section);
  earlier.level_before = 7;
  EXPECT_EQ(limpid_get_stream(denoiser, &earlier), LIMPID_OK) << limpid_error(denoiser);
  EXPECT_EQ(earlier.level_before, 7) << "not touched";
  limpid_noise first{};
  first.struct_size = offsetof(limpid_noise, area);
  EXPECT_EQ(limpid_get_noise(denoiser, &first), LIMPID_AGAIN) << limpid_error(denoiser);
}

TEST(Library, IllegalFormatsAndPlanesAreToldOfInASentence) {
  const Handle denoiser;
  set_quick(denoiser);
  const auto refused = [&](const auto& change) {
    limpid_format format = c_format(oracle::yuv(32, 32, 1, 1));
    change(format);
    EXPECT_EQ(limpid_start(denoiser, &format), LIMPID_BAD_ARGUMENT);
    EXPECT_GT(std::string(limpid_error(denoiser)).size(), 15U);
  };
  refused([](limpid_format& format) { format.width = 0; });
  refused([](limpid_format& format) { format.height = -1; });
  refused([](limpid_format& format) { format.height = 65536; });
  refused([](limpid_format& format) { format.color_model = 3; });
  refused([](limpid_format& format) { format.color_model = 256; });
  refused([](limpid_format& format) { format.sample_type = -1; });
  refused([](limpid_format& format) { format.bit_depth = 9; });
  refused([](limpid_format& format) { format.chroma_shift_x = 3; });
  refused([](limpid_format& format) { format.has_alpha = 2; });

  const FrameFormat format = oracle::yuv(32, 32, 1, 1);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  const Frame own = noisy_frames(format, 1).front();
  const auto refused_frame = [&](const auto& change) {
    limpid_frame frame = c_frame(own);
    change(frame);
    EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_GT(std::string(limpid_error(denoiser)).size(), 15U);
  };
  refused_frame([](limpid_frame& frame) { frame.planes[2].data = nullptr; });
  refused_frame([](limpid_frame& frame) { frame.planes[0].stride = 31; });
  refused_frame([](limpid_frame& frame) { frame.planes[1].stride = -15; });
  refused_frame([](limpid_frame& frame) { frame.planes[0].sample_stride = -1; });
  refused_frame([](limpid_frame& frame) { frame.padding_bits = 1; });
  refused_frame([](limpid_frame& frame) { frame.memory = 7; });
  refused_frame([](limpid_frame& frame) { frame.memory = LIMPID_CUDA; });
  EXPECT_EQ(send(denoiser, own), LIMPID_OK) << "it goes on";
}

TEST(Library, RefusesUnknownFlagsOfFrames) {
  const FrameFormat format = oracle::gray(16, 16);
  const Frame picture = noisy_frames(format, 1).front();
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  limpid_frame frame = c_frame(picture);
  const limpid_format c = c_format(format);
  const limpid_frame* const frames[] = {&frame};
  auto noise = sized<limpid_noise>();
  for (const std::uint32_t flags : {16U, 0xffffU, 0x80000001U}) {
    frame.flags = flags;
    EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT);
    EXPECT_EQ(limpid_error(denoiser),
              "the frame's flags are " + std::to_string(flags) +
                  ", but only the flags 1, 2, 4 and 8 (limpid_frame_flag) exist; set other bits to 0");
    EXPECT_EQ(limpid_estimate_noise(denoiser, &c, frames, 1, &noise), LIMPID_BAD_ARGUMENT);
  }
  frame.flags = LIMPID_INTERLACED | LIMPID_BEGINS_ANEW | LIMPID_CONTEXT_ONLY | LIMPID_LEVEL_ONLY;
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_OK);
}

TEST(Library, NamesDepthsThatATypeOfSampleDoesNotHave) {
  const Handle denoiser;
  const auto objection = [&](int type, int depth) {
    limpid_format format = c_format(oracle::gray(16, 16));
    format.sample_type = type;
    format.bit_depth = depth;
    EXPECT_EQ(limpid_start(denoiser, &format), LIMPID_BAD_ARGUMENT);
    return std::string(limpid_error(denoiser));
  };
  EXPECT_EQ(objection(LIMPID_UINT8, 10),
            "the format: 10-bit samples do not fit in bytes (9 to 16 bits need 16-bit samples)");
  EXPECT_EQ(objection(LIMPID_FLOAT32, 16),
            "the format: 16-bit samples are not the 32-bit floats of their sample type");
  EXPECT_EQ(objection(LIMPID_UINT16, 20),
            "the format: 20-bit samples are not supported (8 to 16 bits, or float)");
}

TEST(Library, AFrameOfItsOwnFromAnotherStreamIsRefused) {
  const Handle denoiser;
  set_quick(denoiser);
  auto frame = sized<limpid_frame>();
  ASSERT_EQ(start(denoiser, oracle::gray(64, 64)), LIMPID_OK);
  ASSERT_EQ(limpid_allocate(denoiser, &frame), LIMPID_OK);
  ASSERT_EQ(limpid_set(denoiser, "sigma", "auto"), LIMPID_OK);
  ASSERT_EQ(start(denoiser, oracle::gray(96, 96)), LIMPID_OK);
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT);
  EXPECT_STREQ(limpid_error(denoiser), "the frame is 64x64 gray 8 bit, but the stream is 96x96 gray 8 bit");
  limpid_release(&frame);
}

TEST(Library, EachFrameIsReleasedOnce) {
  const FrameFormat format = oracle::gray(32, 32);
  const Frame own = noisy_frames(format, 1).front();
  int released = 0;
  limpid_frame frame = c_frame(own);
  frame.release = [](void* count) { ++*static_cast<int*>(count); };
  frame.release_data = &released;
  const Handle denoiser;
  set_quick(denoiser);
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_STATE);
  EXPECT_EQ(released, 1);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_OK);
  EXPECT_EQ(released, 2) << "it was copied";
  frame.memory = LIMPID_CUDA;
  EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(released, 3);
  EXPECT_STREQ(limpid_error(denoiser),
               "the frame is in the memory of GPU 0, which the engine cpu cannot read");
  limpid_frame in_host = c_frame(own);
  EXPECT_EQ(limpid_send_to(denoiser, &in_host, &frame), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(released, 4) << "a result's place, too";
}

TEST(Library, ACallThatFailsReleasesTheFrameAndThePlaceOfItsResult) {
  const FrameFormat format = oracle::gray(32, 32);
  const Frame own = noisy_frames(format, 1).front();
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  struct Later {
    limpid_frame frame;
    std::uint64_t unknown = 1;
  };
  // Sends a changed frame and a result frame. "11": each was released once.
  const auto released = [&](limpid_denoiser* to,
                            const std::function<void(Later & frame, Later & result)>& change,
                            bool has_frame = true, bool has_result = true) {
    int frames = 0;
    int results = 0;
    Later frame{c_frame(own)};
    Later result{c_frame(own)};
    frame.frame.release = result.frame.release = [](void* count) { ++*static_cast<int*>(count); };
    frame.frame.release_data = &frames;
    result.frame.release_data = &results;
    change(frame, result);
    EXPECT_EQ(limpid_send_to(to, has_frame ? &frame.frame : nullptr, has_result ? &result.frame : nullptr),
              LIMPID_BAD_ARGUMENT);
    return std::to_string(frames) + std::to_string(results);
  };
  const auto unchanged = [](Later&, Later&) {};
  EXPECT_EQ(released(denoiser, unchanged), "11") << "results can't be put into host memory";
  EXPECT_EQ(released(nullptr, unchanged), "11");
  EXPECT_EQ(released(denoiser, unchanged, true, false), "10") << "a null result";
  EXPECT_EQ(released(denoiser, unchanged, false, true), "01") << "a null frame";
  const auto result_of_size = [](std::size_t size) {
    return [size](Later&, Later& result) { result.frame.struct_size = size; };
  };
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, sizeof(limpid_frame) - 1, std::size_t{1} << 31}) {
    EXPECT_EQ(released(denoiser, result_of_size(size)), "10") << size;
    EXPECT_EQ(released(denoiser, [&](Later& frame, Later&) { frame.frame.struct_size = size; }), "01")
        << size;
  }
  EXPECT_EQ(released(denoiser, result_of_size(sizeof(Later))), "11") << "of a later version";
  EXPECT_EQ(released(denoiser, [](Later& frame, Later&) { frame.frame.memory = 9; }), "11");
  EXPECT_EQ(released(denoiser, [](Later&, Later& result) { result.frame.memory = 9; }), "11");
  EXPECT_EQ(released(denoiser, [](Later&, Later& result) { result.frame.planes[0].data = nullptr; }), "11");

  int frames = 0;
  limpid_frame frame = c_frame(own);
  frame.release = [](void* count) { ++*static_cast<int*>(count); };
  frame.release_data = &frames;
  EXPECT_EQ(limpid_send(nullptr, &frame), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(frames, 1);
}

TEST(Library, StridesThatNoMemoryHasAreRefused) {
  const FrameFormat format = oracle::gray(32, 32);
  const Frame own = noisy_frames(format, 1).front();
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  for (const std::ptrdiff_t stride :
       {PTRDIFF_MIN, PTRDIFF_MIN + 1, PTRDIFF_MIN / 2, PTRDIFF_MAX / 2, PTRDIFF_MAX}) {
    limpid_frame frame = c_frame(own);
    frame.planes[0].stride = stride;
    EXPECT_EQ(limpid_send(denoiser, &frame), LIMPID_BAD_ARGUMENT) << stride;
    EXPECT_EQ(limpid_error(denoiser), "plane 0 has a stride of " + std::to_string(stride) +
                                          " bytes; 32 rows of this length exceed the memory");
  }
}

using Settings = std::vector<std::pair<const char*, const char*>>;

/// The results of a denoiser with these settings, set in this order.
std::vector<Frame> denoise_with(const Settings& settings, const FrameFormat& format,
                                const std::vector<Frame>& frames) {
  const Handle denoiser;
  for (const auto& [name, value] : settings) {
    EXPECT_EQ(limpid_set(denoiser, name, value), LIMPID_OK) << limpid_error(denoiser);
  }
  EXPECT_EQ(start(denoiser, format), LIMPID_OK) << limpid_error(denoiser);
  return denoise(denoiser, frames);
}

TEST(Library, SettingsAreTheCommandLines) {
  const FrameFormat format = oracle::gray(48, 48);
  const std::vector<Frame> frames = noisy_frames(format, 1);
  const auto result = [&](const Settings& settings) { return denoise_with(settings, format, frames); };
  expect_same(
      result({{"filter", "BM3D"}, {"profile", "Fast"}, {"noise", "10"}, {"engine", "cpu"}, {"threads", "1"}}),
      denoise_by_core(bm3d_profile(Profile::kFast), frames));
  Bm3dParameters changed = bm3d_profile(Profile::kLc);
  changed.matching = Matching::kNearest;
  changed.hard_threshold.search_window = 11;
  changed.lambda = 2.5F;
  expect_same(result({{"search-window", "11"},
                      {"matching", "nearest"},
                      {"lambda", "2.5"},
                      {"filter", "bm3d"},
                      {"profile", "lc"},
                      {"sigma", "10"}}),
              denoise_by_core(changed, frames));
  expect_same(result({{"filter", "bm3d:search-window=11:matching=nearest:lambda=2.5"},
                      {"profile", "lc"},
                      {"sigma", "10"}}),
              denoise_by_core(changed, frames));
  expect_same(result({{"filter", "bilateral"}, {"sigma", "10"}, {"strength", "1.5"}}),
              denoise_by_core(parse_filter("bilateral"), frames, 15));
  expect_same(result({{"filter", "nlm"},
                      {"filter", "bilateral"},
                      {"radius", "9"},
                      {"radius", nullptr},
                      {"sigma", "10"}}),
              denoise_by_core(parse_filter("bilateral"), frames));
}

TEST(Library, ASettingsFileHasAllSettings) {
  const FrameFormat format = oracle::gray(48, 48);
  const std::vector<Frame> frames = noisy_frames(format, 1);
  const auto result = [&](const Settings& settings) { return denoise_with(settings, format, frames); };
  constexpr const char* kSettings =
      R"({"limpid_settings": 1, "filter": "bilateral:radius=3", "noise": "10", "strength": "1.5", "mix": 0.25})";
  const auto expected = result(
      {{"filter", "bilateral"}, {"radius", "3"}, {"noise", "10"}, {"strength", "1.5"}, {"mix", "0.25"}});
  expect_same(result({{"settings", kSettings}}), expected);
  expect_same(result({{"filter", "nlm"}, {"mix", "1"}, {"settings", kSettings}}), expected);
  expect_same(result({{"settings", kSettings}, {"noise", "12"}, {"strength", "1.25"}}), expected);
  const Handle denoiser;
  EXPECT_EQ(limpid_set(denoiser, "settings", "{}"), LIMPID_BAD_ARGUMENT);
  EXPECT_STREQ(limpid_error(denoiser), "settings: \"limpid_settings\" is missing");
  EXPECT_EQ(limpid_set(denoiser, "settings", "nosuch.json"), LIMPID_BAD_ARGUMENT);
}

TEST(Library, WrongSettingsAreToldOf) {
  const Handle denoiser;
  const auto objection = [&](const char* name, const char* value) -> std::string {
    EXPECT_EQ(limpid_set(denoiser, name, value), LIMPID_BAD_ARGUMENT) << name << " " << value;
    return limpid_error(denoiser);
  };
  EXPECT_EQ(objection("sigmas", "1"), "there is no setting 'sigmas'; did you mean 'sigma'?");
  EXPECT_EQ(objection("threads", "0"), "threads: '0' is not a whole number from 1 to 1024");
  EXPECT_EQ(objection("luma-only", "1"), "there is no setting 'luma-only'");
  EXPECT_EQ(objection("planes", "alpha"), "planes: 'alpha' is not one of all, luma and chroma");
  EXPECT_EQ(objection("live", "yes"), "live: 'yes' is neither 1 nor 0");
  EXPECT_EQ(objection("step", "x"), "step: 'x' is not a whole number");
  objection("filter", "mean");
  objection("sigma", "-1");
  objection("noise", "nosuch.json");
  EXPECT_EQ(objection("noise", "{}"),
            "noise: the text is not a noise profile: \"limpid_noise_profile\" is missing");
  const std::string deep =
      R"({"limpid_noise_profile": )" + std::string(300000, '[') + std::string(300000, ']') + "}";
  EXPECT_EQ(objection("noise", deep.c_str()),
            "noise: the text is not a noise profile: it is nested deeper than 64 levels");
  objection("strength", "11");
  EXPECT_EQ(limpid_set_float(denoiser, "sigma", NAN), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_set_float(denoiser, "sigma", 12.5), LIMPID_OK);
  EXPECT_EQ(limpid_set_int(denoiser, "reach", 99), LIMPID_OK) << "checked with the others, at the start";
  EXPECT_EQ(start(denoiser, oracle::gray(8, 8)), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_set(denoiser, "reach", nullptr), LIMPID_OK);
  EXPECT_EQ(limpid_set_int(denoiser, "radius", 3), LIMPID_OK);
  EXPECT_EQ(start(denoiser, oracle::gray(8, 8)), LIMPID_BAD_ARGUMENT);
  EXPECT_STREQ(limpid_error(denoiser),
               "radius is no option of the filter vbm4d, but of bilateral, adaptive-bilateral; reach sets "
               "the number of "
               "frames before and after");
  EXPECT_EQ(limpid_set(denoiser, "radius", nullptr), LIMPID_OK);
  EXPECT_EQ(limpid_set(denoiser, "planes", "luma"), LIMPID_OK);
  EXPECT_EQ(start(denoiser, oracle::rgb(8, 8)), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_set(denoiser, "planes", "all"), LIMPID_OK);
  EXPECT_EQ(limpid_set(denoiser, "engine", "abacus"), LIMPID_OK);
  EXPECT_EQ(start(denoiser, oracle::gray(8, 8)), LIMPID_BAD_ARGUMENT);
  EXPECT_NE(std::string(limpid_error(denoiser)).find("there is no engine \"abacus\""), std::string::npos);
  EXPECT_EQ(limpid_set(denoiser, "engine", nullptr), LIMPID_OK);
  EXPECT_EQ(start(denoiser, oracle::gray(8, 8)), LIMPID_OK) << limpid_error(denoiser);
}

TEST(Library, ErrorsAndWarningsAreLogged) {
  using Log = std::vector<std::pair<limpid_log_level, std::string>>;
  Log log;
  const Handle denoiser;
  const auto note = [](void* data, limpid_log_level level, const char* sentence) {
    static_cast<Log*>(data)->emplace_back(level, sentence);
  };
  ASSERT_EQ(limpid_set_log(denoiser, note, &log), LIMPID_OK);
  EXPECT_STREQ(limpid_error(denoiser), "");
  limpid_set(denoiser, "sigma", "x");
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0].first, LIMPID_LOG_ERROR);
  EXPECT_EQ(log[0].second, limpid_error(denoiser));
  limpid_set(denoiser, "filter", "bm3d");
  ASSERT_EQ(start(denoiser, oracle::gray(4, 4)), LIMPID_OK);
  ASSERT_EQ(log.size(), 2U) << "a plane smaller than a patch";
  EXPECT_EQ(log[1].first, LIMPID_LOG_WARNING);
}

TEST(Library, NoiseChangesFromTheNextFrameOn) {
  const FrameFormat format = oracle::gray(64, 64);
  const std::vector<Frame> frames = noisy_frames(format, 3);
  const Handle denoiser;
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  ASSERT_EQ(send(denoiser, frames[0]), LIMPID_OK);
  ASSERT_EQ(limpid_set_int(denoiser, "sigma", 20), LIMPID_OK);
  ASSERT_EQ(send(denoiser, frames[1]), LIMPID_OK);
  ASSERT_EQ(limpid_set(denoiser, "sigma", "auto"), LIMPID_OK);
  ASSERT_EQ(send(denoiser, frames[2]), LIMPID_OK);
  ASSERT_EQ(limpid_set_int(denoiser, "sigma", 30), LIMPID_OK)
      << "what was being looked ahead from is not lost";
  const auto of = [&](int i, float sigma) {
    return denoise_by_core(parse_filter("bilateral"), {frames[static_cast<std::size_t>(i)]}, sigma).front();
  };
  EXPECT_TRUE(oracle::same_bits(receive(denoiser, format), of(0, 10)));
  EXPECT_TRUE(oracle::same_bits(receive(denoiser, format), of(1, 20)));
  EXPECT_NE(receive(denoiser, format).samples, nullptr);
}

TEST(Library, TellsThatAReachIsUnbounded) {
  const FrameFormat format = oracle::yuv(64, 48, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 3);
  const Handle denoiser;
  auto stream = sized<limpid_stream_info>();
  for (const char* const profile : {"fast", "np"}) {
    limpid_set(denoiser, "filter", "recursive");
    limpid_set(denoiser, "profile", profile);
    limpid_set(denoiser, "sigma", "10");
    ASSERT_EQ(start(denoiser, format), LIMPID_OK) << limpid_error(denoiser);
    ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
    EXPECT_EQ(stream.reach_before, LIMPID_UNBOUNDED);
    EXPECT_EQ(stream.reach_after, 0);
    EXPECT_EQ(stream.latency, 0);
    EXPECT_STREQ(stream.filter, "recursive");
    EXPECT_EQ(denoise(denoiser, frames).size(), frames.size());
  }
}

TEST(Library, TellsTheNoiseOfEachResult) {
  const FrameFormat format = oracle::gray(48, 40);
  const std::vector<Frame> frames = noisy_frames(format, 6);
  const Handle denoiser;
  ASSERT_EQ(limpid_set(denoiser, "reach", "1"), LIMPID_OK);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  auto noise = sized<limpid_noise>();
  EXPECT_EQ(limpid_get_result_noise(denoiser, &noise), LIMPID_AGAIN);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ASSERT_EQ(limpid_set_int(denoiser, "sigma", static_cast<int>(10 + i)), LIMPID_OK);
    ASSERT_EQ(send(denoiser, frames[i], i == 2 ? LIMPID_CONTEXT_ONLY : 0), LIMPID_OK);
  }
  limpid_flush(denoiser);
  for (const float level : {10.F, 11.F, 13.F, 14.F, 15.F}) {
    ASSERT_NE(receive(denoiser, format).samples, nullptr);
    ASSERT_EQ(limpid_get_result_noise(denoiser, &noise), LIMPID_OK);
    EXPECT_EQ(noise.sigma[0], level);
  }
  ASSERT_EQ(limpid_get_noise(denoiser, &noise), LIMPID_OK);
  EXPECT_EQ(noise.sigma[0], 15);
}

TEST(Library, AResultCanBeCancelled) {
  const FrameFormat format = oracle::gray(3200, 2400);
  const Frame frame = allocate_frame(format);
  const Handle denoiser;
  limpid_set(denoiser, "filter", "bm3d:profile=high");
  limpid_set(denoiser, "sigma", "10");
  limpid_set(denoiser, "threads", "1");
  ASSERT_EQ(start(denoiser, format), LIMPID_OK) << limpid_error(denoiser);
  ASSERT_EQ(send(denoiser, frame), LIMPID_OK);
  std::thread cancelling([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(limpid_cancel(denoiser), LIMPID_OK);
  });
  auto result = sized<limpid_frame>();
  EXPECT_EQ(limpid_receive(denoiser, &result), LIMPID_AGAIN);
  cancelling.join();
  ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
  const FrameFormat small = oracle::gray(32, 24);
  ASSERT_EQ(start(denoiser, small), LIMPID_OK);
  EXPECT_EQ(denoise(denoiser, noisy_frames(small, 1)).size(), 1U);
}

TEST(Library, FindsTheNoiseAndTellsIt) {
  const FrameFormat format = oracle::yuv(128, 96, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 4);
  const Handle denoiser;
  limpid_set(denoiser, "filter", "bilateral");
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  auto noise = sized<limpid_noise>();
  EXPECT_EQ(limpid_get_noise(denoiser, &noise), LIMPID_AGAIN);
  auto stream = sized<limpid_stream_info>();
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  EXPECT_EQ(stream.latency, 5) << "frames that the estimate looks ahead";
  EXPECT_STREQ(stream.engine, "cpu");
  EXPECT_STREQ(stream.filter, "bilateral");
  EXPECT_EQ(denoise(denoiser, frames).size(), frames.size());
  ASSERT_EQ(limpid_get_noise(denoiser, &noise), LIMPID_OK);
  EXPECT_NEAR(noise.sigma[0], 10, 2);
  const std::string profile = noise.profile;
  EXPECT_EQ(limpid_set(denoiser, "noise", profile.c_str()), LIMPID_OK) << limpid_error(denoiser);
  ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  EXPECT_EQ(stream.latency, 0);
  EXPECT_EQ(denoise(denoiser, frames).size(), frames.size());
}

TEST(Library, AnAreaOfTheNoiseIsSetAndTold) {
  const FrameFormat format = oracle::yuv(128, 96, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 2);
  const Handle denoiser;
  limpid_set(denoiser, "filter", "bilateral");
  ASSERT_EQ(limpid_set(denoiser, "noise",
                       R"({"limpid_noise_profile": 1, "area": [32, 16, 64, 48],
                           "planes": {"Y": {"sigma": 10}, "U": {"sigma": 10}, "V": {"sigma": 10}}})"),
            LIMPID_OK)
      << limpid_error(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  const std::vector<Frame> results = denoise(denoiser, frames);
  ASSERT_EQ(results.size(), frames.size());
  for (int y = 0; y < format.height; ++y) {
    for (int x = 0; x < format.width; ++x) {
      const bool is_inside = x >= 32 && x < 96 && y >= 16 && y < 64;
      if (!is_inside) {
        ASSERT_EQ(results[1].planes[0].row<std::uint8_t>(y)[x], frames[1].planes[0].row<std::uint8_t>(y)[x])
            << x << ", " << y;
      }
    }
  }
  EXPECT_FALSE(oracle::same_bits(results[1], frames[1]));
  auto noise = sized<limpid_noise>();
  ASSERT_EQ(limpid_get_noise(denoiser, &noise), LIMPID_OK);
  EXPECT_EQ(std::vector<int32_t>(noise.area, noise.area + 4), (std::vector<int32_t>{32, 16, 64, 48}));
  // Programs of before do not have the member.
  noise.struct_size = offsetof(limpid_noise, area);
  noise.area[0] = -1;
  ASSERT_EQ(limpid_get_noise(denoiser, &noise), LIMPID_OK);
  EXPECT_EQ(noise.area[0], -1);
}

TEST(Library, FindsTheNoiseOfTheLongestSceneOfSomeFrames) {
  const FrameFormat format = oracle::yuv(128, 96, 1, 1, 10);
  const Frame bright = allocate_frame(format);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < bright.planes[p].height; ++y) {
      std::fill_n(bright.planes[p].row<std::uint16_t>(y), bright.planes[p].width, std::uint16_t{900});
    }
  }
  std::vector<Frame> frames{add_noise(bright, 3, 8), add_noise(bright, 3, 9)};
  for (const Frame& frame : noisy_frames(format, 5)) {
    frames.push_back(frame);
  }
  const auto engine = engine_registry().open("cpu", EngineOptions{1});
  NoiseTracker tracker(*engine);
  std::vector<limpid_frame> c_frames;
  std::vector<const limpid_frame*> pointers;
  for (const Frame& frame : frames) {
    tracker.observe(frame);
    c_frames.push_back(c_frame(frame));
  }
  for (const limpid_frame& frame : c_frames) {
    pointers.push_back(&frame);
  }
  const SceneNoise scene = noise_of_longest_scene(tracker, 7);
  EXPECT_EQ(scene.first, 2);
  EXPECT_EQ(scene.frames, 5);

  const Handle denoiser;
  const limpid_format own = c_format(format);
  auto noise = sized<limpid_noise>();
  ASSERT_EQ(limpid_estimate_noise(denoiser, &own, pointers.data(), 7, &noise), LIMPID_OK)
      << limpid_error(denoiser);
  EXPECT_EQ(noise.profile, to_json(profile_of(scene.noise, format.color_model)).dump());
  EXPECT_EQ(noise.sigma[0], scene.noise.sigma[0]);
  EXPECT_NEAR(noise.sigma[0], 10, 2);

  // Work in progress continues.
  set_quick(denoiser);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  ASSERT_EQ(send(denoiser, frames[3]), LIMPID_OK);
  ASSERT_EQ(limpid_estimate_noise(denoiser, &own, pointers.data(), 2, &noise), LIMPID_OK);
  expect_same({receive(denoiser, format)}, denoise_by_core(parse_filter("bilateral"), {frames[3]}));
}

TEST(Library, FindsNoNoiseInWhatIsNoFrames) {
  const limpid_format format = c_format(oracle::gray(64, 64));
  const Frame frame = noisy_frames(oracle::gray(64, 64), 1).front();
  const limpid_frame good = c_frame(frame);
  limpid_frame elsewhere = good;
  elsewhere.memory = LIMPID_CUDA;
  auto empty = sized<limpid_frame>();
  auto noise = sized<limpid_noise>();
  const Handle denoiser;
  limpid_set(denoiser, "engine", "cpu");
  const auto refused = [&](std::vector<const limpid_frame*> frames, int count) {
    EXPECT_EQ(limpid_estimate_noise(denoiser, &format, frames.data(), count, &noise), LIMPID_BAD_ARGUMENT);
    return std::string(limpid_error(denoiser));
  };
  EXPECT_EQ(refused({&good}, 0), "there are no frames to estimate noise from");
  EXPECT_EQ(refused({&good, nullptr}, 2), "a frame is null");
  EXPECT_EQ(refused({&good, &empty}, 2), "plane 0 of a frame of 64x64 gray 8 bit is null");
  EXPECT_EQ(refused({&elsewhere}, 1),
            "the frame is in the memory of GPU 0, which the engine cpu cannot read");
  EXPECT_EQ(limpid_estimate_noise(denoiser, &format, nullptr, 1, &noise), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_estimate_noise(denoiser, nullptr, nullptr, 1, &noise), LIMPID_BAD_ARGUMENT);
  const limpid_frame* const one = &good;
  EXPECT_EQ(limpid_estimate_noise(denoiser, &format, &one, 1, nullptr), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_estimate_noise(nullptr, &format, &one, 1, &noise), LIMPID_BAD_ARGUMENT);
}

TEST(Library, GivesEachResultAtOnceWhenLive) {
  const FrameFormat format = oracle::yuv(48, 40, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 3);
  const Handle denoiser;
  EXPECT_EQ(limpid_set(denoiser, "live", "yes"), LIMPID_BAD_ARGUMENT);
  ASSERT_EQ(limpid_set(denoiser, "live", "1"), LIMPID_OK);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK) << limpid_error(denoiser);
  auto stream = sized<limpid_stream_info>();
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  EXPECT_STREQ(stream.filter, "vbm4d");
  EXPECT_EQ(stream.latency, 0);
  EXPECT_GT(stream.reach_before, 0);
  for (const Frame& frame : frames) {
    ASSERT_EQ(send(denoiser, frame), LIMPID_OK);
    EXPECT_EQ(receive(denoiser, format).index, frame.index);
  }
  ASSERT_EQ(limpid_set(denoiser, "delay", "8"), LIMPID_OK);
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  EXPECT_GT(stream.latency, 0) << "as it was asked for";
}

TEST(Library, AnySegmentWithContextGivesTheBitsOfTheWhole) {
  const FrameFormat format = oracle::yuv(48, 40, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 9);
  const Handle denoiser;
  for (const auto& [name, value] : {std::pair{"profile", "fast"}, {"reach", "1"}, {"sigma", "10"}}) {
    ASSERT_EQ(limpid_set(denoiser, name, value), LIMPID_OK);
  }
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  auto stream = sized<limpid_stream_info>();
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  EXPECT_GT(stream.reach_before, 0);
  EXPECT_EQ(stream.latency, stream.reach_after);
  const std::vector<Frame> whole = denoise(denoiser, frames);
  ASSERT_EQ(whole.size(), frames.size());
  for (const int wanted : {4, 0, 8}) {
    ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
    const int last = std::min(wanted + stream.reach_after, 8);
    for (int i = std::max(wanted - stream.reach_before, 0); i <= last; ++i) {
      ASSERT_EQ(send(denoiser, frames[static_cast<std::size_t>(i)], i == wanted ? 0 : LIMPID_CONTEXT_ONLY),
                LIMPID_OK);
    }
    ASSERT_EQ(limpid_flush(denoiser), LIMPID_OK);
    const Frame result = receive(denoiser, format);
    ASSERT_NE(result.samples, nullptr);
    EXPECT_EQ(result.index, wanted);
    EXPECT_TRUE(oracle::same_bits(result, whole[static_cast<std::size_t>(wanted)])) << wanted;
    auto more = sized<limpid_frame>();
    EXPECT_EQ(limpid_receive(denoiser, &more), LIMPID_END);
  }
}

TEST(Library, AStreamFromTheMiddleOfAVideoHasTheLevelsOfTheWhole) {
  const FrameFormat format = oracle::gray(96, 80);
  const std::vector<Frame> frames = noisy_frames(format, 170);
  const Handle denoiser;
  for (const auto& [name, value] : {std::pair{"profile", "fast"}, {"reach", "1"}}) {
    ASSERT_EQ(limpid_set(denoiser, name, value), LIMPID_OK);
  }
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  auto stream = sized<limpid_stream_info>();
  ASSERT_EQ(limpid_get_stream(denoiser, &stream), LIMPID_OK);
  ASSERT_GT(stream.level_section, 1);
  const std::vector<Frame> whole = denoise(denoiser, frames);
  for (const int wanted : {130, 100, 161}) {
    ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
    const int first = wanted / stream.level_section * stream.level_section - stream.level_before;
    ASSERT_GT(first, 0);
    const int last = std::min(wanted + stream.latency, 169);
    for (int i = first; i <= last; ++i) {
      const std::uint32_t flags = i < wanted - stream.reach_before ? LIMPID_LEVEL_ONLY
                                  : i == wanted                    ? 0
                                                                   : LIMPID_CONTEXT_ONLY;
      ASSERT_EQ(send(denoiser, frames[static_cast<std::size_t>(i)], flags), LIMPID_OK);
    }
    ASSERT_EQ(limpid_flush(denoiser), LIMPID_OK);
    const Frame result = receive(denoiser, format);
    ASSERT_NE(result.samples, nullptr);
    EXPECT_TRUE(oracle::same_bits(result, whole[static_cast<std::size_t>(wanted)])) << wanted;
  }
}

TEST(Library, AFrameThatBeginsAnewTakesNothingFromThoseBeforeIt) {
  const FrameFormat format = oracle::gray(48, 40);
  const std::vector<Frame> frames = noisy_frames(format, 4);
  const Handle denoiser;
  for (const auto& [name, value] : {std::pair{"profile", "fast"}, {"reach", "1"}, {"sigma", "10"}}) {
    ASSERT_EQ(limpid_set(denoiser, name, value), LIMPID_OK);
  }
  ASSERT_EQ(start(denoiser, format), LIMPID_OK);
  const std::vector<Frame> last_two = denoise(denoiser, {frames[2], frames[3]});
  ASSERT_EQ(limpid_reset(denoiser), LIMPID_OK);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(send(denoiser, frames[static_cast<std::size_t>(i)], i == 2 ? LIMPID_BEGINS_ANEW : 0),
              LIMPID_OK);
  }
  ASSERT_EQ(limpid_flush(denoiser), LIMPID_OK);
  receive(denoiser, format);
  receive(denoiser, format);
  expect_same({receive(denoiser, format), receive(denoiser, format)}, last_two);
}

TEST(Library, ManyThreadsAndDenoisersGiveTheSameBits) {
  const FrameFormat format = oracle::gray(40, 32);
  const std::vector<Frame> frames = noisy_frames(format, 3);
  const std::vector<Frame> expected = denoise_by_core(bm3d_profile(Profile::kFast), frames);
  for (const int threads_of_engine : {1, 2}) {
    limpid_engine* engine = nullptr;
    ASSERT_EQ(limpid_engine_new(&engine, "cpu", threads_of_engine), LIMPID_OK);
    for (const int host_threads : {1, 2, 4, 8}) {
      for (const int denoisers : {1, 2, 8}) {
        std::atomic<int> good = 0;
        std::vector<std::jthread> hosts;
        for (int host = 0; host < host_threads; ++host) {
          hosts.emplace_back([&, host] {
            for (int i = host; i < denoisers; i += host_threads) {
              const Handle denoiser(engine);
              limpid_set(denoiser, "filter", "bm3d");
              limpid_set(denoiser, "profile", "fast");
              limpid_set(denoiser, "sigma", "10");
              start(denoiser, format);
              const std::vector<Frame> results = denoise(denoiser, frames);
              good += static_cast<int>(
                  results.size() == expected.size() &&
                  std::equal(results.begin(), results.end(), expected.begin(), oracle::same_bits));
            }
          });
        }
        hosts.clear();
        EXPECT_EQ(good, denoisers) << host_threads << " threads";
      }
    }
    const Handle survivor(engine);
    set_quick(survivor);
    limpid_engine_free(&engine);
    EXPECT_EQ(engine, nullptr);
    EXPECT_EQ(start(survivor, format), LIMPID_OK);
  }
}

TEST(Library, TwoDenoisersOnTwoThreadsHaveEnginesOfTheirOwn) {
  const FrameFormat format = oracle::yuv(40, 32, 1, 1);
  const std::vector<Frame> frames = noisy_frames(format, 3);
  const std::vector<Frame> expected = denoise_by_core(parse_filter("bilateral"), frames);
  std::array<std::vector<Frame>, 2> results;
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        const Handle denoiser;
        set_quick(denoiser);
        limpid_set(denoiser, "threads", "2");
        start(denoiser, format);
        result = denoise(denoiser, frames);
      });
    }
  }
  expect_same(results[0], expected);
  expect_same(results[1], expected);
}

TEST(Library, ADenoiserMayGoFromThreadToThread) {
  const FrameFormat format = oracle::gray(32, 32);
  const std::vector<Frame> frames = noisy_frames(format, 2);
  const Handle denoiser;
  set_quick(denoiser);
  std::vector<Frame> results;
  std::jthread([&] { start(denoiser, format); }).join();
  std::jthread([&] { send(denoiser, frames[0]); }).join();
  std::jthread([&] { results.push_back(receive(denoiser, format)); }).join();
  expect_same(results, denoise_by_core(parse_filter("bilateral"), {frames[0]}));
}

TEST(Library, TellsItsFiltersAndTheirParameters) {
  ASSERT_EQ(limpid_filter_count(), static_cast<int>(filter_types().size()));
  for (int f = 0; f < limpid_filter_count(); ++f) {
    auto filter = sized<limpid_filter_info>();
    ASSERT_EQ(limpid_get_filter(f, &filter), LIMPID_OK);
    SCOPED_TRACE(filter.name);
    const FilterType& type = filter_types()[static_cast<std::size_t>(f)];
    EXPECT_EQ(filter.name, type.name);
    EXPECT_EQ(filter.profile_count, static_cast<int>(type.profiles.size()));
    EXPECT_EQ(filter.default_profile != nullptr, filter.profile_count > 0);
    EXPECT_EQ(filter.parameter_count, static_cast<int>(type.parameters.size()));
    EXPECT_EQ(filter.is_experimental, 0);
    const Handle denoiser;
    EXPECT_EQ(limpid_set(denoiser, "filter", filter.name), LIMPID_OK);
    for (int p = 0; p < filter.parameter_count; ++p) {
      auto parameter = sized<limpid_parameter_info>();
      ASSERT_EQ(limpid_get_parameter(f, p, &parameter), LIMPID_OK);
      EXPECT_GT(std::string(parameter.help).size(), 5U);
      if (parameter.default_value != nullptr) {
        EXPECT_EQ(limpid_set(denoiser, parameter.name, parameter.default_value), LIMPID_OK) << parameter.name;
      }
    }
    EXPECT_EQ(start(denoiser, oracle::gray(32, 32)), LIMPID_OK) << limpid_error(denoiser);
  }
  auto filter = sized<limpid_filter_info>();
  EXPECT_EQ(limpid_get_filter(-1, &filter), LIMPID_BAD_ARGUMENT);
  EXPECT_EQ(limpid_get_filter(limpid_filter_count(), &filter), LIMPID_BAD_ARGUMENT);
  auto parameter = sized<limpid_parameter_info>();
  EXPECT_EQ(limpid_get_parameter(0, 999, &parameter), LIMPID_BAD_ARGUMENT);
}

TEST(Library, TellsItsEngines) {
  std::set<std::string> available;
  const auto each = [](void* data, const limpid_engine_info* engine) {
    EXPECT_NE(std::string(engine->description), "");
    if (engine->available != 0) {
      static_cast<std::set<std::string>*>(data)->insert(engine->name);
    }
  };
  ASSERT_EQ(limpid_list_engines(each, &available), LIMPID_OK);
  EXPECT_TRUE(available.contains("cpu"));
}

TEST(Library, MeasuresFrames) {
  const FrameFormat format = oracle::yuv(48, 32, 1, 1);
  const Frame clean = draw_picture(format);
  const Frame noisy = add_noise(clean, 10, 1);
  const limpid_format c = c_format(format);
  const limpid_frame a = c_frame(clean);
  const limpid_frame b = c_frame(noisy);
  auto quality = sized<limpid_quality>();
  ASSERT_EQ(limpid_measure(&c, &a, &b, &quality), LIMPID_OK);
  const std::vector<PlaneQuality> expected = measure(clean, noisy);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(quality.psnr[p], expected[static_cast<std::size_t>(p)].psnr);
    EXPECT_EQ(quality.ssim[p], expected[static_cast<std::size_t>(p)].ssim);
  }
  ASSERT_EQ(limpid_measure(&c, &a, &a, &quality), LIMPID_OK);
  EXPECT_TRUE(std::isinf(quality.psnr[0]));
}

TEST(Library, IsOfTheHeadersVersion) {
  EXPECT_STREQ(limpid_version(), LIMPID_VERSION);
  EXPECT_EQ(limpid_api_version(), LIMPID_API_VERSION);
}

}  // namespace
}  // namespace limpid::lib
