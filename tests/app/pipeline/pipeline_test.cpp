// SPDX-License-Identifier: MIT
#include "app/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::app {
namespace {

/// Passes frames through with a delay of `latency` frames, like a temporal filter.
class PassThrough : public Denoiser {
 public:
  PassThrough(int latency, int concurrency, std::vector<NoiseModel>* levels)
      : latency_(latency), concurrency_(concurrency), levels_(levels) {}
  void set_noise(const NoiseModel& noise) override { levels_->push_back(noise); }
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override { held_.push_back(std::move(frame)); }
  std::optional<Frame> receive() override {
    if (held_.empty() || (!flushed_ && held_.size() <= static_cast<std::size_t>(latency_))) {
      return std::nullopt;
    }
    Frame frame = std::move(held_.front());
    held_.pop_front();
    return frame;
  }
  void flush() override { flushed_ = true; }
  std::vector<std::string> warnings() const override { return {}; }
  Reach reach() const override { return {.before = 0, .after = latency_}; }
  void reset() override {}
  int concurrency() const override { return concurrency_; }

 private:
  int latency_;
  int concurrency_;
  std::vector<NoiseModel>* levels_;
  std::deque<Frame> held_;
  bool flushed_ = false;
};

/// A PassThrough on a device that filters each frame for 4 ms, between copies of 1 ms.
class PassThroughDevice final : public PassThrough {
 public:
  using PassThrough::PassThrough;
  std::optional<Frame> receive() override {
    std::optional<Frame> frame = PassThrough::receive();
    received_ += frame ? 1 : 0;
    return frame;
  }
  DeviceStages device_stages() const override {
    const auto times = [&](std::int64_t busy_ms, std::int64_t input_ms, std::int64_t output_ms) {
      const std::int64_t each = received_ * 1'000'000;
      return DeviceStage{received_, each * busy_ms, each * input_ms, each * output_ms};
    };
    return {.upload = times(1, 0, 3), .filter = times(4, 0, 0), .download = times(1, 3, 0)};
  }

 private:
  std::int64_t received_ = 0;
};

/// A packet identified by its time; the pipeline does not examine packets.
std::shared_ptr<io::Packet> make_packet(int number) {
  io::PacketHandle packet = io::make_packet();
  packet->pts = number;
  return std::make_shared<io::Packet>(std::move(packet), AVRational{1, 1});
}

int packet_number(const io::Packet& packet) { return static_cast<int>(packet.get().pts); }

Frame make_frame(std::int64_t index) {
  Frame frame;
  frame.format.width = frame.format.height = 1;
  frame.index = index;
  return frame;
}

/// A pipeline whose source is a list of items and whose sink records what arrives.
struct Script {
  std::deque<io::Reader::Item> source;
  int latency = 0;
  int concurrency = 1;
  std::vector<std::int64_t> frames;
  std::vector<int> packets;
  std::vector<std::string> order;  // "f0", "p0", ... in the order of writing
  std::vector<NoiseModel> levels;  // in the order of set_noise()
  GivenLevels given{[](const Frame&) { return NoiseModel(); }};
  NoiseModel first_level;
  StreamCounters counters;

  StreamParts stages() {
    StreamParts result;
    result.read = [this]() -> io::Reader::Item {
      if (source.empty()) {
        return io::Reader::End{};
      }
      io::Reader::Item item = std::move(source.front());
      source.pop_front();
      return item;
    };
    result.noise = &given;
    result.make_denoiser = [this](const Frame&, const NoiseModel& level) {
      first_level = level;
      return std::make_unique<PassThrough>(latency, concurrency, &levels);
    };
    result.write_frame = [this](const Frame& frame) {
      frames.push_back(frame.index);
      order.push_back("f" + std::to_string(frame.index));
    };
    result.write_packet = [this](const io::Packet& packet) {
      packets.push_back(packet_number(packet));
      order.push_back("p" + std::to_string(packet_number(packet)));
    };
    return result;
  }
};

std::vector<std::int64_t> first_numbers(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(i);
  }
  return numbers;
}

class PipelineWithLatency : public testing::TestWithParam<int> {};

TEST_P(PipelineWithLatency, EveryFrameComesOutOnceAndInOrder) {
  constexpr int kFrames = 50;
  Script script;
  script.latency = GetParam();
  for (int i = 0; i < kFrames; ++i) {
    script.source.emplace_back(make_packet(i));
    script.source.emplace_back(make_frame(i));
  }
  run_stream(script.stages(), {}, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(kFrames));
  ASSERT_EQ(script.packets.size(), std::size_t{kFrames});
  EXPECT_EQ(script.counters.write.frames, kFrames);

  // Packets overtake only the delayed frames: p(n) comes directly before f(n - latency).
  for (std::size_t i = 0; i + 1 < script.order.size(); ++i) {
    if (script.order[i].front() == 'p') {
      const int number = std::stoi(script.order[i].substr(1));
      if (number >= script.latency) {
        EXPECT_EQ(script.order[i + 1], "f" + std::to_string(number - script.latency));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Latencies, PipelineWithLatency, testing::Values(0, 2, 100));

// Works on three frames at once, and returns each unchanged.
class HoldingDenoiser : public Denoiser {
 public:
  void set_noise(const NoiseModel& /*noise*/) override {}
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override { held_.push_back(std::move(frame)); }
  std::optional<Frame> receive() override {
    if (held_.empty()) {
      return std::nullopt;
    }
    Frame frame = std::move(held_.front());
    held_.pop_front();
    return frame;
  }
  void flush() override {}
  std::vector<std::string> warnings() const override { return {}; }
  void reset() override {}
  int concurrency() const override { return 3; }

 protected:
  const std::deque<Frame>& held() const { return held_; }

 private:
  std::deque<Frame> held_;
};

TEST(Pipeline, KeepsAsManyFramesUnderWayAsTheDenoiserCanWorkOn) {
  class Counting final : public HoldingDenoiser {
   public:
    explicit Counting(std::size_t& most) : most_(most) {}
    void send(Frame frame) override {
      HoldingDenoiser::send(std::move(frame));
      most_ = std::max(most_, held().size());
    }

   private:
    std::size_t& most_;
  };

  constexpr int kFrames = 12;
  Script script;
  for (int i = 0; i < kFrames; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  std::size_t most = 0;
  std::promise<void> all_read;
  StreamParts stages = script.stages();
  const auto read = stages.read;
  stages.read = [&] {
    io::Reader::Item item = read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      all_read.set_value();
    }
    return item;
  };
  stages.make_denoiser = [&](const Frame&, const NoiseModel&) {
    all_read.get_future().wait();
    return std::make_unique<Counting>(most);
  };
  StreamOptions options;
  options.queued_frames = kFrames;
  run_stream(stages, options, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(kFrames));
  EXPECT_EQ(most, 3U);
}

TEST(Pipeline, NoFrameWaitsForTheNext) {
  Script script;
  script.concurrency = 4;
  script.source.emplace_back(make_frame(0));
  std::promise<void> written;
  StreamParts stages = script.stages();
  const auto read = stages.read;
  stages.read = [&]() -> io::Reader::Item {
    if (script.source.empty()) {
      EXPECT_EQ(written.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
    }
    return read();
  };
  const auto write = stages.write_frame;
  stages.write_frame = [&](const Frame& frame) {
    write(frame);
    written.set_value();
  };
  run_stream(stages, {}, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(1));
}

// One of several devices may wait for the next frames of the source while the next result comes from another
// device.
TEST(Pipeline, FramesAreSentUntilTheNextResultIsReady) {
  constexpr std::size_t kFrames = 6;  // required for its first result
  class OfSeveral final : public HoldingDenoiser {
   public:
    void send(Frame frame) override {
      HoldingDenoiser::send(std::move(frame));
      if (++sent_ == kFrames) {
        timer_ = std::jthread([this] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          ready_ = true;
          listener_();
        });
      }
    }
    std::optional<Frame> receive() override {
      EXPECT_TRUE(ready_) << sent_;
      return HoldingDenoiser::receive();
    }
    bool is_ready() const override { return ready_; }
    void set_ready_listener(const std::function<void()>& listener) override { listener_ = listener; }
    int concurrency() const override { return 100; }

   private:
    std::size_t sent_ = 0;
    std::atomic<bool> ready_ = false;
    std::function<void()> listener_;
    std::jthread timer_;
  };

  Script script;
  for (int i = 0; i < 10; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamParts stages = script.stages();
  const auto read = stages.read;
  std::promise<void> written;
  stages.read = [&] {
    // The denoiser has no work in the meantime, and must not be asked for results that depend on these
    // frames.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (script.source.size() == 10 - kFrames) {
      EXPECT_EQ(written.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
    }
    return read();
  };
  const auto write = stages.write_frame;
  stages.write_frame = [&](const Frame& frame) {
    write(frame);
    if (script.frames.size() == 1) {
      written.set_value();
    }
  };
  stages.make_denoiser = [](const Frame&, const NoiseModel&) { return std::make_unique<OfSeveral>(); };
  run_stream(stages, {}, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(10));
}

// Several devices share the rest of a stream after its end is known.
TEST(Pipeline, TheEndIsToldBeforeAnyResultIsAwaited) {
  class OfSeveral final : public HoldingDenoiser {
   public:
    std::optional<Frame> receive() override {
      EXPECT_TRUE(flushed_);
      return HoldingDenoiser::receive();
    }
    void flush() override { flushed_ = true; }
    bool is_ready() const override { return flushed_; }
    int concurrency() const override { return 100; }

   private:
    bool flushed_ = false;
  };

  Script script;
  for (int i = 0; i < 10; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamParts stages = script.stages();
  stages.make_denoiser = [](const Frame&, const NoiseModel&) { return std::make_unique<OfSeveral>(); };
  run_stream(stages, {}, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(10));
}

TEST(Latencies, AreExactToTwoPerCent) {
  LatencyCounter counter;
  EXPECT_EQ(counter.latencies().milliseconds(0.5), 0);
  constexpr double kShare = 0.02;
  for (double ms = 1e-3; ms < 1e6; ms *= 1.7) {
    const Latencies before = counter.latencies();
    counter.add(std::chrono::nanoseconds(std::llround(ms * 1e6)));
    EXPECT_NEAR(counter.latencies().since(before).milliseconds(1), ms, kShare * ms);
    EXPECT_NEAR(counter.latencies().milliseconds(1), ms, kShare * ms);
  }
  counter.add(std::chrono::hours(1000));
  EXPECT_GT(counter.latencies().milliseconds(1), 3.6e6);
}

TEST(Latencies, MedianAndPercentilesOfAHundredFrames) {
  LatencyCounter counter;
  for (int i = 1; i <= 100; ++i) {
    counter.add(std::chrono::milliseconds(i));
  }
  const nlohmann::ordered_json json = to_json(counter.latencies());
  EXPECT_NEAR(json["median"], 50, 1);
  EXPECT_NEAR(json["p99"], 99, 2);
  EXPECT_NEAR(json["worst"], 100, 2);
}

TEST(Pipeline, ALatencyLastsFromSendingAFrameToItsResult) {
  Script script;
  script.latency = 1;
  for (int i = 0; i < 2; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  constexpr std::chrono::milliseconds kPause{5};
  StreamParts stages = script.stages();
  std::promise<void> made;
  stages.make_denoiser = [&, make = stages.make_denoiser](const Frame& frame, const NoiseModel& level) {
    made.set_value();
    return make(frame, level);
  };
  GivenLevels levels([&](const Frame& frame) {
    if (frame.index == 1) {
      made.get_future().wait();
      std::this_thread::sleep_for(kPause);  // the first one is in the denoiser
    }
    return NoiseModel{};
  });
  stages.noise = &levels;
  run_stream(stages, {}, script.counters, {});
  EXPECT_GE(script.counters.denoise.latency.latencies().milliseconds(1), 0.98 * kPause.count());
}

TEST(Pipeline, CountsWhatEachStageDoes) {
  constexpr int kFrames = 10;
  constexpr std::chrono::milliseconds kPause{3};
  Script script;
  for (int i = 0; i < kFrames; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamParts stages = script.stages();
  const auto write = stages.write_frame;
  stages.write_frame = [&](const Frame& frame) {
    std::this_thread::sleep_for(kPause);
    write(frame);
  };
  StreamOptions options;
  options.queued_frames = 1;
  options.queued_results = 1;
  run_stream(stages, options, script.counters, {});
  EXPECT_EQ(script.counters.read.frames, kFrames);
  EXPECT_EQ(script.counters.denoise.frames, kFrames);
  EXPECT_EQ(script.counters.write.frames, kFrames);
  EXPECT_GE(script.counters.write.busy_ns, kFrames * std::chrono::nanoseconds(kPause).count());
  EXPECT_GT(script.counters.denoise.waited_for_output_ns, 0);
  EXPECT_GT(script.counters.read.waited_for_output_ns, 0);
  const nlohmann::ordered_json json = to_json(script.counters);
  EXPECT_EQ(json["encode"]["frames"], kFrames);
  EXPECT_LE(json["encode"]["fps_alone"], 1000.0 / kPause.count());
  constexpr double kExact = 0.98;
  EXPECT_GE(json["encode"]["latency_ms"]["median"], kExact * kPause.count());
  EXPECT_GE(json["encode"]["latency_ms"]["worst"], json["encode"]["latency_ms"]["median"]);
  EXPECT_EQ(to_table(script.counters).size(), 4U);
}

TEST(Pipeline, ADevicesUploadsAndDownloadsAreStagesOfTheirOwn) {
  constexpr int kFrames = 5;
  Script script;
  for (int i = 0; i < kFrames; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamParts stages = script.stages();
  stages.make_denoiser = [&](const Frame&, const NoiseModel&) {
    return std::make_unique<PassThroughDevice>(0, 2, &script.levels);
  };
  run_stream(stages, {}, script.counters, {});
  const nlohmann::ordered_json json = to_json(script.counters);
  std::vector<std::string> names;
  for (const auto& [name, stage] : json.items()) {
    names.push_back(name);
    EXPECT_EQ(stage["frames"], kFrames) << name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"decode", "denoise", "upload", "filter", "download", "encode"}));
  EXPECT_EQ(json["upload"]["busy"], 0.25);
  EXPECT_EQ(json["upload"]["waited_for_output"], 0.75);
  EXPECT_EQ(json["filter"]["fps_alone"], 250);
  EXPECT_EQ(json["filter"]["busy"], 1);
  EXPECT_TRUE(json["denoise"].contains("latency_ms"));
  EXPECT_EQ(json["download"]["fps_alone"], 1000);
  EXPECT_EQ(json["download"]["waited_for_input"], 0.75);
  const std::vector<std::string> table = to_table(script.counters);
  ASSERT_EQ(table.size(), 1 + names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(table[i + 1].starts_with(names[i])) << table[i + 1];
  }
}

TEST(Pipeline, TheBusiestStageLimitsARun) {
  StreamCounters counters;
  counters.read.busy_ns = 3;
  counters.denoise.busy_ns = 2;
  EXPECT_EQ(limit_of(counters, false), "decoding");
  EXPECT_EQ(limit_of(counters, true), "input");
  counters.noise.busy_ns = 4;
  EXPECT_EQ(limit_of(counters, true), "noise estimation");
  counters.denoise.busy_ns = 5;
  EXPECT_EQ(limit_of(counters, false), "filtering");
  counters.write.busy_ns = 6;
  EXPECT_EQ(limit_of(counters, false), "encoding");
}

/// A kind of frame without content, and the number of them that a queue should hold.
struct Waiting {
  int side;
  MemoryDomain memory;
  std::int64_t most;
};

/// A source of `count` frames of this kind, without samples.
std::deque<io::Reader::Item> waiting_frames(const Waiting& waiting, std::int64_t count) {
  std::deque<io::Reader::Item> source;
  for (std::int64_t i = 0; i < count; ++i) {
    Frame frame = make_frame(i);
    frame.format.width = frame.format.height = waiting.side;
    frame.memory = waiting.memory;
    source.emplace_back(std::move(frame));
  }
  return source;
}

/// Called for each frame by the stage that blocks the others: while it has the first frame, exactly `ahead`
/// frames are read, however long it takes; for other frames at most as many.
void expect_read_ahead(const StreamCounters& counters, const Frame& frame, std::int64_t ahead) {
  if (frame.index == 0) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (counters.read.frames < ahead && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_GE(counters.read.frames, ahead);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LE(counters.read.frames - frame.index, ahead);
}

// In addition to the frames that wait with their noise: one whose noise is being estimated, and one decoded.
constexpr std::int64_t kWithoutNoise = 2;

// The number of frames that wait for a blocked denoiser.
TEST(Pipeline, FramesWaitUpToANumberAndAnAmountOfMemory) {
  class Waited final : public HoldingDenoiser {
   public:
    Waited(const StreamCounters& counters, std::int64_t ahead) : counters_(counters), ahead_(ahead) {}
    void send(Frame frame) override {
      expect_read_ahead(counters_, frame, ahead_);
      HoldingDenoiser::send(std::move(frame));
    }
    int concurrency() const override { return 1; }

   private:
    const StreamCounters& counters_;
    std::int64_t ahead_;
  };

  constexpr std::int64_t kFrames = 40;
  for (const Waiting& waiting : {Waiting{1, kHostMemory, 32}, Waiting{4096, kHostMemory, 8},
                                 Waiting{16384, kHostMemory, 3}, Waiting{1, cuda_memory(0), 3}}) {
    SCOPED_TRACE(testing::Message() << waiting.most << " of side " << waiting.side);
    Script script;
    script.source = waiting_frames(waiting, kFrames);
    StreamParts stages = script.stages();
    stages.make_denoiser = [&](const Frame&, const NoiseModel&) {
      return std::make_unique<Waited>(script.counters, 1 + waiting.most + kWithoutNoise);
    };
    StreamOptions options;
    options.queued_frames = 32;
    run_stream(stages, options, script.counters, {});
    EXPECT_EQ(script.frames, first_numbers(kFrames));
  }
}

// The number of results that wait for a blocked writer.
TEST(Pipeline, ResultsWaitUpToANumberAndAnAmountOfMemory) {
  constexpr std::int64_t kFrames = 40;
  for (const Waiting& waiting :
       {Waiting{1, kHostMemory, 16}, Waiting{4096, kHostMemory, 8}, Waiting{16384, kHostMemory, 3}}) {
    SCOPED_TRACE(testing::Message() << waiting.most << " of side " << waiting.side);
    Script script;
    script.source = waiting_frames(waiting, kFrames);
    StreamParts stages = script.stages();
    const auto write = stages.write_frame;
    stages.write_frame = [&](const Frame& frame) {
      // The writer has one, the denoiser another one that finds no room, and three wait to be denoised.
      expect_read_ahead(script.counters, frame, 1 + waiting.most + 1 + 3 + kWithoutNoise);
      write(frame);
    };
    run_stream(stages, {}, script.counters, {});
    EXPECT_EQ(script.frames, first_numbers(kFrames));
  }
}

TEST(Pipeline, LongSegmentsOfPacketsDontBlock) {
  Script script;
  constexpr int kPackets = 20000;
  for (int i = 0; i < kPackets; ++i) {
    script.source.emplace_back(make_packet(i));
  }
  script.source.emplace_back(make_frame(0));
  for (int i = 0; i < kPackets; ++i) {
    script.source.emplace_back(make_packet(kPackets + i));
  }
  run_stream(script.stages(), {}, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(1));
  EXPECT_EQ(script.packets.size(), std::size_t{2 * kPackets});
}

TEST(Pipeline, EmptySourceMakesNoDenoiser) {
  Script script;
  StreamParts stages = script.stages();
  stages.make_denoiser = [](const Frame&, const NoiseModel&) -> std::unique_ptr<Denoiser> {
    ADD_FAILURE() << "there is no frame to make a denoiser for";
    return nullptr;
  };
  run_stream(stages, {}, script.counters, {});
  EXPECT_TRUE(script.frames.empty());
}

TEST(Pipeline, StopsAtTheFrameLimit) {
  Script script;
  for (int i = 0; i < 20; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamOptions options;
  options.frame_limit = 7;
  script.latency = 2;
  run_stream(script.stages(), options, script.counters, {});
  EXPECT_EQ(script.frames, first_numbers(7));
}

TEST(Pipeline, TellsTheDenoiserOfNewNoiseModelsOnly) {
  Script script;
  for (int i = 0; i < 6; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamParts stages = script.stages();
  GivenLevels levels([](const Frame& frame) {
    return frame.index < 3 ? NoiseModel{{5, 5, 5}} : NoiseModel{{9, 9, 9}};
  });
  stages.noise = &levels;
  run_stream(stages, {}, script.counters, {});
  EXPECT_EQ(script.first_level, (NoiseModel{{5, 5, 5}}));
  EXPECT_EQ(script.levels, (std::vector<NoiseModel>{{{9, 9, 9}}}));
}

TEST(Pipeline, TheDenoiserGetsTheMix) {
  class MixedDenoiser final : public PassThrough {
   public:
    MixedDenoiser(std::vector<NoiseModel>* levels, float* mix) : PassThrough(0, 1, levels), mix_(mix) {}
    void set_mix(float mix) override { *mix_ = mix; }

   private:
    float* mix_;
  };
  Script script;
  script.source.emplace_back(make_frame(0));
  float mix = 0;
  StreamParts stages = script.stages();
  stages.mix = 0.25F;
  stages.make_denoiser = [&](const Frame&, const NoiseModel&) {
    return std::make_unique<MixedDenoiser>(&script.levels, &mix);
  };
  run_stream(stages, {}, script.counters, {});
  EXPECT_EQ(mix, 0.25F);
}

TEST(Pipeline, AStopFinishesTheFramesUnderWay) {
  Script script;
  script.latency = 2;
  std::stop_source stop;
  StreamParts stages = script.stages();
  std::int64_t next = 0;
  stages.read = [&]() -> io::Reader::Item { return make_frame(next++); };  // endless
  const auto write = stages.write_frame;
  stages.write_frame = [&](const Frame& frame) {
    write(frame);
    if (frame.index == 10) {
      stop.request_stop();
    }
  };
  run_stream(stages, {}, script.counters, stop.get_token());
  EXPECT_GT(script.frames.size(), 10U);
  EXPECT_EQ(script.frames, first_numbers(script.counters.read.frames));
}

TEST(Pipeline, AStopFinishesTheFramesUnderWayWhileTheSourceBlocks) {
  Script script;
  std::stop_source stop;
  std::latch all_written(3);
  std::latch source_released(1);
  StreamParts stages = script.stages();
  std::int64_t next = 0;
  stages.read = [&]() -> io::Reader::Item {
    if (next == 3) {
      source_released.wait();
    }
    return make_frame(next++);
  };
  script.latency = 1;  // the last frame is returned only at the end of the input
  const auto write = stages.write_frame;
  stages.write_frame = [&](const Frame& frame) {
    write(frame);
    all_written.count_down();
    if (frame.index == 1) {
      stop.request_stop();
    }
  };
  const std::jthread release([&] {
    all_written.wait();
    source_released.count_down();
  });
  run_stream(stages, {}, script.counters, stop.get_token());
  EXPECT_EQ(script.frames, first_numbers(3));
}

/// Works on a frame until it is cancelled.
class EndlessDenoiser final : public PassThrough {
 public:
  using PassThrough::PassThrough;
  std::optional<Frame> receive() override {
    begun.count_down();
    cancelled_.wait(false);
    return std::nullopt;
  }
  void cancel() override {
    cancelled_ = true;
    cancelled_.notify_all();
  }
  std::latch begun{1};

 private:
  std::atomic<bool> cancelled_ = false;
};

TEST(Pipeline, AbandonedFramesAreDropped) {
  Script script;
  for (int i = 0; i < 100; ++i) {
    script.source.emplace_back(make_frame(i));
  }
  StreamParts stages = script.stages();
  EndlessDenoiser* denoiser = nullptr;
  std::latch made{1};
  stages.make_denoiser = [&](const Frame&, const NoiseModel&) {
    auto own = std::make_unique<EndlessDenoiser>(0, 1, &script.levels);
    denoiser = own.get();
    made.count_down();
    return own;
  };
  std::stop_source stop;
  std::stop_source abandon;
  StreamOptions options;
  options.abandon = abandon.get_token();
  const std::jthread user([&] {
    made.wait();
    denoiser->begun.wait();
    stop.request_stop();
    abandon.request_stop();
  });
  run_stream(stages, options, script.counters, stop.get_token());
  EXPECT_TRUE(script.frames.empty());
}

TEST(Pipeline, NothingIsFilteredIfTheRunIsAbandonedBeforeItsDenoiserIsMade) {
  Script script;
  script.source.emplace_back(make_frame(0));
  StreamParts stages = script.stages();
  std::stop_source abandon;
  stages.make_denoiser = [&](const Frame&, const NoiseModel&) {
    abandon.request_stop();
    return std::make_unique<EndlessDenoiser>(0, 1, &script.levels);
  };
  StreamOptions options;
  options.abandon = abandon.get_token();
  run_stream(stages, options, script.counters, {});
  EXPECT_TRUE(script.frames.empty());
}

TEST(Pipeline, DenoisedFramesAreWrittenWhenDenoisingFails) {
  constexpr std::int64_t kFailing = 7;
  class Failing final : public HoldingDenoiser {
   public:
    explicit Failing(std::function<void()> fail) : fail_(std::move(fail)) {}
    std::optional<Frame> receive() override {
      if (held().front().index == kFailing) {
        fail_();
      }
      return HoldingDenoiser::receive();
    }

   private:
    std::function<void()> fail_;
  };

  const std::vector<std::pair<std::function<void()>, std::string>> failures{
      {[] { throw Error("the GPU is gone"); }, "the GPU is gone"},
      {[] { throw std::bad_alloc(); }, "there is not enough memory"}};
  for (const auto& [fail, sentence] : failures) {
    Script script;
    StreamParts stages = script.stages();
    std::int64_t next = 0;
    stages.read = [&]() -> io::Reader::Item { return make_frame(next++); };  // endless
    stages.make_denoiser = [&fail = fail](const Frame&, const NoiseModel&) {
      return std::make_unique<Failing>(fail);
    };
    try {
      run_stream(stages, {}, script.counters, {});
      FAIL() << "the failure was swallowed";
    } catch (const DenoisingFailure& failure) {
      EXPECT_EQ(failure.what(), sentence);
    }
    EXPECT_EQ(script.frames, first_numbers(kFailing));
  }
}

// Fails to estimate the noise of the frame with this index.
class FailingEstimate final : public Leveler {
 public:
  explicit FailingEstimate(std::int64_t failing) : failing_(failing) {}
  void send(Frame frame) override {
    if (frame.index == failing_) {
      throw Error("it broke");
    }
    levels_.send(std::move(frame));
  }
  std::optional<LeveledFrame> receive() override { return levels_.receive(); }
  void flush() override {}
  bool is_estimated() const override { return true; }

 private:
  std::int64_t failing_;
  GivenLevels levels_{[](const Frame&) { return NoiseModel(); }};
};

TEST(Pipeline, EarlierFramesAreWrittenWhenNoiseEstimationFails) {
  constexpr std::int64_t kFailing = 5;
  Script script;
  script.latency = 2;
  StreamParts stages = script.stages();
  std::int64_t next = 0;
  stages.read = [&]() -> io::Reader::Item { return make_frame(next++); };  // endless
  FailingEstimate noise(kFailing);
  stages.noise = &noise;
  try {
    run_stream(stages, {}, script.counters, {});
    FAIL() << "the failure was swallowed";
  } catch (const DenoisingFailure& failure) {
    EXPECT_STREQ(failure.what(), "it broke");
  }
  EXPECT_EQ(script.frames, first_numbers(kFailing));
  EXPECT_EQ(to_json(script.counters)["noise"]["frames"], kFailing);
}

TEST(Pipeline, AFailureDoesNotWaitForTheSource) {
  for (const bool of_denoising : {true, false}) {
    SCOPED_TRACE(of_denoising);
    const auto fail = [] { throw Error("it broke"); };
    Script script;
    StreamParts stages = script.stages();
    std::latch told_to_stop(1);
    bool given = false;
    stages.read = [&]() -> io::Reader::Item {
      if (!std::exchange(given, true)) {
        return make_frame(0);
      }
      told_to_stop.wait();
      return io::Reader::End{};
    };
    stages.stop_reading = [&] { told_to_stop.count_down(); };
    GivenLevels levels([&](const Frame&) -> NoiseModel {
      fail();
      return {};
    });
    if (of_denoising) {
      stages.noise = &levels;
    } else {
      stages.write_frame = [&](const Frame&) { fail(); };
    }
    EXPECT_THROW(run_stream(stages, {}, script.counters, {}), Error);
  }
}

enum class Stage { kRead, kNoise, kMakeDenoiser, kWriteFrame, kWritePacket };

class PipelineFailure : public testing::TestWithParam<Stage> {};

TEST_P(PipelineFailure, AnyStageEndsTheRunWithItsMessage) {
  Script script;
  StreamParts stages = script.stages();
  std::int64_t next = 0;
  stages.read = [&]() -> io::Reader::Item {  // endless
    ++next;
    return next % 2 == 0 ? io::Reader::Item(make_frame(next / 2)) : io::Reader::Item(make_packet(0));
  };
  constexpr const char* kFailure = "it broke";
  GivenLevels levels(
      [&](const Frame& frame) { return frame.index < 9 ? NoiseModel() : throw Error(kFailure); });
  switch (GetParam()) {
    case Stage::kRead:
      stages.read = [&, read = stages.read]() -> io::Reader::Item {
        return next < 20 ? read() : throw Error(kFailure);
      };
      break;
    case Stage::kNoise:
      stages.noise = &levels;
      break;
    case Stage::kMakeDenoiser:
      stages.make_denoiser = [&](const Frame&, const NoiseModel&) -> std::unique_ptr<Denoiser> {
        throw Error(kFailure);
      };
      break;
    case Stage::kWriteFrame:
      stages.write_frame = [&](const Frame&) { throw Error(kFailure); };
      break;
    case Stage::kWritePacket:
      stages.write_packet = [&](const io::Packet&) { throw Error(kFailure); };
      break;
  }
  try {
    run_stream(stages, {}, script.counters, {});
    FAIL() << "the failure was swallowed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "it broke");
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, PipelineFailure,
                         testing::Values(Stage::kRead, Stage::kNoise, Stage::kMakeDenoiser,
                                         Stage::kWriteFrame, Stage::kWritePacket));

}  // namespace
}  // namespace limpid::app
