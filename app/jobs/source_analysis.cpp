// SPDX-License-Identifier: MIT
#include "app/jobs/source_analysis.h"

#include <utility>

#include "app/jobs/hashed_frames.h"
#include "app/pipeline/noise_log.h"
#include "core/base/error.h"
#include "core/noise/brightness_histogram.h"

namespace limpid::app {
namespace {

// In the host's memory; where `engine` is to estimate noise, in memory that it reads fastest.
HashedFrames::Copier copier_for(const std::shared_ptr<Engine>& engine, bool estimates_noise) {
  return [engine, estimates_noise](const Frame& frame) {
    if (!frame.memory.is_host() || !estimates_noise || !engine->prefers_own_frames()) {
      return engine->in_host_memory(frame);
    }
    Frame copied = engine->allocate_frame(frame.format);
    describe_alike(frame, copied);
    copy_samples(frame, copied);
    return copied;
  };
}

class SourceAnalysis {
 public:
  SourceAnalysis(const AnalysisOptions& options, const std::shared_ptr<Engine>& engine,
                 std::unique_ptr<io::Reader> reader)
      : most_frames_(options.most_frames),
        engine_(engine),
        control_(options.noise, options.fields, options.reach, *engine, noise_log(options.noise)) {
    source_.reader = std::move(reader);
    control_.noise().check(source_.reader->video().format);
  }

  std::optional<AnalyzedSource> run(const std::function<bool(std::int64_t, std::int64_t)>& progress) {
    const std::int64_t expected = source_.reader->video().frame_count;
    HashedFrames frames(*source_.reader, most_frames_, copier_for(engine_, control_.is_estimated()));
    std::int64_t results = 0;
    while (std::optional<HashedFrames::HashedFrame> next = frames.next()) {
      results += next->frame.context_only ? 0 : 1;
      add(next->frame, next->hash);
      if (!progress(results, expected)) {
        return std::nullopt;
      }
    }
    control_.flush();
    set_levels();
    return std::move(source_);
  }

 private:
  void add(const Frame& frame, std::uint64_t hash) {
    control_.send(frame);
    const bool begins_scene =
        control_.is_estimated() ? control_.noise().begins_scene() : is_cut_before(frame);
    source_.frames.push_back({.time = io::presentation_time(frame).value_or(0),
                              .hash = hash,
                              .level = 0,
                              .is_result = !frame.context_only,
                              .begins_scene = begins_scene && !source_.frames.empty()});
    set_levels();
  }

  bool is_cut_before(const Frame& frame) {
    const BrightnessHistogram before = std::exchange(brightness_, engine_->brightness_histogram(frame));
    return is_cut(before, brightness_);
  }

  void set_levels() {
    while (const std::optional<LeveledFrame> next = control_.receive()) {
      if (source_.levels.empty() || next->level != source_.levels.back()) {
        source_.levels.push_back(next->level);
      }
      source_.frames[leveled_].level = source_.levels.size() - 1;
      source_.frames[leveled_++].interlaced = next->frame.interlaced;
    }
  }

  std::int64_t most_frames_;
  const std::shared_ptr<Engine>& engine_;
  FrameControl control_;
  BrightnessHistogram brightness_{};
  std::size_t leveled_ = 0;  // frames that have a level
  AnalyzedSource source_;
};

}  // namespace

std::optional<AnalyzedSource> analyze_source(
    const AnalysisOptions& options, const std::shared_ptr<Engine>& engine,
    const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  auto reader = std::make_unique<io::Reader>(options.path, options.reader);
  if (reader->video().decoded_on_cuda) {
    try {
      std::optional<AnalyzedSource> source = SourceAnalysis(options, engine, std::move(reader)).run(progress);
      if (!source || source->reader->diagnostics().empty()) {
        return source;
      }
    } catch (const Error&) {
      // The software decoder reports what is wrong with the source, if anything is.
    }
    io::ReaderOptions software = options.reader;
    software.memory = kHostMemory;
    reader = std::make_unique<io::Reader>(options.path, software);
  }
  return SourceAnalysis(options, engine, std::move(reader)).run(progress);
}

}  // namespace limpid::app
