#include "app/jobs/look_through.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "app/jobs/hashed_frames.h"
#include "app/pipeline/noise_log.h"
#include "core/noise/brightness_histogram.h"

namespace limpid::app {
namespace {

// Frames that two parts must have in common before one takes over from the other.
constexpr std::size_t kSameFrames = 8;

bool are_same(const SeenFrame& a, const SeenFrame& b) {
  return a.time == b.time && a.hash == b.hash && a.interlaced == b.interlaced;
}

// A part of a source. One thread looks through it, and others may ask what it has seen.
class Part {
 public:
  // `begin`: the time from which on it is looked through; nothing: from the beginning.
  Part(const LookThrough& source, Engine& engine, std::optional<double> begin)
      : source_(source),
        engine_(engine),
        begin_(begin),
        noise_(source.noise, engine, [this](const NoiseModel& estimate, const Frame& /*frame*/) {
          if (estimates_.empty() || estimates_.back().second != estimate) {
            estimates_.emplace_back(settled_, estimate);
          }
        }) {}

  void open() {
    reader_ = std::make_unique<io::Reader>(source_.path, source_.reader);
    if (begin_) {
      reader_->seek(*begin_);
    } else {
      noise_.check(reader_->video().format);
    }
  }

  // Until it can be left to one of `others`, which are behind it, or the source ends.
  void look_through(const std::vector<std::unique_ptr<Part>>& others, std::size_t next) {
    HashedFrames frames(*reader_, source_.most_frames);
    while (auto frame = frames.next()) {
      look_at(std::move(frame->frame), frame->hash);
      if (stopped_ || (successor_ = leave_to(others, next)) != nullptr) {
        return;
      }
      if (!scene_ && next < others.size() && others[next]->has_begun_by(frames_.back().time)) {
        return;  // nobody can take over here
      }
    }
    while (!ahead_.empty()) {
      settle();
    }
  }

  // Nothing can be taken from it any more, whatever the reason; `failure` if it is one.
  void end(const std::exception_ptr& failure) {
    const std::scoped_lock lock(mutex_);
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  }
  void stop() { stopped_ = true; }
  // Whether end() has been called, for which it waits so long.
  bool has_ended(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return ended_; });
  }
  std::int64_t frame_count() const {
    const std::scoped_lock lock(mutex_);
    return std::ssize(frames_);
  }

  // Of a part that has ended.
  const std::exception_ptr& failure() const { return failure_; }
  const Part* successor() const { return successor_; }
  io::Reader& reader() { return *reader_; }
  const io::Reader& reader() const { return *reader_; }
  std::unique_ptr<io::Reader> take_reader() { return std::move(reader_); }

  // Adds what is its own of the source.
  void add_to(SeenSource& all, const NoiseControl::Listener& log) const {
    const std::size_t first = scene_.value_or(0);
    const std::size_t end = successor_ != nullptr ? *joint_ : frames_.size();
    const auto offset = std::ssize(all.frames) - static_cast<std::ptrdiff_t>(first);
    for (const auto& [at, estimate] : estimates_) {
      if (at < end) {
        Frame frame;
        frame.format = reader_->video().format;
        frame.index = static_cast<std::int64_t>(at) + offset - context_before_;
        log(estimate, frame);
      }
    }
    for (std::size_t i = first; i < end; ++i) {
      const NoiseModel& level = levels_[frames_[i].level];
      if (all.levels.empty() || all.levels.back() != level) {
        all.levels.push_back(level);
      }
      all.frames.push_back(frames_[i]);
      all.frames.back().level = all.levels.size() - 1;
    }
  }

 private:
  void look_at(Frame frame, std::uint64_t hash) {
    const BrightnessHistogram brightness = engine_.brightness_histogram(frame);
    float change = 0;
    for (std::size_t i = 0; i < brightness.size(); ++i) {
      change += std::abs(brightness[i] - brightness_[i]);
    }
    brightness_ = brightness;
    constexpr float kCut = 0.5F;  // as the noise's own scenes
    const SeenFrame seen{.time = io::presentation_time(frame).value_or(0),
                         .hash = hash,
                         .level = 0,
                         .is_result = !frame.context_only,
                         .begins_scene = results_ > 0 && !frame.context_only && change > kCut,
                         .interlaced = frame.interlaced};
    results_ += seen.is_result ? 1 : 0;
    context_before_ += results_ == 0 ? 1 : 0;
    {
      const std::scoped_lock lock(mutex_);
      frames_.push_back(seen);
      if (!scene_ && (!begin_ || !noise_.is_estimated() || seen.begins_scene)) {
        scene_ = frames_.size() - 1;
        settled_ = *scene_;
      }
      changed_.notify_all();
    }
    if (scene_) {
      noise_.observe(frame);
      ahead_.push_back(std::move(frame));
      if (std::ssize(ahead_) > noise_.look_ahead()) {
        settle();
      }
    }
  }

  void settle() {
    const NoiseModel level = noise_.level_of(ahead_.front());
    ahead_.pop_front();
    if (levels_.empty() || level != levels_.back()) {
      levels_.push_back(level);
    }
    const std::scoped_lock lock(mutex_);
    frames_[settled_++].level = levels_.size() - 1;
  }

  // A part that can go on behind the last frames; null if there is none yet. `next` is the one that comes
  // first.
  const Part* leave_to(const std::vector<std::unique_ptr<Part>>& others, std::size_t& next) {
    const SeenFrame& own = frames_.back();
    for (; next < others.size(); leave_out(next)) {
      Part& other = *others[next];
      std::optional<SeenFrame> theirs = other.frame(at_);
      while (theirs && common_ == 0 && theirs->time < own.time) {
        theirs = other.frame(++at_);
      }
      if (!theirs) {
        continue;  // it has found no scene, or failed
      }
      if (common_ == 0 && own.time < theirs->time) {
        return nullptr;
      }
      if (!are_same(own, *theirs) || (common_ > 0 && own.begins_scene != theirs->begins_scene)) {
        other.stop();
        continue;
      }
      if (at_ == other.scene() && (own.begins_scene || !noise_.is_estimated())) {
        joint_ = frames_.size() - 1;
      }
      ++at_;
      ++common_;
      return joint_ && scene_ && settled_ >= *joint_ && common_ >= kSameFrames ? &other : nullptr;
    }
    return nullptr;
  }
  void leave_out(std::size_t& next) {
    ++next;
    at_ = common_ = 0;
    joint_.reset();
  }

  // A frame of it, which this waits for; nothing if it has ended before.
  std::optional<SeenFrame> frame(std::size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || index < frames_.size(); });
    return index < frames_.size() ? std::optional(frames_[index]) : std::nullopt;
  }
  bool has_begun_by(double time) const {
    const std::scoped_lock lock(mutex_);
    return !frames_.empty() && frames_.front().time <= time;
  }
  std::optional<std::size_t> scene() const {
    const std::scoped_lock lock(mutex_);
    return scene_;
  }

  const LookThrough& source_;
  Engine& engine_;
  const std::optional<double> begin_;
  NoiseControl noise_;
  std::unique_ptr<io::Reader> reader_;
  std::vector<NoiseModel> levels_;
  std::vector<std::pair<std::size_t, NoiseModel>> estimates_;  // and from which frame on
  BrightnessHistogram brightness_{};
  std::deque<Frame> ahead_;  // the last, whose levels aren't known yet
  std::size_t settled_ = 0;  // the first of them
  std::int64_t results_ = 0;
  std::int64_t context_before_ = 0;
  std::size_t at_ = 0;                // the next part's frame that is to come next here
  std::size_t common_ = 0;            // frames before it that were the same
  std::optional<std::size_t> joint_;  // the first that is the next part's
  const Part* successor_ = nullptr;
  std::atomic<bool> stopped_ = false;

  mutable std::mutex mutex_;  // of what others may ask for, which only one thread changes
  std::condition_variable changed_;
  std::vector<SeenFrame> frames_;
  std::optional<std::size_t> scene_;  // the first frame from which on noise is known
  bool ended_ = false;
  std::exception_ptr failure_;
};

// How many parts a source is looked through in.
int parts_of(const LookThrough& source, const io::Reader& reader) {
  const io::VideoProperties& video = reader.video();
  if (source.most_frames > 0 || source.reader.start || source.reader.end || !reader.can_seek() ||
      !(video.duration > 0) || video.still_picture) {
    return 1;
  }
  if (source.parts > 0) {
    return source.parts;
  }
  constexpr std::int64_t kLeastFrames = 1000;  // a part's decoding begins with frames that aren't its own
  constexpr std::int64_t kThreads = 4;
  constexpr std::int64_t kMost = 4;
  const std::int64_t threads = std::thread::hardware_concurrency();
  return static_cast<int>(
      std::clamp<std::int64_t>(std::min(video.frame_count / kLeastFrames, threads / kThreads), 1, kMost));
}

// What is told of a whole source isn't told of its parts.
bool is_flawless(const Part& part, const Part& first) {
  return !part.failure() && part.reader().diagnostics().empty() &&
         part.reader().video().format == first.reader().video().format;
}

}  // namespace

std::optional<SeenSource> look_through(const LookThrough& source, Engine& engine,
                                       const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  std::vector<std::unique_ptr<Part>> parts;
  parts.push_back(std::make_unique<Part>(source, engine, std::nullopt));
  Part& first = *parts.front();
  first.open();
  const std::int64_t expected = first.reader().video().frame_count;
  const double duration = first.reader().video().duration;
  const int count = parts_of(source, first.reader());
  for (int i = 1; i < count; ++i) {
    parts.push_back(std::make_unique<Part>(source, engine, duration * i / count));
  }

  bool stopped = false;
  std::vector<const Part*> used;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      threads.emplace_back([&, i] {
        std::exception_ptr failure;
        try {
          if (i > 0) {
            parts[i]->open();
          }
          parts[i]->look_through(parts, i + 1);
        } catch (...) {
          failure = std::current_exception();
        }
        parts[i]->end(failure);
      });
    }
    for (const Part* part = &first; part != nullptr && !stopped; part = part->successor()) {
      used.push_back(part);
      Part& waited_for =
          **std::ranges::find(parts, part, [](const std::unique_ptr<Part>& each) { return each.get(); });
      constexpr std::chrono::milliseconds kPatience{50};
      for (bool ended = false; !ended && !stopped;) {
        ended = waited_for.has_ended(kPatience);
        std::int64_t frames = 0;
        for (const auto& each : parts) {
          frames += each->frame_count();
        }
        stopped = !progress(frames, expected);
      }
    }
    for (const auto& part : parts) {
      part->stop();
    }
  }
  if (stopped) {
    return std::nullopt;
  }
  const bool in_parts = used.size() > 1;
  if (!in_parts && first.failure()) {
    std::rethrow_exception(first.failure());
  }
  const auto look_through_the_whole = [&] {
    LookThrough whole = source;
    whole.parts = 1;
    return look_through(whole, engine, progress);
  };
  if (in_parts && !std::ranges::all_of(used, [&](const Part* part) { return is_flawless(*part, first); })) {
    return look_through_the_whole();
  }

  SeenSource all;
  const NoiseControl::Listener log = noise_log(source.noise);
  for (const Part* part : used) {
    part->add_to(all, log);
  }
  const auto has_other_scan = [&](const SeenFrame& frame) {
    return frame.interlaced != all.frames.front().interlaced;
  };
  if (in_parts && std::ranges::any_of(all.frames, has_other_scan)) {
    return look_through_the_whole();  // of which a reader tells that
  }
  all.reader = first.take_reader();
  all.parts = used.size();
  return all;
}

}  // namespace limpid::app
