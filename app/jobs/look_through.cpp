#include "app/jobs/look_through.h"

#include <tbb/info.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <ranges>
#include <span>
#include <thread>
#include <utility>

#include "app/jobs/hashed_frames.h"
#include "app/pipeline/noise_log.h"
#include "core/base/error.h"
#include "core/noise/brightness_histogram.h"

namespace limpid::app {
namespace {

// Frames that a part and the one before it must both have seen where it takes over. More than the noise
// looks ahead.
constexpr std::size_t kSameFrames = 8;
// Noise that a part was told to hold, and that changes so soon, isn't that of the part.
constexpr std::size_t kRefutedWithin = 2 * NoiseTracker::kCheckInterval;
// How long a part is, beside others, as quick as its decoder is: one of several on a GPU, and one on
// processors.
constexpr int kShareOnGpu = 3;
constexpr int kShareOnProcessors = 4;
// A part must have found noise that the part before it may find, too, in half of its frames, but not in fewer
// than the least and not in more than the most; else it would only be in the way of that one.
constexpr std::int64_t kSearchedShare = 2;
constexpr std::int64_t kLeastSearch = 150;
constexpr std::int64_t kMostSearch = 1000;

// In the host's memory; where `engine` is to look for noise, what it reads fastest.
HashedFrames::Copier copier_for(const std::shared_ptr<Engine>& engine, bool looks_for_noise) {
  return [engine, looks_for_noise](const Frame& frame) {
    if (!frame.memory.is_host() || !looks_for_noise || !engine->prefers_own_frames()) {
      return engine->in_host_memory(frame);
    }
    Frame copied = engine->allocate_frame(frame.format);
    describe_alike(frame, copied);
    copy_samples(frame, copied);
    return copied;
  };
}

// Noise that is held behind each of some frames (NoiseTracker::held()).
struct Held {
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t frames_of_scene = 0;  // behind the first
  NoiseModel noise;
};

// Noise that a part is told to hold.
struct ToldNoise {
  NoiseModel noise;
  std::int64_t scene = 0;  // the frame of the source with which its scene began
  bool operator==(const ToldNoise&) const = default;
};

// A part of a source, which one thread looks through.
struct SourcePart {
  SourcePart(const NoiseSettings& settings, Engine& engine, double from, NoiseControl::Listener listener)
      : begin(from), noise(settings, engine, std::move(listener)) {}

  // Where it has come to.
  double time() const { return frames.empty() ? begin : frames.back().time; }

  const double begin;  // seconds
  NoiseControl noise;
  BrightnessHistogram brightness{};
  std::deque<Frame> ahead;  // the last frames, whose levels aren't known yet
  std::vector<NoiseModel> levels;
  std::vector<std::pair<std::size_t, NoiseModel>> estimates;  // and from which frame on

  // What other threads may ask for or set, under the lock.
  std::vector<SeenFrame> frames;
  std::vector<Held> held;
  std::optional<ToldNoise> told;   // what the part before it holds
  std::optional<ToldNoise> taken;  // of what it was told
  std::size_t taken_at = 0;        // the frame
  bool has_own_noise = false;  // of a scene that begins in it, or that changed in it; not what it was told
  bool is_founded = false;     // its noise may be what one that has seen all before finds
  bool is_taken_over = false;  // it is, from some frame on
  bool waits = false;          // for noise
  SourcePart* next = nullptr;  // the one that begins behind it, unless that was of no use
  std::atomic<bool> stopped = false;
  bool ended = false;

  // What is known once it has ended.
  const SourcePart* successor = nullptr;
  std::size_t takes_over = 0;  // the successor's first frame of the whole
  std::size_t end = 0;         // of the frames that are its own
  bool is_clean = false;       // its reader tells nothing (io::Reader::diagnostics())
  std::exception_ptr failure;
};

class PartsOfSource {
 public:
  PartsOfSource(const LookThrough& source, const std::shared_ptr<Engine>& engine,
                const std::function<bool(std::int64_t, std::int64_t)>& progress)
      : source_(source), engine_(engine), progress_(progress), reader_(open(source.reader, true)) {
    const io::VideoProperties& video = reader_->video();
    duration_ = video.duration;
    expected_ = video.frame_count;
    const bool can_be_divided = source.most_frames == 0 && !source.reader.start && !source.reader.end &&
                                reader_->can_seek_by_time() && duration_ > 0;
    PartCounts counts =
        parts_for(tbb::info::default_concurrency(), video.decoded_on_cuda, can_be_divided ? expected_ : 0);
    if (source.parts > 0 && can_be_divided) {
      counts = {.on_processors = video.decoded_on_cuda ? 0 : source.parts,
                .on_gpu = video.decoded_on_cuda ? source.parts : 0};
    }
    divide(counts);
    parts_.front().noise.check(video.format);
    parts_.front().has_own_noise = parts_.front().is_founded = true;
  }

  // False if it was stopped.
  bool run() {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < begun_.size(); ++i) {
      threads.emplace_back([this, begun = begun_[i]] { look_through_parts(begun, nullptr); });
    }
    look_through_parts(begun_.front(), reader_.get());
    std::unique_lock lock(mutex_);
    std::size_t first = 0;
    for (const SourcePart* part = &parts_.front(); part != nullptr; part = part->successor) {
      changed_.wait(lock, [&] { return part->ended; });
      used_.push_back({part, first});
      first = part->takes_over;
    }
    stop_all();
    lock.unlock();
    threads.clear();
    return !interrupted_;
  }

  // Whether what was seen is the whole, and what a reader of all of it sees that decodes on processors.
  // Throws what such a reader has thrown.
  bool is_whole() const {
    const SourcePart& first = *used_.front().part;
    const bool is_all = used_.size() == 1 && !reader_->video().decoded_on_cuda;
    if (is_all && first.failure) {
      std::rethrow_exception(first.failure);
    }
    return is_all || std::ranges::all_of(used_, [](const Used& used) { return used.part->is_clean; });
  }

  SeenSource whole() {
    SeenSource all;
    const NoiseControl::Listener log =
        parts_.size() > 1 ? noise_log(source_.noise) : NoiseControl::Listener();
    for (const Used& used : used_) {
      add(*used.part, used.first, all, log);
    }
    all.reader = std::move(reader_);
    all.parts = used_.size();
    return all;
  }

 private:
  struct Begun {
    SourcePart* part;
    bool on_gpu;  // decoded there
  };

  struct Used {
    const SourcePart* part;
    std::size_t first;  // frame of the whole
  };

  // Those on the GPU and those on processors take turns, as long as there are both.
  void divide(PartCounts left) {
    const int count = left.on_processors + left.on_gpu;
    const int shares = kShareOnProcessors * left.on_processors + kShareOnGpu * left.on_gpu;
    for (int i = 0, before = 0; i < count; ++i) {
      const bool on_gpu = left.on_gpu > 0 && (i % 2 == 0 || left.on_processors == 0);
      // What parts find is told when they are put together.
      SourcePart& part =
          parts_.emplace_back(source_.noise, *engine_, duration_ * before / shares,
                              count == 1 ? noise_log(source_.noise) : NoiseControl::Listener());
      if (i > 0) {
        begun_.back().part->next = &part;
      }
      begun_.push_back({&part, on_gpu});
      before += on_gpu ? kShareOnGpu : kShareOnProcessors;
      --(on_gpu ? left.on_gpu : left.on_processors);
    }
  }

  std::unique_ptr<io::Reader> open(io::ReaderOptions options, bool on_gpu) const {
    if (!on_gpu) {
      options.memory = kHostMemory;
    } else if (!options.memory.is_host()) {
      options.decoder_stream = engine_->make_stream();
    }
    return std::make_unique<io::Reader>(source_.path, options);
  }

  // A reader that begins where `part` does. It is interrupted once that, which may become another, is
  // stopped.
  std::unique_ptr<io::Reader> open_at(SourcePart* const& part, bool on_gpu) const {
    io::ReaderOptions options = source_.reader;
    options.seek = part->begin;
    options.interrupted = [&part] { return part == nullptr || part->stopped; };
    std::unique_ptr<io::Reader> reader = open(std::move(options), on_gpu);
    if (reader->video().format != reader_->video().format) {
      throw Error(source_.path + ": changes its format");
    }
    return reader;
  }

  // One part after another, with one reader, which is made if there is none.
  void look_through_parts(Begun begun, io::Reader* reader) {
    SourcePart* part = begun.part;
    std::unique_ptr<io::Reader> own;
    while (part != nullptr) {
      try {
        if (reader == nullptr) {
          own = open_at(part, begun.on_gpu);
          reader = own.get();
        } else if (part != begun_.front().part) {
          reader->seek(part->begin, 0, [&] { return part->stopped.load(); });
        }
        if (!part->stopped) {
          look_through(*part, *reader);
        }
        part->is_clean = reader->diagnostics().empty();
      } catch (...) {
        part->failure = std::current_exception();
      }
      const std::scoped_lock lock(mutex_);
      part->ended = true;
      changed_.notify_all();
      part = another_behind(*part);
    }
  }

  // The second half of what is left of the part that has most left; null if it isn't worth it, or who has
  // looked through `part` was of no use there.
  SourcePart* another_behind(const SourcePart& part) {
    if (stopped_ || part.failure || !part.is_founded || part.end == 0) {
      return nullptr;
    }
    SourcePart* longest = nullptr;
    double most = duration_ * static_cast<double>(source_.least_shared) / static_cast<double>(expected_);
    for (SourcePart& each : parts_) {
      if (const double left = end_of(each) - each.time(); !each.ended && !each.stopped && left >= most) {
        longest = &each;
        most = left;
      }
    }
    if (longest == nullptr) {
      return nullptr;
    }
    SourcePart& added =
        parts_.emplace_back(source_.noise, *engine_, longest->time() + most / 2, NoiseControl::Listener());
    added.next = std::exchange(longest->next, &added);
    return &added;
  }

  double end_of(const SourcePart& part) const { return part.next != nullptr ? part.next->begin : duration_; }

  bool is_searched(const SourcePart& part) const {
    const double share = (end_of(part) - part.begin) / duration_;
    return std::ssize(part.frames) >=
           std::clamp(static_cast<std::int64_t>(share * static_cast<double>(expected_)) / kSearchedShare,
                      kLeastSearch, kMostSearch);
  }

  // Until it can be left to one of those behind it, or the source ends.
  void look_through(SourcePart& part, io::Reader& reader) {
    HashedFrames frames(reader, source_.most_frames, copier_for(engine_, part.noise.is_estimated()));
    while (auto frame = frames.next()) {
      if (part.frames.empty() && !part.has_own_noise) {
        part.noise.begin_within_scene(frame->frame.index);  // as though all before it was one scene
      }
      part.noise.observe(frame->frame);
      const bool begins_scene =
          part.noise.is_estimated() ? part.noise.begins_scene() : is_cut_before(part, frame->frame);
      std::unique_lock lock(mutex_);
      add(part, std::move(frame->frame), frame->hash, begins_scene);
      wait_for_noise(part, lock);
      if (part.stopped || is_left(part, lock)) {
        return;
      }
    }
    const std::scoped_lock lock(mutex_);
    if (part.stopped) {
      return;  // it was interrupted
    }
    while (!part.ahead.empty()) {
      settle(part);
    }
    part.end = part.frames.size();
  }

  bool is_cut_before(SourcePart& part, const Frame& frame) const {
    const BrightnessHistogram before = std::exchange(part.brightness, engine_->brightness_histogram(frame));
    return is_cut(before, part.brightness);
  }

  void add(SourcePart& part, Frame frame, std::uint64_t hash, bool begins_scene) {
    const std::size_t index = part.frames.size();
    part.frames.push_back({.time = io::presentation_time(frame).value_or(0),
                           .hash = hash,
                           .position = io::source_position(frame),
                           .level = 0,
                           .is_result = !frame.context_only,
                           .begins_scene = begins_scene && index > 0});
    if ((begins_scene && index > 0) || !part.noise.is_estimated()) {
      part.has_own_noise = part.is_founded = true;
    }
    take_told_noise(part, frame);
    note_held_noise(part);
    tell_noise(part, frame);
    looked_at_ += part.is_founded && !frame.context_only ? 1 : 0;
    part.ahead.push_back(std::move(frame));
    if (std::ssize(part.ahead) > part.noise.look_ahead()) {
      settle(part);
    }
    // Some frames are looked at by two.
    const std::int64_t looked_at = parts_.size() > 1 ? std::min(looked_at_, expected_) : looked_at_;
    if (!interrupted_ && !progress_(looked_at, expected_)) {
      interrupted_ = true;
      stop_all();
    }
    changed_.notify_all();
  }

  // Holds the noise that the part was told behind its last frame, unless it has found other since.
  static void take_told_noise(SourcePart& part, const Frame& last) {
    if (part.told == part.taken || part.has_own_noise || part.is_taken_over) {
      return;
    }
    part.taken = part.told;
    part.taken_at = part.frames.size() - 1;
    part.is_founded = true;
    part.noise.hold(part.taken->noise, last.index + 1 - part.taken->scene);
    part.held.clear();  // what was found up to there doesn't go on
  }

  // What is held behind the part's last frame, and what that says of what it was told.
  static void note_held_noise(SourcePart& part) {
    const NoiseModel* const noise = part.noise.held();
    if (noise == nullptr) {
      return;
    }
    const std::size_t frame = part.frames.size() - 1;
    const bool is_other = !part.held.empty() && part.held.back().noise != *noise;
    if (is_other && !part.has_own_noise && !part.is_taken_over) {
      const bool is_refuted = part.taken && frame < part.taken_at + kRefutedWithin;
      part.has_own_noise = part.taken && !is_refuted;
      part.is_founded = !is_refuted;
    }
    if (part.held.empty() || is_other || part.held.back().last + 1 < frame) {
      part.held.push_back({frame, frame, part.noise.frames_of_scene(), *noise});
    }
    part.held.back().last = frame;
  }

  // Tells the part behind it what it holds behind its last frame.
  static void tell_noise(const SourcePart& part, const Frame& last) {
    const NoiseModel* const noise = part.noise.held();
    if (noise == nullptr || part.next == nullptr || !part.is_founded) {
      return;
    }
    const std::int64_t scene = last.index + 1 - part.noise.frames_of_scene();
    std::optional<ToldNoise>& told = part.next->told;
    if (!told || told->scene != scene || told->noise != *noise) {
      told = {*noise, scene};
    }
  }

  // The level of the first frame ahead.
  static void settle(SourcePart& part) {
    const std::size_t index = part.frames.size() - part.ahead.size();
    const NoiseModel level = part.noise.level_of(part.ahead.front());
    part.ahead.pop_front();
    if (part.levels.empty() || level != part.levels.back()) {
      part.levels.push_back(level);
    }
    part.frames[index].level = part.levels.size() - 1;
    const NoiseModel& found = part.noise.found();
    if (part.noise.is_estimated() && (part.estimates.empty() || found != part.estimates.back().second)) {
      part.estimates.emplace_back(index, found);
    }
  }

  // Who has found no noise that the part before it may find, too, doesn't go on until it is told some, or
  // that one has found the same all the same.
  void wait_for_noise(SourcePart& part, std::unique_lock<std::mutex>& lock) {
    if (part.is_founded || !(is_searched(part) || part.time() >= end_of(part))) {
      return;
    }
    part.waits = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return part.is_taken_over || part.told != part.taken || part.stopped; });
    part.waits = false;
  }

  // Whether another part goes on behind its last frames, or nobody needs them.
  bool is_left(SourcePart& part, std::unique_lock<std::mutex>& lock) {
    for (; part.next != nullptr; part.next = part.next->next) {
      SourcePart& other = *part.next;
      const double time = part.time();
      if (time < other.begin) {
        return false;
      }
      changed_.wait(lock, [&] {
        return (!other.frames.empty() && other.time() >= time) || other.waits || other.ended || part.stopped;
      });
      if (part.stopped || is_left_to(part, other)) {
        return true;
      }
      if (!other.stopped && other.time() >= time && time < end_of(other)) {
        return false;
      }
      stop(other);
    }
    return false;
  }

  // Whether it is left to `other`, as both have found the same behind a frame, and seen the same behind that.
  // That frame is the other's own: of those behind its end, it has seen fewer than kSameFrames.
  static bool is_left_to(SourcePart& part, SourcePart& other) {
    if (other.stopped || part.frames.size() < kSameFrames) {
      return false;
    }
    const std::size_t last = part.frames.size() - kSameFrames;
    const double time = part.frames[last].time;
    for (auto frame = std::ranges::lower_bound(other.frames, time, {}, &SeenFrame::time);
         frame != other.frames.end() && frame->time == time; ++frame) {
      const auto index = static_cast<std::size_t>(frame - other.frames.begin());
      if (other.frames.size() - index >= kSameFrames && find_same(part, last, other, index) &&
          std::ranges::equal(std::span(part.frames).last(kSameFrames),
                             std::span(other.frames).subspan(index, kSameFrames), are_same)) {
        part.successor = &other;
        part.takes_over = index + 1;
        part.end = last + 1;
        other.is_taken_over = other.is_founded = true;
        return true;
      }
    }
    return false;
  }

  // Whether noise is found alike from there on, if the frames are the same.
  static bool find_same(const SourcePart& a, std::size_t frame_of_a, const SourcePart& b,
                        std::size_t frame_of_b) {
    if (!a.noise.is_estimated() || (a.frames[frame_of_a].begins_scene && b.frames[frame_of_b].begins_scene)) {
      return true;
    }
    const Held* const one = held_behind(a, frame_of_a);
    const Held* const other = held_behind(b, frame_of_b);
    return one != nullptr && other != nullptr && one->noise == other->noise &&
           phase_of(*one, frame_of_a) == phase_of(*other, frame_of_b);
  }

  static const Held* held_behind(const SourcePart& part, std::size_t frame) {
    const auto held = std::ranges::lower_bound(part.held, frame, {}, &Held::last);
    return held != part.held.end() && held->first <= frame ? &*held : nullptr;
  }

  static std::int64_t phase_of(const Held& held, std::size_t frame) {
    return (held.frames_of_scene + static_cast<std::int64_t>(frame - held.first)) %
           NoiseTracker::kCheckInterval;
  }

  static bool are_same(const SeenFrame& a, const SeenFrame& b) {
    // The hash is of when a frame is shown, too. But a source that was joined of several may show one picture
    // more than once at a time of its container's.
    return a.hash == b.hash && a.position && a.position == b.position;
  }

  void stop(SourcePart& part) {
    part.stopped = true;
    changed_.notify_all();
  }

  void stop_all() {
    stopped_ = true;
    std::ranges::for_each(parts_, [this](SourcePart& part) { stop(part); });
  }

  // What is the part's own.
  void add(const SourcePart& part, std::size_t first, SeenSource& all,
           const NoiseControl::Listener& log) const {
    const std::size_t offset = all.frames.size();
    for (const auto& [from, estimate] : part.estimates) {
      if (log && from >= first && from < part.end) {
        Frame frame;
        frame.format = reader_->video().format;
        frame.index = static_cast<std::int64_t>(offset + from - first);
        log(estimate, frame);
      }
    }
    for (const SeenFrame& frame : std::span(part.frames).subspan(first, part.end - first)) {
      const NoiseModel& level = part.levels[frame.level];
      if (all.levels.empty() || level != all.levels.back()) {
        all.levels.push_back(level);
      }
      all.frames.push_back(frame);
      all.frames.back().level = all.levels.size() - 1;
    }
  }

  const LookThrough& source_;
  const std::shared_ptr<Engine>& engine_;
  const std::function<bool(std::int64_t, std::int64_t)>& progress_;
  std::unique_ptr<io::Reader> reader_;  // who begins with the first part
  double duration_ = 0;                 // seconds
  std::int64_t expected_ = 0;
  std::vector<Begun> begun_;
  std::vector<Used> used_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SourcePart> parts_;  // the first is the source's first, the others are in any order
  std::int64_t looked_at_ = 0;
  bool interrupted_ = false;
  bool stopped_ = false;
};

}  // namespace

std::optional<SeenSource> look_through(const LookThrough& source, const std::shared_ptr<Engine>& engine,
                                       const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  {
    PartsOfSource parts(source, engine, progress);
    if (!parts.run()) {
      return std::nullopt;
    }
    if (parts.is_whole()) {
      return parts.whole();
    }
  }
  LookThrough by_one = source;
  by_one.parts = 1;
  by_one.reader.memory = kHostMemory;
  return look_through(by_one, engine, progress);
}

PartCounts parts_for(int processors, bool on_gpu, std::int64_t frames) {
  constexpr int kProcessors = 8;  // that one decoder keeps busy
  constexpr int kLeast = 12;      // where two are quicker than one
  constexpr int kMost = 4;
  constexpr int kOnGpu = 7;                   // as many as GPUs have decoders at most
  constexpr std::int64_t kLeastFrames = 500;  // a part's decoding begins with frames that aren't its own
  PartCounts parts{.on_processors =
                       processors >= kLeast ? std::clamp(processors / kProcessors, 2, kMost) : 1};
  if (on_gpu) {
    // Half of the processors are left to those that hash and look at the GPU's frames.
    parts = {.on_processors = std::min(processors / kProcessors / 2, kMost), .on_gpu = kOnGpu};
  }
  const std::int64_t most = std::max<std::int64_t>(frames / kLeastFrames, 1);
  while (parts.on_processors + parts.on_gpu > most) {
    --(parts.on_processors >= parts.on_gpu ? parts.on_processors : parts.on_gpu);
  }
  return parts;
}

}  // namespace limpid::app
