// SPDX-License-Identifier: MIT
#include "app/pipeline/film_grain_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/engine/frame_control.h"
#include "core/grain/grain_model.h"
#include "io/media/film_grain.h"

namespace limpid::app {
namespace {

/// Makes a table from the grain of frames in presentation order.
class TableOfFrames {
 public:
  explicit TableOfFrames(bool by_number) : by_number_(by_number) {}

  void add(double time, const std::optional<FilmGrain>& grain) {
    FilmGrain own = grain.value_or(FilmGrain());
    if (!table_.empty()) {
      own.seed = table_.back().grain.seed;
    }
    if (table_.empty() || grain.has_value() != table_.back().is_applied || own != table_.back().grain) {
      begin(time, grain);
    }
    last_time_ = time;
    ++frames_;
  }

  FilmGrainTable take() { return std::move(table_); }

 private:
  void begin(double time, const std::optional<FilmGrain>& grain) {
    std::int64_t start = 0;
    if (table_.empty()) {
      first_time_ = time;
    } else {
      // Between two frames, so that times may be rounded.
      const double middle = (last_time_ + time) / 2 - first_time_;
      start = by_number_ ? frames_ : std::llround(middle * static_cast<double>(kGrainTicksPerSecond));
      table_.back().end = start;
    }
    table_.push_back(
        {start, std::numeric_limits<std::int64_t>::max(), grain.has_value(), grain.value_or(FilmGrain())});
  }

  bool by_number_;
  FilmGrainTable table_;
  std::int64_t frames_ = 0;
  double first_time_ = 0;
  double last_time_ = 0;
};

/// Converts the noise models of frames to grain, each once.
class GrainOfNoise {
 public:
  std::optional<FilmGrain> of(const NoiseModel& noise, const FrameFormat& format) {
    if (!noise.has_noise()) {
      return std::nullopt;
    }
    if (!noise_ || *noise_ != noise) {
      noise_ = noise;
      seed_ = (seed_ + kSeedStep) & 0xFFFF;
      grain_ = film_grain_of(noise, format, seed_);
    }
    return grain_;
  }

 private:
  static constexpr int kSeedStep = 7391;
  std::optional<NoiseModel> noise_;
  FilmGrain grain_;
  int seed_ = 0;
};

void require_format(const std::string& input, const FrameFormat& format) {
  if (!can_have_film_grain(format)) {
    throw UsageError(input + ": film grain of AV1 needs gray or YUV video of 8, 10 or 12 bits, not " +
                     to_string(format));
  }
}

/// Passes all frames to `take`.
template <typename Take>
void read_frames(io::Reader& reader, std::int64_t most, const Take& take) {
  for (std::int64_t count = 0; most == 0 || count < most;) {
    io::Reader::Item item = reader.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      return;
    }
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      take(std::move(*frame));
      ++count;
    }
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
    throw UsageError(
        request.input +
        ": film grain is estimated from the whole input before denoising, which a pipe or camera "
        "does not allow; name a file");
  }
  require_format(request.input, reader.video().format);
  TableOfFrames own(request.by_number);
  TableOfFrames estimated(request.by_number);
  bool has_own = false;
  GrainOfNoise noise;
  const auto add = [&](const NoiseModel& model, const Frame& frame) {
    estimated.add(io::presentation_time(frame).value_or(0), noise.of(model, frame.format));
  };
  FrameControl control(
      request.noise, request.fields, {.before = 1, .after = 1}, engine,
      [&](const NoiseEstimate& estimate, const Frame& frame) { add(estimate.as_measured(), frame); });
  const auto drop_leveled = [&] {
    while (control.receive()) {
    }
  };
  read_frames(reader, request.frames, [&](Frame frame) {
    const std::optional<FilmGrain> grain = io::film_grain_of(frame);
    has_own = has_own || grain;
    own.add(io::presentation_time(frame).value_or(0), grain);
    if (request.noise.noise) {
      add(request.noise.noise->noise, frame);
    } else {
      control.send(std::move(frame));
      drop_leveled();
    }
  });
  control.flush();
  drop_leveled();
  return has_own ? own.take() : estimated.take();
}

bool has_grain(const FilmGrainTable& table) {
  return std::ranges::any_of(table, &FilmGrainEntry::is_applied);
}

}  // namespace limpid::app
