// SPDX-License-Identifier: MIT
#include "io/media/filter_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/filter_chain.h"

namespace limpid::io {
namespace {

FilterChain chain_of(const std::string& text) { return {"--after", text, false}; }

FrameHandle made_frame(std::int64_t pts, int width = 64, int height = 48) {
  FrameHandle frame = make_frame();
  frame->format = AV_PIX_FMT_YUV420P;
  frame->width = width;
  frame->height = height;
  EXPECT_GE(av_frame_get_buffer(frame.get(), 0), 0);
  frame->pts = pts;
  set_duration(*frame, 1);
  return frame;
}

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(FilterGraph, SizesMayChangeInMidStream) {
  FilterGraph graph(chain_of("scale=iw/2:ih/2"), {});
  graph.send(made_frame(0));
  graph.send(made_frame(1, 32, 24));
  graph.flush();
  const FrameHandle first = graph.receive();
  const FrameHandle second = graph.receive();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->width, 32);
  EXPECT_EQ(second->width, 16);
  EXPECT_EQ(second->pts, 1);
  EXPECT_EQ(graph.receive(), nullptr);
}

TEST(FilterGraph, DurationsFollowTheTimes) {
  FilterGraph graph(chain_of("fps=50"), {.time_base = {1, 25}, .frame_rate = {25, 1}});
  std::vector<std::int64_t> times;
  const auto take = [&] {
    while (const FrameHandle frame = graph.receive()) {
      EXPECT_EQ(av_cmp_q(frame->time_base, {1, 50}), 0);
      EXPECT_EQ(duration_of(*frame), 1);
      times.push_back(frame->pts);
    }
  };
  for (int i = 0; i < 3; ++i) {
    graph.send(made_frame(i));
    take();
  }
  graph.flush();
  take();
  EXPECT_EQ(times, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(av_cmp_q(graph.frame_rate(), {50, 1}), 0);
}

TEST(FilterGraph, FramesAreTurnedUpright) {
  FilterGraph graph(chain_of("null"), {.orientation = Orientation{.transposed = true}});
  graph.send(made_frame(0));
  const FrameHandle frame = graph.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->width, 48);
  EXPECT_EQ(frame->height, 64);
}

TEST(FilterGraph, SideDataThatTheResultDoesNotFitIsDroppedAndReported) {
  for (const auto& [text, losses] :
       std::vector<std::pair<const char*, std::size_t>>{{"scale=32:24", 0}, {"crop=32:24", 1}}) {
    FilterGraph graph(chain_of(text), {});
    FrameHandle frame = made_frame(0);
    av_frame_new_side_data(frame.get(), AV_FRAME_DATA_SPHERICAL, 64);
    graph.send(std::move(frame));
    const FrameHandle result = graph.receive();
    ASSERT_TRUE(result);
    EXPECT_EQ(av_frame_get_side_data(result.get(), AV_FRAME_DATA_SPHERICAL) == nullptr, losses == 1) << text;
    EXPECT_EQ(graph.losses().size(), losses) << text;
  }
}

TEST(FilterGraph, MissingMemoryAndThreadsAreNotWrongUsage) {
  for (const int code : {AVERROR(ENOMEM), AVERROR(EAGAIN)}) {
    try {
      chain_of("scale=2:2").fail(code);
    } catch (const UsageError& error) {
      ADD_FAILURE() << error.what();
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("--after: can't filter")) << error.what();
    }
  }
}

TEST(FilterGraph, AFrameThatTheChainDoesNotAcceptIsWrongUsage) {
  FilterGraph graph(chain_of("crop=200:100"), {});
  EXPECT_NE(message_of([&] { graph.send(made_frame(0)); }).find("filter crop"), std::string::npos);
}

}  // namespace
}  // namespace limpid::io
