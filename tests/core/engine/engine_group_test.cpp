// SPDX-License-Identifier: MIT
// Several engines as one: their names, and the distribution of frames among them, each on its own thread.
// Distribution of a stream's frames among the workers of a group.

#include "core/engine/engine_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cpu/noise/noise.h"
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

using Dealt = SegmentDealer::Dealt;

// Workers that take a frame in turn.
class Workers {
 public:
  Workers(std::size_t count, Reach reach, std::int64_t ahead) : dealer(count, reach, ahead), all(count) {}

  // True if there was a frame for the worker.
  bool take(std::size_t worker) {
    const std::int64_t needed = dealer.first_needed();
    const std::optional<Dealt> dealt = dealer.next(worker);
    if (dealt) {
      EXPECT_GE(dealt->frame, needed);
      all[worker].push_back(*dealt);
    }
    return dealt.has_value();
  }

  SegmentDealer dealer;
  std::vector<std::vector<Dealt>> all;
};

// Each frame has a result from exactly one worker, which gets its complete context, in order, and no other
// frames in between.
void expect_each_frame_once(const Workers& workers, Reach reach, std::int64_t count) {
  std::vector<int> results(static_cast<std::size_t>(count));
  for (const std::vector<Dealt>& dealt : workers.all) {
    for (std::size_t i = 0; i < dealt.size(); ++i) {
      ASSERT_LT(dealt[i].frame, count);
      if (i == 0) {
        ASSERT_TRUE(dealt[i].begins);
      } else if (!dealt[i].begins) {
        ASSERT_EQ(dealt[i].frame, dealt[i - 1].frame + 1);
      }
      if (!dealt[i].wanted) {
        continue;
      }
      ++results[static_cast<std::size_t>(dealt[i].frame)];
      std::size_t first = i;
      while (!dealt[first].begins) {
        --first;
      }
      std::size_t last = i;
      while (last + 1 < dealt.size() && !dealt[last + 1].begins) {
        ++last;
      }
      ASSERT_LE(dealt[first].frame, std::max<std::int64_t>(dealt[i].frame - reach.before, 0));
      ASSERT_GE(dealt[last].frame, std::min(dealt[i].frame + reach.after, count - 1));
    }
  }
  ASSERT_EQ(results, std::vector<int>(results.size(), 1));
}

std::int64_t results_of(const std::vector<Dealt>& dealt) {
  return std::ranges::count(dealt, true, &Dealt::wanted);
}

TEST(SegmentDealer, EachFrameHasOneResultWithAllOfItsContext) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t count = 1 + random() % 4;
    const Reach reach{static_cast<int>(random() % 4), static_cast<int>(random() % 4)};
    const auto frames = static_cast<std::int64_t>(random() % 150);
    SCOPED_TRACE(std::to_string(count) + " workers, " + std::to_string(frames) + " frames, reach " +
                 std::to_string(reach.before) + "," + std::to_string(reach.after));
    Workers workers(count, reach, static_cast<std::int64_t>(random() % 30));
    for (int stream = 0; stream < 2; ++stream) {
      const unsigned speed = 1 + random() % 8;  // of the workers, relative to the source
      for (std::int64_t i = 0; i < frames; ++i) {
        workers.dealer.add();
        for (unsigned turn = 0; turn < random() % speed; ++turn) {
          workers.take(random() % count);
        }
      }
      workers.dealer.end();
      std::vector<std::size_t> order;
      for (std::size_t worker = 0; worker < count; ++worker) {
        order.insert(order.end(), 1 + random() % 5, worker);  // some are slow
      }
      for (bool more = true; more;) {
        more = false;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t worker : order) {
          more |= workers.take(worker);
        }
      }
      EXPECT_EQ(workers.dealer.first_needed(), frames);
      expect_each_frame_once(workers, reach, frames);
      if (testing::Test::HasFailure()) {
        return;
      }
      workers.dealer.reset();
      workers.all.assign(count, {});
    }
  }
}

// A long stream, with a distance that makes context a tenth of a segment: the workers spend no more on
// context, and finish at the same time.
TEST(SegmentDealer, SharesTheWorkWithLittleContext) {
  constexpr Reach kReach{16, 16};
  for (const std::int64_t count : {2, 4, 8}) {
    const std::int64_t ahead = 320 * (count - 1) / count;
    Workers workers(static_cast<std::size_t>(count), kReach, ahead);
    const std::int64_t frames = 4000 * count;
    std::int64_t turns = 0;
    std::int64_t sent = 0;
    for (bool more = true; more; ++turns) {
      while (sent < frames && sent < workers.dealer.first_needed() + count * ahead) {
        workers.dealer.add();
        ++sent;
      }
      if (sent == frames) {
        workers.dealer.end();
      }
      more = false;
      for (std::int64_t worker = 0; worker < count; ++worker) {
        more |= workers.take(static_cast<std::size_t>(worker));
      }
    }
    expect_each_frame_once(workers, kReach, frames);
    EXPECT_LE(static_cast<double>(turns * count), 1.13 * static_cast<double>(frames)) << count;
    for (const auto& dealt : workers.all) {
      EXPECT_NEAR(static_cast<double>(results_of(dealt)), 4000, 100) << count;
    }
  }
}

// The time that two workers need for each frame of a source with one frame every `interval`, in units of a
// worker's time for a result. Context takes a third of that.
double time_of_two(double interval, std::int64_t frames) {
  constexpr Reach kReach{16, 16};
  constexpr std::int64_t kAhead = 320;
  constexpr int kTicks = 3;  // per result
  Workers workers(2, kReach, kAhead);
  std::array<int, 2> busy{};
  std::int64_t ticks = 0;
  double next = 0;
  for (bool more = true; more; ++ticks) {
    const auto now = static_cast<double>(ticks) / kTicks;
    while (workers.dealer.count() < frames && now >= next &&
           workers.dealer.count() < workers.dealer.first_needed() + 2 * kAhead) {
      workers.dealer.add();
      next = std::max(next + interval, now - 1);
    }
    more = workers.dealer.count() < frames;
    if (!more) {
      workers.dealer.end();
    }
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (busy[i] == 0 && workers.take(i)) {
        busy[i] = workers.all[i].back().wanted ? kTicks : 1;
      }
      more |= busy[i] > 0;
      busy[i] = std::max(busy[i] - 1, 0);
    }
  }
  expect_each_frame_once(workers, kReach, frames);
  return static_cast<double>(ticks) / static_cast<double>(kTicks * frames);
}

// With a source that is little faster than the workers, no worker waits until another's whole segment has
// arrived.
TEST(SegmentDealer, SegmentsAreAsLongAsWhatHasCome) {
  constexpr std::int64_t kFrames = 2400;
  EXPECT_LE(time_of_two(0.01, kFrames), 0.52);
  EXPECT_LE(time_of_two(0.45, kFrames), 0.54);
  EXPECT_LE(time_of_two(0.6, kFrames), 0.62);
}

TEST(SegmentDealer, DealsFramesWithoutReachInTurn) {
  Workers workers(3, {}, 0);
  for (int i = 0; i < 30; ++i) {
    workers.dealer.add();
  }
  workers.dealer.end();
  for (int round = 0; round < 10; ++round) {
    for (std::size_t worker = 0; worker < 3; ++worker) {
      workers.take(worker);
    }
  }
  for (const auto& dealt : workers.all) {
    EXPECT_EQ(results_of(dealt), 10);
  }
}

// A source as slow as a camera: each frame is dealt as soon as it arrives.
TEST(SegmentDealer, NoFrameWaitsForTheNext) {
  Workers workers(2, {2, 0}, 5);
  for (std::int64_t i = 0; i < 100; ++i) {
    workers.dealer.add();
    while (workers.take(0) || workers.take(1)) {
    }
    std::int64_t results = 0;
    for (const auto& dealt : workers.all) {
      results += results_of(dealt);
    }
    EXPECT_EQ(results, i + 1);
  }
}

TEST(SegmentDealer, TellsWhoHasHadTheLastFrame) {
  Workers workers(2, {1, 1}, 4);
  for (int i = 0; i < 40; ++i) {
    workers.dealer.add();
    workers.take(0);
    workers.take(1);
    EXPECT_FALSE(workers.dealer.has_had_the_last(0) || workers.dealer.has_had_the_last(1));
  }
  workers.dealer.end();
  while (workers.take(0) || workers.take(1)) {
  }
  EXPECT_TRUE(workers.dealer.has_had_the_last(0) || workers.dealer.has_had_the_last(1));
}

}  // namespace

}  // namespace limpid
