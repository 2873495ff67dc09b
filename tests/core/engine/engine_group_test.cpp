// SPDX-License-Identifier: MIT
// Several engines as one: their names, and the distribution of frames among them, each on its own thread.
#include "core/engine/engine_group.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cpu/noise/noise_estimation.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/event_count.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

using oracle::yuv;

TEST(EngineGroup, NamesStandForOneEngineOrSeveral) {
  const std::vector<EngineInfo> engines{
      {"cuda:0", "", 0, true}, {"cuda:1", "", 0, false}, {"cuda:2", "", 0, true}, {"cpu", "", 0, true}};
  const auto expand = [&](const char* name) { return expand_engine_name(name, engines); };
  using Names = std::vector<std::string>;
  for (const char* single : {"auto", "cpu", "cuda:1", "cuda:x", ""}) {
    EXPECT_EQ(expand(single), Names{single});
  }
  EXPECT_EQ(expand("cuda:0,2"), (Names{"cuda:0", "cuda:2"}));
  EXPECT_EQ(expand("cuda:2,cuda:0"), (Names{"cuda:2", "cuda:0"}));
  EXPECT_EQ(expand("cuda:all"), (Names{"cuda:0", "cuda:2"}));
  EXPECT_EQ(expand_engine_name("cuda:all", {}), Names{"cuda:0"});
  EXPECT_EQ(expand("cuda"), Names{"cuda:0"});
  EXPECT_EQ(expand_engine_name("cuda", {{"cuda:0", "", 0, false}, {"cuda:1", "", 0, true}}), Names{"cuda:1"});
  EXPECT_EQ(expand_engine_name("cuda", {{"cuda:0", "", 0, false}}), Names{"cuda:0"});
  EXPECT_EQ(expand_engine_name("cuda", {{"cuda", "", 0, false}}), Names{"cuda"});
  for (const char* name : {"cuda:0,cpu:1", "cuda:0,0", "cuda:0,", "cuda:0,,1"}) {
    const std::string message = message_of([&] { expand(name); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
  EXPECT_THROW(engine_registry().open("cpu:0,1"), UsageError);
}

TEST(EngineGroup, GivesWhatOneEngineGivesInOrder) {
  std::vector<std::shared_ptr<Engine>> engines;
  for (const int threads : {1, 2, 1}) {
    engines.push_back(engine_registry().open("cpu", {threads}));
  }
  const std::shared_ptr<Engine> group = make_engine_group("cpu,cpu,cpu", engines);
  EXPECT_EQ(group->name(), "cpu,cpu,cpu");
  const FrameFormat format = yuv(40, 33, 1, 1);
  const Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  const auto denoiser = group->make_denoiser(parameters, {{20, 10, 10}}, format);
  EXPECT_EQ(denoiser->latency(), 0);
  EXPECT_FALSE(denoiser->receive().has_value());
  constexpr int kFrames = 8;
  const auto noise_of = [](int i) { return NoiseModel{{i < 4 ? 20.0F : 30.0F, 10, 10}}; };
  std::vector<Frame> frames;
  for (int i = 0; i < kFrames; ++i) {
    Frame frame = oracle::add_noise(oracle::draw_picture(format), 20, static_cast<std::uint64_t>(i));
    frame.index = i;
    frames.push_back(frame);
    denoiser->set_noise(noise_of(i));
    denoiser->set_mix(i < 2 ? 1.0F : 0.0F);
    denoiser->send(frame);
  }
  denoiser->flush();
  for (int i = 0; i < kFrames; ++i) {
    const Frame result = denoiser->receive().value();
    EXPECT_EQ(result.index, i);
    const Frame alone = run_filter(*engines[1], frames[i], parameters, noise_of(i));
    EXPECT_TRUE(oracle::same_bits(result, i < 2 ? frames[i] : alone)) << i;
  }
  EXPECT_FALSE(denoiser->receive().has_value());
}

TEST(EngineGroup, RefusesAFilterOfUnboundedReach) {
  const std::vector<std::shared_ptr<Engine>> engines = {engine_registry().open("cpu"),
                                                        engine_registry().open("cpu")};
  const std::shared_ptr<Engine> group = make_engine_group("cpu:0,1", engines);
  EXPECT_EQ(message_of([&] { group->make_denoiser(RecursiveParameters(), {{10}}, oracle::gray(32, 32)); }),
            "several GPUs cannot use the filter recursive, whose results depend on all earlier frames; use "
            "vbm4d:delay=0");
}

/// Hands frames through and tells a test what is done with them.
class EngineDouble final : public Engine {
 public:
  struct Script {
    int concurrency = 1;
    Reach reach{};
    MemoryDomain memory = kHostMemory;
    std::function<void(const Frame&)> on_send = [](const Frame&) {};
    std::function<void(const Frame&)> on_receive = [](const Frame&) {};
    std::function<void()> on_flush = [] {};
  };
  struct Counts {
    std::set<std::thread::id> threads;
    std::size_t most_under_way = 0;
    bool destroyed = false;
  };

  explicit EngineDouble(Script script) : script_(std::move(script)) {}

  /// Complete once the denoiser has been destroyed.
  const Counts& counts() const { return counts_; }

  std::string_view name() const override { return "double"; }
  std::string description() const override { return "hands frames through"; }
  std::unique_ptr<Denoiser> make_denoiser(const Filter& /*filter*/, const NoiseModel& /*noise*/,
                                          const FrameFormat& /*format*/) override {
    return std::make_unique<DenoiserDouble>(script_, counts_);
  }
  Frame allocate_frame(const FrameFormat& format) override { return limpid::allocate_frame(format); }
  MemoryDomain memory() const override { return script_.memory; }
  MemoryDomain result_memory() const override { return script_.memory; }
  Frame in_host_memory(const Frame& frame) override {
    Frame copy = frame;
    copy.memory = kHostMemory;
    copy.samples.reset();
    return copy;
  }
  NoiseModel estimate_noise(const Frame& frame) override { return cpu::estimate_noise(frame); }
  BrightnessHistogram brightness_histogram(const Frame& frame) override {
    return limpid::brightness_histogram(frame);
  }

 private:
  class DenoiserDouble final : public Denoiser {
   public:
    DenoiserDouble(const Script& script, Counts& counts) : script_(script), counts_(counts) {}
    DenoiserDouble(const DenoiserDouble&) = delete;
    DenoiserDouble& operator=(const DenoiserDouble&) = delete;
    ~DenoiserDouble() override { counts_.destroyed = true; }
    void set_noise(const NoiseModel& /*noise*/) override {
      counts_.threads.insert(std::this_thread::get_id());
    }
    void set_mix(float /*mix*/) override {}
    void send(Frame frame) override {
      counts_.threads.insert(std::this_thread::get_id());
      script_.on_send(frame);
      under_way_.push_back(std::move(frame));
      counts_.most_under_way = std::max(counts_.most_under_way, under_way_.size());
    }
    std::optional<Frame> receive() override {
      counts_.threads.insert(std::this_thread::get_id());
      if (static_cast<int>(under_way_.size()) <= (flushed_ ? 0 : script_.reach.after)) {
        return std::nullopt;
      }
      Frame frame = std::move(under_way_.front());
      under_way_.pop_front();
      script_.on_receive(frame);
      ++received_;
      return frame;
    }
    void flush() override {
      script_.on_flush();
      flushed_ = true;
    }
    std::vector<std::string> warnings() const override { return {"a warning"}; }
    void reset() override {
      under_way_.clear();
      flushed_ = false;
    }
    Reach reach() const override { return script_.reach; }
    int concurrency() const override { return script_.concurrency; }
    DeviceStages device_stages() const override {
      return {.upload = {received_, 10 * received_, 0, 30 * received_},
              .filter = {received_, 40 * received_, 0, 0},
              .download = {received_, 20 * received_, 20 * received_, 0}};
    }

   private:
    const Script& script_;
    Counts& counts_;
    std::deque<Frame> under_way_;
    bool flushed_ = false;
    std::int64_t received_ = 0;
  };

  Script script_;
  Counts counts_;
};

using Doubles = std::vector<std::shared_ptr<EngineDouble>>;

Doubles make_doubles(std::size_t count, const EngineDouble::Script& script) {
  Doubles doubles;
  for (std::size_t i = 0; i < count; ++i) {
    doubles.push_back(std::make_shared<EngineDouble>(script));
  }
  return doubles;
}

std::unique_ptr<Denoiser> make_group_denoiser(const Doubles& doubles) {
  return make_engine_group("doubles", {doubles.begin(), doubles.end()})
      ->make_denoiser(Bm3dParameters{}, {{10}}, oracle::gray(1, 1));
}

Frame numbered(std::int64_t index) {
  Frame frame;
  frame.index = index;
  return frame;
}

// An encoder reads one GPU's memory.
TEST(EngineGroup, ItsResultsAreInHostMemory) {
  std::vector<std::shared_ptr<Engine>> engines;
  for (const int device : {0, 1}) {
    engines.push_back(std::make_shared<EngineDouble>(EngineDouble::Script{.memory = cuda_memory(device)}));
  }
  const auto group = make_engine_group("double,double", engines);
  EXPECT_EQ(group->memory(), cuda_memory(0));
  EXPECT_EQ(group->result_memory(), kHostMemory);
  const FrameFormat format = yuv(8, 8, 1, 1);
  const auto denoiser = group->make_denoiser(bm3d_profile(Profile::kFast), {}, format);
  EXPECT_THROW(denoiser->set_result_frames([&] { return allocate_frame(format); }), Error);
}

TEST(EngineGroup, EachEngineHasAThreadOfItsOwn) {
  constexpr int kEngines = 3;
  constexpr int kRounds = 20;
  test::EventCount sending;
  const auto on_send = [&](const Frame&) {
    thread_local bool has_arrived = false;
    if (!std::exchange(has_arrived, true)) {
      sending.add();
      sending.wait_for(kEngines);  // a single thread for all of them would hang
    }
  };
  const Doubles doubles = make_doubles(kEngines, {.concurrency = 2, .on_send = on_send});
  std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  EXPECT_EQ(group->warnings(), std::vector<std::string>{"a warning"});
  ASSERT_EQ(group->concurrency(), kEngines * 4);
  std::int64_t received = 0;
  for (std::int64_t i = 0; i < std::int64_t{kRounds} * kEngines; ++i) {
    group->send(numbered(i));
    if (i - received + 1 == group->concurrency()) {
      EXPECT_EQ(group->receive().value().index, received++);
    }
  }
  group->flush();
  while (const std::optional<Frame> frame = group->receive()) {
    EXPECT_EQ(frame->index, received++);
  }
  EXPECT_EQ(received, kRounds * kEngines);
  group.reset();
  std::set<std::thread::id> threads{std::this_thread::get_id()};
  for (const auto& engine : doubles) {
    EXPECT_EQ(engine->counts().threads.size(), 1U);
    threads.merge(std::set(engine->counts().threads));
    EXPECT_LE(engine->counts().most_under_way, 2U);
  }
  EXPECT_EQ(threads.size(), kEngines + 1U);
}

TEST(EngineGroup, ItsDevicesCountAsOneThatTakesAllFrames) {
  const Doubles doubles = make_doubles(2, {});
  const std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  EXPECT_EQ(group->device_stages().filter.frames, 0);
  for (int i = 0; i < 6; ++i) {
    group->send(numbered(i));
    group->receive();
  }
  const DeviceStages stages = group->device_stages();
  EXPECT_EQ(stages.upload.frames, 6);
  EXPECT_EQ(stages.upload.busy_ns, 10 * 3);
  EXPECT_EQ(stages.upload.waited_for_output_ns, 30 * 3);
  EXPECT_EQ(stages.filter.busy_ns, 40 * 3);
  EXPECT_EQ(stages.download.frames, 6);
  EXPECT_EQ(stages.download.waited_for_input_ns, 20 * 3);
}

TEST(EngineGroup, SendDoesNotWaitForAnEngine) {
  constexpr int kFrames = 6;
  test::EventCount released;
  const Doubles doubles = make_doubles(2, {.on_receive = [&](const Frame&) { released.wait_for(1); }});
  const std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  for (int i = 0; i < kFrames; ++i) {
    group->send(numbered(i));
  }
  released.add();
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_EQ(group->receive().value().index, i);
  }
}

TEST(EngineGroup, IsReadyOnceTheNextResultOrItsFailureHasCome) {
  test::EventCount may_give;
  test::EventCount told;
  const Doubles doubles = make_doubles(2, {.on_receive = [&](const Frame& frame) {
                                         if (frame.index == 0) {
                                           may_give.wait_for(1);
                                         }
                                         if (frame.index == 2) {
                                           throw Error("failed");
                                         }
                                       }});
  const std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  EXPECT_TRUE(group->is_ready()) << "there is nothing to wait for";
  group->set_ready_listener([&] {
    static_cast<void>(group->is_ready());  // may be called immediately
    told.add();
  });
  for (int i = 0; i < 3; ++i) {
    group->send(numbered(i));
  }
  EXPECT_FALSE(group->is_ready()) << "whatever the second engine has";
  may_give.add();
  int heard = 0;
  while (!group->is_ready()) {
    told.wait_for(++heard);
  }
  EXPECT_EQ(group->receive().value().index, 0);
  for (int i = 1; i < 3; ++i) {
    while (!group->is_ready()) {
      told.wait_for(++heard);
    }
    if (i == 1) {
      EXPECT_EQ(group->receive().value().index, 1);
    } else {
      EXPECT_THROW(group->receive(), Error);
    }
  }
  EXPECT_TRUE(group->is_ready());
}

TEST(EngineGroup, AFailureComesOutInItsFramesPlace) {
  constexpr const char* kWhy = "the GPU fell off at frame 4";
  constexpr int kFailing = 4;
  for (const bool at_send : {true, false}) {
    SCOPED_TRACE(at_send);
    std::atomic<bool> is_well = false;
    const auto fail = [&](const Frame& frame) {
      if (frame.index == kFailing && !is_well) {
        throw Error(kWhy);
      }
    };
    EngineDouble::Script script{.concurrency = 2};
    (at_send ? script.on_send : script.on_receive) = fail;
    const Doubles doubles = make_doubles(3, script);
    const std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
    const auto send_all = [&] {
      for (int i = 0; i < group->concurrency(); ++i) {
        group->send(numbered(i));
      }
    };
    send_all();
    for (int i = 0; i < kFailing; ++i) {
      EXPECT_EQ(group->receive().value().index, i);
    }
    EXPECT_EQ(message_of([&] { group->receive(); }), kWhy);
    for (int i = kFailing + 1; i < group->concurrency(); ++i) {
      // Of another engine, or of the failed one.
      const std::string why = message_of([&] { EXPECT_EQ(group->receive().value().index, i); });
      EXPECT_TRUE(why.empty() || why == kWhy) << why;
    }
    EXPECT_FALSE(group->receive().has_value());

    is_well = true;
    group->reset();
    send_all();
    for (int i = 0; i < group->concurrency(); ++i) {
      EXPECT_EQ(group->receive().value().index, i);
    }
  }
}

TEST(EngineGroup, AFailureToFlushIsToldInPlaceOfTheResultsThatWaitForIt) {
  EngineDouble::Script script{.reach = {.before = 0, .after = 1},
                              .on_flush = [] { throw Error("the GPU fell off"); }};
  const Doubles doubles = make_doubles(2, script);
  const std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  for (int i = 0; i < 3; ++i) {
    group->send(numbered(i));
  }
  group->flush();
  EXPECT_EQ(group->receive().value().index, 0);
  EXPECT_EQ(group->receive().value().index, 1);
  EXPECT_EQ(message_of([&] { group->receive(); }), "the GPU fell off");
  EXPECT_FALSE(group->receive().has_value());
}

TEST(EngineGroup, CanBeDroppedWithFramesUnderWay) {
  test::EventCount sent;
  const Doubles doubles = make_doubles(2, {.concurrency = 2, .on_send = [&](const Frame&) { sent.add(); }});
  std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  for (int i = 0; i < group->concurrency(); ++i) {
    group->send(numbered(i));
  }
  sent.wait_for(1);
  group.reset();
  for (const auto& engine : doubles) {
    EXPECT_TRUE(engine->counts().destroyed);
  }
}

// Decoders have few frames to spare.
TEST(EngineGroup, FramesInAGpusMemoryAreLetGoOfAtOnce) {
  Doubles doubles;
  test::EventCount released;
  for (const int device : {4, 2}) {
    doubles.push_back(std::make_shared<EngineDouble>(EngineDouble::Script{
        .memory = cuda_memory(device), .on_send = [&](const Frame&) { released.wait_for(1); }}));
  }
  const auto group = make_engine_group("doubles", {doubles.begin(), doubles.end()});
  EXPECT_EQ(group->memory(), cuda_memory(4));
  const auto denoiser = group->make_denoiser(Bm3dParameters{}, {{10}}, oracle::gray(1, 1));
  const auto surface = std::make_shared<int>();
  for (int i = 0; i < 4; ++i) {
    Frame frame = numbered(i);
    frame.memory = cuda_memory(4);
    frame.samples = surface;
    EXPECT_EQ(group->in_host_memory(frame).memory, kHostMemory);
    denoiser->send(std::move(frame));
    EXPECT_EQ(surface.use_count(), 1);
  }
  released.add();
  for (int i = 0; i < 4; ++i) {
    const Frame sent = denoiser->receive().value();  // as received by the double
    EXPECT_EQ(sent.index, i);
    EXPECT_EQ(sent.memory, kHostMemory);
  }
}

TEST(EngineGroup, RefusesImpossibleNoiseAtOnce) {
  const Doubles doubles = make_doubles(2, {});
  const std::unique_ptr<Denoiser> group = make_group_denoiser(doubles);
  EXPECT_THROW(group->set_noise({{-1}}), UsageError);
}

}  // namespace
}  // namespace limpid
