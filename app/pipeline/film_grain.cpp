// SPDX-License-Identifier: MIT
#include "app/pipeline/film_grain.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/grain/film_grain.h"
#include "core/grain/grain_model.h"
#include "core/stream/noise_control.h"
#include "io/media/film_grain.h"

namespace limpid::app {
namespace {

/// Makes the entries of a table from frames in presentation order.
class TableOfFrames {
 public:
  explicit TableOfFrames(bool by_number) : by_number_(by_number) {}

  /// Adds a frame, to the last entry or to a new one.
  void add(double time, bool begins, bool has_grain) {
    if (table_.empty()) {
      first_time_ = time;
      table_.push_back({0, kNoEnd, has_grain, FilmGrain()});
    } else if (begins) {
      // Between two frames, so that times may be rounded.
      const double middle = (last_time_ + time) / 2 - first_time_;
      const std::int64_t start =
          by_number_ ? frames_ : std::llround(middle * static_cast<double>(kGrainTicksPerSecond));
      table_.back().end = start;
      table_.push_back({start, kNoEnd, has_grain, FilmGrain()});
    }
    last_time_ = time;
    ++frames_;
  }

  /// Without their grain.
  FilmGrainTable& entries() { return table_; }

 private:
  static constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

  bool by_number_;
  FilmGrainTable table_;
  std::int64_t frames_ = 0;
  double first_time_ = 0;
  double last_time_ = 0;
};

/// The grain that the frames of an AV1 input have.
class OwnGrain {
 public:
  explicit OwnGrain(bool by_number) : table_(by_number) {}

  void add(double time, const std::optional<FilmGrain>& grain) {
    has_any_ = has_any_ || grain;
    std::optional<FilmGrain> own = grain;
    if (own && last_) {
      own->seed = last_->seed;  // of each frame
    }
    const bool begins = own != last_;
    table_.add(time, begins, grain.has_value());
    if (begins) {
      table_.entries().back().grain = grain.value_or(FilmGrain());
      last_ = grain;
    }
  }

  bool has_any() const { return has_any_; }
  FilmGrainTable take() { return std::move(table_.entries()); }

 private:
  TableOfFrames table_;
  std::optional<FilmGrain> last_;
  bool has_any_ = false;
};

/// Grain like the noise of frames.
class GrainOfNoise {
 public:
  explicit GrainOfNoise(bool by_number) : table_(by_number) {}

  void add(double time, const NoiseModel& noise) {
    // Grain of nearly the same level has one entry.
    constexpr float kSameLevel = 1.15F;
    const bool begins = models_.empty() || noise.has_noise() != models_.back().has_noise() ||
                        !have_like_levels(noise, models_.back(), kSameLevel);
    table_.add(time, begins, noise.has_noise());
    if (begins) {
      models_.push_back(noise);
    }
  }

  FilmGrainTable take(const FrameFormat& format, const ChromaCorrelations& correlations) {
    constexpr int kSeedStep = 7391;
    int seed = 0;
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (models_[i].has_noise()) {
        seed = (seed + kSeedStep) & 0xFFFF;
        table_.entries()[i].grain = film_grain_of(models_[i], format, seed, correlations);
      }
    }
    return std::move(table_.entries());
  }

 private:
  TableOfFrames table_;
  std::vector<NoiseModel> models_;  ///< of the entries
};

void require_format(const std::string& input, const FrameFormat& format) {
  if (!can_have_film_grain(format)) {
    throw UsageError(input + ": film grain of AV1 needs gray or YUV video of 8, 10 or 12 bits, not " +
                     to_string(format));
  }
}

io::ReaderOptions options_for_grain(io::ReaderOptions options) {
  options.audio = options.subtitles = options.data = false;
  options.context_before = options.context_after = 0;
  options.least_depth = options.fraction_bits = 0;
  options.without_film_grain = true;
  return options;
}

}  // namespace

FilmGrainTable film_grain_of_video(const FilmGrainRequest& request, Engine& engine) {
  io::Reader reader(request.input, options_for_grain(request.reader));
  if (!reader.can_seek()) {
    throw UsageError(request.input +
                     ": film grain is estimated from the whole input before denoising, which a pipe or "
                     "camera does not allow; name a file");
  }
  require_format(request.input, reader.video().format);
  OwnGrain own(request.by_number);
  GrainOfNoise estimated(request.by_number);
  ChromaCorrelationMeter correlations;
  const auto add = [&](const NoiseModel& model, const Frame& frame) {
    estimated.add(io::presentation_time(frame).value_or(0), model);
  };
  NoiseControl control(request.noise, request.fields, {.before = 1, .after = 1}, engine,
                       [&](const NoiseEstimate& estimate, const NoiseModel&, const Frame& frame) {
                         add(estimate.as_measured(), frame);
                       });
  const auto drop_leveled = [&] {
    while (control.receive()) {
    }
  };
  for (std::int64_t count = 0; request.frames == 0 || count < request.frames; ++count) {
    std::optional<Frame> frame = next_frame(reader);
    if (!frame) {
      break;
    }
    own.add(io::presentation_time(*frame).value_or(0), io::film_grain_of(*frame));
    constexpr std::int64_t kEach = 8;
    if (count % kEach == 0) {
      correlations.add(*frame);
    }
    if (request.noise.noise) {
      add(request.noise.noise->noise, *frame);
    } else {
      control.send(*std::move(frame));
      drop_leveled();
    }
  }
  control.flush();
  drop_leveled();
  return own.has_any() ? own.take() : estimated.take(reader.video().format, correlations.result());
}

bool has_grain(const FilmGrainTable& table) {
  return std::ranges::any_of(table, &FilmGrainEntry::is_applied);
}

Frame with_added_grain(const FilmGrainTable& table, const Frame& frame) {
  const auto entry = std::ranges::find_if(
      table, [&](const FilmGrainEntry& each) { return frame.index >= each.start && frame.index < each.end; });
  if (entry == table.end() || !entry->is_applied) {
    return frame;
  }
  if (!can_have_film_grain(frame.format)) {
    throw UsageError("--add-grain: frames of " + to_string(frame.format) +
                     " cannot have film grain: gray or YUV of 8, 10 or 12 bits is needed");
  }
  constexpr std::uint64_t kSeedStep = 3381;  // as libaom changes the seed from frame to frame
  FilmGrain grain = entry->grain;
  grain.seed = static_cast<int>(
      (static_cast<std::uint64_t>(grain.seed) + kSeedStep * static_cast<std::uint64_t>(frame.index)) &
      0xFFFF);
  return with_film_grain(grain, frame);
}

}  // namespace limpid::app
