#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/command.h"
#include "app/engine_options.h"
#include "app/filter_options.h"
#include "app/logging.h"
#include "app/noise_options.h"
#include "app/pipeline.h"
#include "core/denoiser.h"
#include "core/error.h"
#include "io/reader.h"
#include "io/writer.h"

// What each stage of `limpid denoise` does alone, and what the chain makes of them. The chain can't be faster
// than its slowest stage; how near it comes tells whether the stages wait for each other.

namespace limpid::app {
namespace {

struct BenchmarkOptions {
  std::string input;
  std::int64_t frames = 200;
  std::string sigma = "auto";
  FilterOptions filter;
  EngineChoice engine;
  std::string codec;
  std::string preset;
  bool json = false;
};

// Frames that are kept to be denoised or encoded again and again, less where they are large.
constexpr std::int64_t kKeptFrames = 64;
constexpr std::size_t kKeptBytes = std::size_t{1} << 30;

struct Rate {
  std::int64_t frames = 0;
  double seconds = 0;
  double fps() const { return seconds > 0 ? static_cast<double>(frames) / seconds : 0; }
};

class Stopwatch {
 public:
  Rate rate(std::int64_t frames) const {
    return {frames, std::chrono::duration<double>(Clock::now() - start_).count()};
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

class Benchmark {
 public:
  explicit Benchmark(const BenchmarkOptions& options) : options_(options), engine_(options.engine.open()) {
    reader_options_.audio = reader_options_.subtitles = reader_options_.data = false;
    reader_options_.allocate = frame_allocator(engine_);
    reader_options_.cuda_device = options.engine.decoding_device(*engine_);
    writer_options_.codec = options.codec;
    writer_options_.preset = options.preset;
    writer_options_.container = "null";
    writer_options_.overwrite = io::Overwrite::kAlways;
    writer_options_.encoder_threads = encoder_threads();
  }

  const Engine& engine() const { return *engine_; }

  /// Keeps the first frames for the stages by themselves, in host memory: a GPU's decoder has few to spare.
  void keep_frames() {
    io::Reader reader(options_.input, reader_options_);
    report_decoding(options_.engine, reader);
    const std::size_t frame_bytes = limpid::frame_bytes(reader.video().format);
    const auto most = std::min(kKeptFrames, static_cast<std::int64_t>(kKeptBytes / frame_bytes) + 1);
    while (static_cast<std::int64_t>(kept_.size()) < std::min(most, options_.frames)) {
      io::Reader::Item item = reader.read();
      if (std::holds_alternative<io::Reader::End>(item)) {
        break;
      }
      if (const Frame* frame = std::get_if<Frame>(&item)) {
        kept_.push_back(engine_->in_host_memory(*frame));
      }
    }
    if (kept_.empty()) {
      throw Error(options_.input + ": has no frames that could be decoded");
    }
  }

  Rate decode() const {
    io::Reader reader(options_.input, reader_options_);
    const Stopwatch watch;
    std::int64_t frames = 0;
    while (frames < options_.frames) {
      const io::Reader::Item item = reader.read();
      if (std::holds_alternative<io::Reader::End>(item)) {
        break;
      }
      frames += std::holds_alternative<Frame>(item) ? 1 : 0;
    }
    return watch.rate(frames);
  }

  Rate denoise() const {
    NoiseControl noise = noise_control();
    const NoiseLevel level = noise.level_for(kept_.front());
    const std::unique_ptr<Denoiser> denoiser =
        engine_->make_denoiser(options_.filter.filter(level), level, kept_.front().format);
    std::int64_t under_way = 0;
    const auto run = [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const Frame& frame = kept_[static_cast<std::size_t>(i) % kept_.size()];
        static_cast<void>(noise.level_for(frame));  // a part of the stage
        denoiser->send(frame);
        ++under_way;
        if (under_way >= denoiser->latency() + denoiser->concurrency() && denoiser->receive()) {
          --under_way;
        }
      }
      while (under_way > denoiser->latency() && denoiser->receive()) {
        --under_way;
      }
    };
    run(1);  // what is made once
    const Stopwatch watch;
    run(options_.frames);
    return watch.rate(options_.frames);
  }

  Rate encode() const {
    const io::Reader reader(options_.input, reader_options_);
    io::Writer writer("/dev/null", reader, writer_options_);
    const Stopwatch watch;
    for (const Frame& frame : kept_) {
      writer.write(frame);
    }
    writer.finish();
    return watch.rate(static_cast<std::int64_t>(kept_.size()));
  }

  Rate chain(PipelineCounters& counters) const {
    io::Reader reader(options_.input, reader_options_);
    std::optional<io::Writer> writer;
    if (!options_.codec.empty()) {
      writer.emplace("/dev/null", reader, writer_options_);
    }
    NoiseControl noise = noise_control();
    PipelineStages stages;
    stages.read = [&] { return reader.read(); };
    stages.noise = [&](const Frame& frame) {
      return noise.level_for(noise.estimates() ? engine_->in_host_memory(frame) : frame);
    };
    stages.make_denoiser = [&](const Frame& frame, const NoiseLevel& level) {
      return engine_->make_denoiser(options_.filter.filter(level), level, frame.format);
    };
    stages.write_frame = [&](const Frame& frame) {
      if (writer) {
        writer->write(frame);
      }
    };
    stages.write_packet = [](const io::Packet&) {};
    PipelineOptions pipeline_options;
    pipeline_options.frame_limit = options_.frames;
    const Stopwatch watch;
    run_pipeline(stages, pipeline_options, counters, std::stop_token());
    if (writer) {
      writer->finish();
    }
    return watch.rate(counters.write.frames);
  }

 private:
  NoiseControl noise_control() const {
    return {parse_sigma(options_.sigma), parse_strength("medium"), PlaneChoice::kAll};
  }

  const BenchmarkOptions& options_;
  std::shared_ptr<Engine> engine_;
  io::ReaderOptions reader_options_;
  io::WriterOptions writer_options_;
  std::vector<Frame> kept_;
};

int benchmark(const BenchmarkOptions& options, Console& console) {
  set_up_logging(console, {.level = "warning", .file = ""});
  static_cast<void>(options.filter.filter(parse_sigma(options.sigma).value_or(NoiseLevel{})));
  Benchmark run(options);
  std::vector<std::pair<std::string, Rate>> alone;
  run.keep_frames();
  alone.emplace_back("decode", run.decode());
  alone.emplace_back("denoise", run.denoise());
  if (!options.codec.empty()) {
    alone.emplace_back("encode", run.encode());
  }
  PipelineCounters counters;
  const Rate chain = run.chain(counters);
  double slowest = alone.front().second.fps();
  for (const auto& [name, rate] : alone) {
    slowest = std::min(slowest, rate.fps());
  }
  const double share = slowest > 0 ? chain.fps() / slowest : 0;

  if (options.json) {
    nlohmann::ordered_json json;
    json["input"] = options.input;
    json["engine"] = run.engine().name();
    for (const auto& [name, rate] : alone) {
      json["alone"][name] = {{"frames", rate.frames}, {"fps", rate.fps()}};
    }
    json["chain"] = {{"frames", chain.frames}, {"fps", chain.fps()}, {"of_slowest", share}};
    json["chain"]["stages"] = to_json(counters);
    std::cout << json.dump(2) << '\n';
    return kExitDone;
  }
  std::cout << fmt::format("{}, engine {}\n\n{:<14} {:>8} {:>10}\n", options.input, run.engine().name(),
                           "alone", "frames", "fps");
  for (const auto& [name, rate] : alone) {
    std::cout << fmt::format("{:<14} {:>8} {:>10.1f}\n", name, rate.frames, rate.fps());
  }
  std::cout << fmt::format("{:<14} {:>8} {:>10.1f}   {:.1f} % of the slowest stage\n\n", "chain",
                           chain.frames, chain.fps(), 100 * share);
  for (const std::string& line : to_table(counters)) {
    std::cout << line << '\n';
  }
  return kExitDone;
}

}  // namespace

void add_benchmark_command(CLI::App& program, Command& selected) {
  CLI::App* command = program.add_subcommand(
      "benchmark", "Time each stage of denoising a video alone, and the chain of them; writes nothing");
  auto options = std::make_shared<BenchmarkOptions>();
  command->add_option("INPUT", options->input, "File or image sequence (%03d)")->required();
  command->add_option("--frames", options->frames, "Frames to take, at most [200]")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command->add_option("--sigma", options->sigma, "Noise level, as of limpid denoise [auto]")
      ->type_name("N|Y,U,V|auto");
  command->add_option("-c,--codec", options->codec, "Encode too, with this encoder [don't]")
      ->type_name("NAME");
  command->add_option("--preset", options->preset, "Speed preset of the encoder")->type_name("NAME");
  command->add_flag("--json", options->json, "Print JSON");
  options->engine.add_to(*command);
  options->engine.add_decoding_to(*command);
  options->filter.add_to(*command);
  command->callback([&selected, options] {
    selected = [options](Console& console) { return benchmark(*options, console); };
  });
}

}  // namespace limpid::app
