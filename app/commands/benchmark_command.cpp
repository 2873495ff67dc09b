// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/command.h"
#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "app/options/engine_options.h"
#include "app/options/media_options.h"
#include "app/options/settings_options.h"
#include "app/pipeline/noise_text.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/base/system.h"
#include "core/engine/denoiser.h"
#include "core/stream/noise_control.h"
#include "core/stream/stream.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

// Measures each stage of `limpid denoise` alone, and the chain. The chain cannot be faster than its slowest
// stage or the processors that all stages share. The difference shows how much the stages wait for each
// other.

namespace limpid::app {
namespace {

struct BenchmarkOptions {
  std::string input;
  std::int64_t frames = 200;
  NoiseOptions noise;
  FilterOptions filter;
  EngineChoice engine;
  std::string codec;
  std::string preset;
  bool local_only = false;
  bool loop = false;
  bool json = false;
};

// Frames that are kept to be denoised or encoded again and again, less where they are large.
constexpr std::int64_t kKeptFrames = 64;
constexpr std::size_t kKeptBytes = std::size_t{1} << 30;

struct Rate {
  std::int64_t frames = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads
  double fps() const { return seconds > 0 ? static_cast<double>(frames) / seconds : 0; }
  double cpu_ms() const { return frames > 0 ? 1000 * cpu_seconds / static_cast<double>(frames) : 0; }
};

class Stopwatch {
 public:
  Rate rate(std::int64_t frames) const {
    return {frames, std::chrono::duration<double>(Clock::now() - start_).count(),
            static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC};
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  std::clock_t cpu_start_ = std::clock();
};

// A frame at the source's mean rate, without properties of its own. Alone, kept frames are encoded again and
// again: their timestamps would go back, and how long a frame lasts decides how well, and how fast, some
// encoders encode it. The chain's frames are numbered, too, to be the same work.
Frame numbered(Frame frame, std::int64_t index) {
  frame.index = index;
  frame.attachment.reset();
  return frame;
}

// Counts the rewinds of an input that is repeated. Rewinding opens the decoder of a GPU again, which can take
// longer than a short clip. Thread-safe.
class Rewinds {
 public:
  void begin() { ++steps_; }
  void end() { ++steps_; }
  /// Odd during a rewind.
  std::int64_t steps() const { return steps_; }

 private:
  std::atomic<std::int64_t> steps_ = 0;
};

// The rate of a long run, from a short one of `expected` frames. The first tenth, in which buffers are made
// and stages fill, does not count, nor does the work after the last frame. Frames that are counted during a
// rewind or first after it are left out with their time, unless there are no others.
class RateMeter {
 public:
  RateMeter(std::int64_t expected, const Rewinds& rewinds) : left_out_(expected / 10), rewinds_(rewinds) {}

  void count_frame() {
    const Rate lap = watch_.rate(1);
    watch_ = Stopwatch();
    const std::int64_t steps = rewinds_.steps();
    const bool is_rewound = steps != std::exchange(steps_, steps) || steps % 2 != 0;
    ++frames_;
    add(lap, all_);
    if (frames_ > left_out_ && !is_rewound) {
      add(lap, timed_);
    }
  }
  const Rate& rate() const { return timed_.frames > 0 ? timed_ : all_; }

 private:
  static void add(const Rate& lap, Rate& sum) {
    sum = {sum.frames + lap.frames, sum.seconds + lap.seconds, sum.cpu_seconds + lap.cpu_seconds};
  }

  std::int64_t left_out_;
  const Rewinds& rewinds_;
  std::int64_t steps_ = 0;
  std::int64_t frames_ = 0;
  Stopwatch watch_;
  Rate all_;
  Rate timed_;
};

// A part of the chain's run, to see whether anything grows.
struct Part {
  std::int64_t frames = 0;  // up to its end
  double fps = 0;
  Latencies latencies;  // of denoising
  std::int64_t resident_bytes = 0;
  std::int64_t open_files = 0;
};

// Divides a run of so many frames into parts.
class History {
 public:
  History(const StageCounters& denoising, std::int64_t frames)
      : denoising_(denoising), part_(std::max<std::int64_t>(frames / kParts, 1)) {}

  void count_frame() {
    if (++frames_ % part_ == 0) {
      const Latencies all = denoising_.latency.latencies();
      parts_.push_back(
          {frames_, watch_.rate(part_).fps(), all.since(before_), resident_bytes(), open_files()});
      before_ = all;
      watch_ = Stopwatch();
    }
  }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  static constexpr std::int64_t kParts = 5;
  const StageCounters& denoising_;
  std::int64_t part_;
  std::int64_t frames_ = 0;
  Latencies before_;
  Stopwatch watch_;
  std::vector<Part> parts_;
};

class Benchmark {
 public:
  explicit Benchmark(const BenchmarkOptions& options)
      : options_(options), noise_(options.noise.settings()), engine_(options.engine.open()) {
    reader_options_.local_only = options.local_only;
    reader_options_.audio = reader_options_.subtitles = reader_options_.data = false;
    writer_options_.codec = options.codec;
    writer_options_.preset = options.preset;
    writer_options_.container = "null";
    writer_options_.overwrite = io::Overwrite::kAlways;
    options.engine.apply_to(reader_options_, writer_options_, engine_);
  }

  const Engine& engine() const { return *engine_; }

  /// Keeps the first frames for the stages by themselves, in host memory: a GPU's decoder has few to spare.
  void keep_frames() {
    io::Reader reader(options_.input, reader_options_);
    report_decoding(options_.engine, reader);
    filter_ = options_.filter.filter(reader.video().still_picture);
    const std::size_t frame_bytes = limpid::frame_bytes(reader.video().format);
    const auto most = std::min(kKeptFrames, static_cast<std::int64_t>(kKeptBytes / frame_bytes) + 1);
    while (static_cast<std::int64_t>(kept_.size()) < std::min(most, options_.frames)) {
      const std::optional<Frame> frame = next_frame(reader);
      if (!frame) {
        break;
      }
      kept_.push_back(engine_->in_host_memory(*frame));
    }
    if (kept_.empty()) {
      throw Error(options_.input + ": has no frames that could be decoded");
    }
  }

  Rate decode() {
    io::Reader reader(options_.input, reader_options_);
    RateMeter meter(options_.frames, rewinds_);
    for (std::int64_t i = 0; i < options_.frames && io::next_frame([&] { return read(reader); }); ++i) {
      meter.count_frame();
    }
    return meter.rate();
  }

  /// First with as many frames at a time as the denoiser accepts; then, for latencies(), with one at a time.
  Rate denoise() {
    DenoiseStage stage(alone_);
    fill(stage);
    Latencies before = alone_.latency.latencies();
    RateMeter meter(options_.frames, rewinds_);
    denoise(stage, options_.frames, &meter);
    const Rate rate = meter.rate();
    if (stage.concurrency() > 1) {
      before = alone_.latency.latencies();
      constexpr std::int64_t kMost = 1000;
      for (std::int64_t i = 0; i < std::min(options_.frames, kMost); ++i) {
        denoise(stage, 1);
      }
    }
    latencies_ = alone_.latency.latencies().since(before);
    return rate;
  }

  /// From sending a frame to its result, if there is no other.
  const Latencies& latencies() const { return latencies_; }

  /// Encodes denoised frames, as in the chain: noisy frames would take longer.
  Rate encode() {
    const io::Reader reader(options_.input, reader_options_);
    io::Writer writer("/dev/null", reader, writer_options_);
    cuda_frames_ = writer.cuda_frames();
    if (cuda_frames_) {
      DenoiseStage stage(alone_);
      fill(stage);
      denoise(stage, static_cast<std::int64_t>(kept_.size()));
    }
    RateMeter meter(options_.frames, rewinds_);
    for (std::int64_t i = 0; i < options_.frames; ++i) {
      writer.write(numbered(denoised_[static_cast<std::size_t>(i) % denoised_.size()], i));
      meter.count_frame();
    }
    writer.finish();
    return meter.rate();
  }

  Rate chain(StreamCounters& counters, History& history) {
    io::Reader reader(options_.input, reader_options_);
    std::optional<io::Writer> writer;
    if (!options_.codec.empty()) {
      writer.emplace("/dev/null", reader, writer_options_);
      cuda_frames_ = writer->cuda_frames();
    }
    RateMeter meter(options_.frames, rewinds_);
    NoiseControl control(noise_, FieldChoice::kAuto, reach_of(filter_), *engine_, noise_log(noise_));
    StreamParts parts;
    parts.read = [&] { return read(reader); };
    parts.noise = &control;
    parts.make_denoiser = [&](const Frame& frame, const NoiseModel& level) {
      return make_denoiser(frame, level);
    };
    parts.mix = noise_.mix;
    std::int64_t written = 0;
    parts.write_frame = [&](const Frame& frame) {
      if (writer) {
        writer->write(numbered(frame, written++));
      }
      meter.count_frame();
      history.count_frame();
    };
    StreamOptions stream_options;
    stream_options.frame_limit = options_.frames;
    stream_options.queued_frames = queued_frames(*engine_);
    run_stream(parts, stream_options, counters, {});
    if (writer) {
      writer->finish();
    }
    return meter.rate();
  }

 private:
  io::Reader::Item read(io::Reader& reader) {
    io::Reader::Item item = reader.read();
    if (options_.loop && std::holds_alternative<io::Reader::End>(item)) {
      rewinds_.begin();
      reader.seek(0);
      item = reader.read();
      rewinds_.end();
    }
    return item;
  }

  std::unique_ptr<Denoiser> make_denoiser(const Frame& frame, const NoiseModel& level) const {
    auto denoiser = engine_->make_denoiser(filter_, level, frame.format);
    if (cuda_frames_) {
      denoiser->set_result_frames(cuda_frames_);
    }
    return denoiser;
  }

  /// Has the denoiser made, with all that it makes once, and gives it the frames for which results wait. From
  /// then on there is a result for each frame.
  void fill(DenoiseStage& stage) {
    denoise(stage, 1);
    denoise(stage, stage.latency());
    denoised_.clear();
  }

  void denoise(DenoiseStage& stage, std::int64_t count, RateMeter* meter = nullptr) {
    NoiseControl noise(noise_, *engine_, noise_log(noise_));
    stage.set_mix(noise_.mix);
    const auto receive = [&] {
      std::optional<Frame> result = stage.receive();
      if (result && meter != nullptr) {
        meter->count_frame();
      }
      if (result && denoised_.size() < kept_.size()) {
        denoised_.push_back(std::move(*result));
      }
      return result.has_value();
    };
    for (std::int64_t i = 0; i < count; ++i) {
      const Frame& frame = kept_[static_cast<std::size_t>(i) % kept_.size()];
      stage.send(frame, noise.level_for(frame),
                 [&](const Frame& first, const NoiseModel& level) { return make_denoiser(first, level); });
      if (stage.is_full()) {
        receive();
      }
    }
    while (stage.under_way() > stage.latency() && receive()) {
    }
  }

  const BenchmarkOptions& options_;
  NoiseSettings noise_;
  std::shared_ptr<Engine> engine_;
  Filter filter_;
  io::ReaderOptions reader_options_;
  io::WriterOptions writer_options_;
  std::vector<Frame> kept_;
  std::vector<Frame> denoised_;
  std::function<Frame()> cuda_frames_;  // of the writer at hand
  StageCounters alone_;                 // of denoising alone
  Rewinds rewinds_;
  Latencies latencies_;
};

struct Results {
  std::vector<std::pair<std::string, Rate>> alone;
  Latencies latencies;  // of one frame at a time
  Rate chain;
  double slowest_fps = 0;   // of the stages alone
  double possible_fps = 0;  // for the chain, since all stages share the processors
  StreamCounters counters;
  std::vector<Part> parts;
};

void find_limits(Results& results) {
  double cpu_seconds = 0;  // of a frame
  results.slowest_fps = results.alone.front().second.fps();
  for (const auto& [name, rate] : results.alone) {
    results.slowest_fps = std::min(results.slowest_fps, rate.fps());
    cpu_seconds += rate.cpu_ms() / 1000;
  }
  results.possible_fps = results.slowest_fps;
  if (cpu_seconds > 0) {
    results.possible_fps = std::min(results.possible_fps, processors() / cpu_seconds);
  }
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

nlohmann::ordered_json rate_json(const Rate& rate) {
  return {{"frames", rate.frames}, {"fps", rate.fps()}, {"cpu_ms", rate.cpu_ms()}};
}

nlohmann::ordered_json results_json(const Results& results) {
  nlohmann::ordered_json json;
  for (const auto& [name, rate] : results.alone) {
    json["alone"][name] = rate_json(rate);
  }
  json["processors"] = processors();
  json["alone"]["denoise"]["latency_ms"] = to_json(results.latencies);
  json["chain"] = rate_json(results.chain);
  json["chain"]["of_slowest"] = ratio(results.chain.fps(), results.slowest_fps);
  json["chain"]["possible_fps"] = results.possible_fps;
  json["chain"]["of_possible"] = ratio(results.chain.fps(), results.possible_fps);
  json["chain"]["stages"] = to_json(results.counters);
  for (const Part& part : results.parts) {
    json["over_time"].push_back({{"frames", part.frames},
                                 {"fps", part.fps},
                                 {"denoise_latency_ms", to_json(part.latencies)},
                                 {"resident_bytes", part.resident_bytes},
                                 {"open_files", part.open_files}});
  }
  return json;
}

void print(const Results& results) {
  std::cout << fmt::format("{:<14} {:>8} {:>10} {:>8}\n", "alone", "frames", "fps", "CPU ms");
  const auto print_rate = [](const std::string& name, const Rate& rate) {
    std::cout << fmt::format("{:<14} {:>8} {:>10.1f} {:>8.2f}", name, rate.frames, rate.fps(), rate.cpu_ms());
  };
  for (const auto& [name, rate] : results.alone) {
    print_rate(name, rate);
    std::cout << (name == "denoise"
                      ? fmt::format("   one at a time {:.4g} ms, 99 % {:.4g}, worst {:.4g}\n",
                                    results.latencies.milliseconds(0.5), results.latencies.milliseconds(0.99),
                                    results.latencies.milliseconds(1))
                      : "\n");
  }
  print_rate("chain", results.chain);
  std::cout << fmt::format("   {:.1f} % of the slowest stage",
                           100 * ratio(results.chain.fps(), results.slowest_fps));
  if (results.possible_fps < results.slowest_fps) {
    std::cout << fmt::format(", {:.1f} % of the {:.1f} that {} processors allow",
                             100 * ratio(results.chain.fps(), results.possible_fps), results.possible_fps,
                             processors());
  }
  std::cout << "\n\n";
  for (const std::string& line : to_table(results.counters)) {
    std::cout << line << '\n';
  }
}

void print(const std::vector<Part>& parts) {
  std::cout << fmt::format("\n{:<14} {:>10} {:>18} {:>8} {:>8} {:>11} {:>6}\n", "up to frame", "fps",
                           "denoise: median ms", "99 %", "worst", "memory MiB", "files");
  for (const Part& part : parts) {
    std::cout << fmt::format("{:<14} {:>10.1f} {:>18.4g} {:>8.4g} {:>8.4g} {:>11.1f} {:>6}\n", part.frames,
                             part.fps, part.latencies.milliseconds(0.5), part.latencies.milliseconds(0.99),
                             part.latencies.milliseconds(1),
                             static_cast<double>(part.resident_bytes) / (1 << 20), part.open_files);
  }
}

int benchmark(const BenchmarkOptions& options, Console& console) {
  const InterruptWatch interrupts(Interrupts::kEnd);
  set_up_logging(console, {.level = "warning", .file = ""});
  options.filter.check();
  Benchmark run(options);
  Results results;
  run.keep_frames();
  results.alone.emplace_back("decode", run.decode());
  results.alone.emplace_back("denoise", run.denoise());
  results.latencies = run.latencies();
  if (!options.codec.empty()) {
    results.alone.emplace_back("encode", run.encode());
  }
  History history(results.counters.denoise, options.frames);
  results.chain = run.chain(results.counters, history);
  if (results.chain.frames < 2 || results.chain.seconds < 1e-4) {
    throw Error(options.input + ": is too short to measure; use a longer clip, or --loop");
  }
  results.parts = history.parts();
  find_limits(results);

  if (options.json) {
    nlohmann::ordered_json json{{"input", options.input}, {"engine", run.engine().name()}};
    json.update(results_json(results));
    print_report(json);
    return kExitDone;
  }
  std::cout << fmt::format("{}, engine {}\n\n", printable(options.input), run.engine().name());
  print(results);
  if (options.loop) {
    print(results.parts);
  }
  return kExitDone;
}

}  // namespace

void add_benchmark_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand(
      "benchmark", "Measure the speed of each stage and of the whole chain; writes no file");
  auto options = std::make_shared<BenchmarkOptions>();
  command->add_option("INPUT", options->input, "File or image sequence (%03d)")->required()->file();
  command
      ->add_option("--frames", options->frames,
                   "Maximum number of frames to process; the first tenth is not timed [200]")
      ->type_name("N")
      ->positive();
  options->noise.add_to(*command);
  command->begin_group("Options");
  command->add_option("-c,--codec", options->codec, "Also encode, with this encoder [no encoding]")
      ->type_name("NAME");
  command->add_option("--preset", options->preset, "Speed preset of the encoder")->type_name("NAME");
  add_local_only(*command, options->local_only);
  command->add_flag("--loop", options->loop,
                    "Repeat the input up to --frames, without the time of its rewinding, and print memory "
                    "and latencies over time");
  command->add_flag("--json", options->json, "Print JSON");
  options->engine.add_to(*command);
  options->engine.add_decoding_to(*command);
  options->filter.add_to(*command);
  command->callback([options](Console& console) { return benchmark(*options, console); });
}

}  // namespace limpid::app
