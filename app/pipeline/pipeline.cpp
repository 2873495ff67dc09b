// SPDX-License-Identifier: MIT
#include "app/pipeline/pipeline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace limpid::app {
namespace {

struct Shares {
  double fps_alone;
  double busy;
  double waited_for_input;
  double waited_for_output;
};

Shares shares_of(const StageTimes& counters) {
  const auto busy = static_cast<double>(counters.busy_ns);
  const auto input = static_cast<double>(counters.waited_for_input_ns);
  const auto output = static_cast<double>(counters.waited_for_output_ns);
  const double all = std::max(busy + input + output, 1.0);
  return {busy > 0 ? static_cast<double>(counters.frames) * 1e9 / busy : 0, busy / all, input / all,
          output / all};
}

struct Stage {
  const char* name;
  const StageTimes& times;
  const LatencyCounter* latency;  // nullptr where it isn't counted
};

std::vector<Stage> stages_of(const StreamCounters& counters) {
  std::vector<Stage> stages{{"decode", counters.read, &counters.read.latency}};
  if (counters.noise.frames > 0) {
    stages.push_back({"noise", counters.noise, nullptr});
  }
  stages.push_back({"denoise", counters.denoise, &counters.denoise.latency});
  if (counters.on_device()) {
    stages.push_back({"upload", counters.upload, nullptr});
    stages.push_back({"filter", counters.filter, nullptr});
    stages.push_back({"download", counters.download, nullptr});
  }
  stages.push_back({"encode", counters.write, &counters.write.latency});
  return stages;
}

}  // namespace

std::vector<std::string> to_table(const StreamCounters& counters) {
  std::vector<std::string> lines{fmt::format("{:<8} {:>7} {:>10} {:>7} {:>9} {:>9} {:>10} {:>8} {:>8}",
                                             "stage", "frames", "fps alone", "busy", "no input", "no room",
                                             "median ms", "99 %", "worst")};
  for (const Stage& stage : stages_of(counters)) {
    const Shares shares = shares_of(stage.times);
    lines.push_back(fmt::format("{:<8} {:>7} {:>10.1f} {:>5.1f} % {:>7.1f} % {:>7.1f} %", stage.name,
                                stage.times.frames.load(), shares.fps_alone, 100 * shares.busy,
                                100 * shares.waited_for_input, 100 * shares.waited_for_output));
    if (stage.latency != nullptr) {
      const Latencies latencies = stage.latency->latencies();
      lines.back() += fmt::format(" {:>10.3f} {:>8.3f} {:>8.3f}", latencies.milliseconds(0.5),
                                  latencies.milliseconds(0.99), latencies.milliseconds(1));
    }
  }
  return lines;
}

std::string_view limit_of(const StreamCounters& counters, bool paced) {
  const std::array<std::pair<std::string_view, std::int64_t>, 4> busy = {
      {{paced ? "input" : "decoding", counters.read.busy_ns},
       {"noise estimation", counters.noise.busy_ns},
       {"filtering", counters.denoise.busy_ns},
       {"encoding", counters.write.busy_ns}}};
  return std::ranges::max_element(busy, {}, &std::pair<std::string_view, std::int64_t>::second)->first;
}

nlohmann::ordered_json to_json(const Latencies& latencies) {
  return {{"median", latencies.milliseconds(0.5)},
          {"p99", latencies.milliseconds(0.99)},
          {"worst", latencies.milliseconds(1)}};
}

nlohmann::ordered_json to_json(const StreamCounters& counters) {
  nlohmann::ordered_json json;
  for (const Stage& stage : stages_of(counters)) {
    const Shares shares = shares_of(stage.times);
    json[stage.name] = {{"frames", stage.times.frames.load()},
                        {"fps_alone", shares.fps_alone},
                        {"busy", shares.busy},
                        {"waited_for_input", shares.waited_for_input},
                        {"waited_for_output", shares.waited_for_output}};
    if (stage.latency != nullptr) {
      json[stage.name]["latency_ms"] = to_json(stage.latency->latencies());
    }
  }
  return json;
}

Error broken_off(io::Writer& writer, const std::string& failure) {
  const std::string name = writer.finish_partial();
  const std::int64_t frames = writer.frames_written();
  return Error(fmt::format("{}; {} has the {} {} before that", failure, name, frames,
                           frames == 1 ? "frame" : "frames"));
}

namespace {

io::ReaderOptions lead_options(io::ReaderOptions options) {
  options.end.reset();
  options.context_before = options.context_after = 0;
  options.audio = options.subtitles = options.data = false;
  return options;
}

}  // namespace

LevelLead::LevelLead(const std::string& path, io::ReaderOptions options, const Frame& first,
                     const LevelGrid& grid)
    : reader_(path, lead_options(std::move(options))), grid_(grid) {
  const double rate = reader_.video().frames_per_second;
  const std::optional<double> time = io::presentation_time(first);
  if (rate > 0 && time && reader_.can_seek()) {
    end_ = *time - 0.5 / rate;
    reader_.seek(*time - static_cast<double>(grid.lead()) / rate);
  }
}

std::optional<Frame> LevelLead::next() {
  std::optional<Frame> frame = next_frame(reader_);
  for (; frame && io::presentation_time(*frame) < end_; frame = next_frame(reader_)) {
    has_begun_ = has_begun_ || grid_.may_begin(frame->index);
    if (has_begun_) {
      frame->context_only = frame->level_only = true;
      return frame;
    }
  }
  return std::nullopt;
}

}  // namespace limpid::app
