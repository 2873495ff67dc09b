// SPDX-License-Identifier: MIT
#include "plugins/openfx/streams.h"

#include <algorithm>
#include <cstdlib>

namespace limpid::openfx {
namespace {

constexpr std::size_t kMostStreams = 3;
// Results that come before the requested one are kept for other threads: at most this many.
constexpr std::size_t kMostKeptResults = 8;
// A frame at most so far from the last one of a stream uses that stream.
constexpr int kNear = 16;
// Renders detect changes of frames at most so far from the rendered one. More distant frames have little
// weight, and a host may have to render each of them again.
constexpr int kChecked = 4;
constexpr const char* kHostName = "The OpenFX host";

}  // namespace

std::shared_ptr<limpid_engine> shared_engine(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<limpid_engine>> engines;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<limpid_engine> engine = engines[name].lock();
  if (engine == nullptr) {
    limpid_engine* made = nullptr;
    if (limpid_engine_new(&made, name.empty() ? "auto" : name.c_str(), 0) != LIMPID_OK) {
      throw Failure(abi::kFailed, "engine: '" + name + "' is not an engine; use auto, cpu or cuda:0");
    }
    engine.reset(made, [](limpid_engine* own) { limpid_engine_free(&own); });
    engines[name] = engine;
  }
  return engine;
}

void ReleaseFrame::operator()(limpid_frame* frame) const {
  limpid_release(frame);
  const std::unique_ptr<limpid_frame> ended(frame);
}

// The host's clip, for RandomAccess. Sources are the numbers of frames: the library copies their samples.
class Stream::Host {
 public:
  Host(Stream& own, abi::Effect effect, abi::Clip source) : own_(own), effect_(effect), source_(source) {}

  int source(int n) {
    end_if_aborted();
    const Sequence& sequence = *own_.sequence_;
    std::optional<Image> image = Image::fetch(source_, sequence.time_of(n));
    if (!image) {
      end_if_aborted();
    } else if (image->pixels().layout != sequence.layout) {
      throw Failure(abi::kUnsupported, "frames of different components or bit depths are not supported");
    }
    const auto known = own_.fingerprints_.find(n);
    if (known != own_.fingerprints_.end() && !(known->second == image)) {
      own_.frames_->forget_results();
    }
    own_.fingerprints_.insert_or_assign(n, Fingerprint(image));
    if (image) {
      framed_.emplace(std::move(*image), sequence.bounds);
    } else {
      framed_.emplace(sequence.layout, sequence.bounds);
    }
    return n;
  }

  limpid_frame frame(int /*source*/) const {
    limpid_frame frame = frame_of(framed_->pixels());
    frame.flags = framed_->is_interlaced() ? LIMPID_INTERLACED : 0;
    return frame;
  }

  OwnFrame result(limpid_frame& result, int /*source*/) const {
    OwnFrame own(new limpid_frame(result));
    result.buffer = nullptr;
    return own;
  }

 private:
  // An aborting host may give no images.
  void end_if_aborted() const {
    if (suites().effect->abort(effect_) != 0) {
      throw Failure(abi::kOk);
    }
  }

  Stream& own_;
  abi::Effect effect_;
  abi::Clip source_;
  std::optional<Framed> framed_;  // the frame that is being sent
};

void Stream::prepare(const Sequence& sequence) {
  if (sequence_ == sequence) {
    return;
  }
  sequence_.reset();
  last_ = {-1, nullptr};
  fingerprints_.clear();
  frames_.reset();
  const std::shared_ptr<limpid_engine> engine = shared_engine(sequence.engine);
  if (engine != engine_) {
    denoiser_.emplace([this](const char* sentence) { messages_.warn(sentence); }, engine.get());
    engine_ = engine;
  }
  const Pixels like{
      .lowest_row = nullptr, .row_bytes = 0, .bounds = sequence.bounds, .layout = sequence.layout};
  denoiser_->take(format_of(like), sequence.settings);
  frames_.emplace(*denoiser_, sequence.count, kMostKeptResults, kHostName);
  sequence_ = sequence;
}

// Source frames may have changed since they were sent, and hosts do not report this.
void Stream::restart_if_changed(int n, abi::Clip source) {
  fingerprints_.erase(fingerprints_.begin(), fingerprints_.lower_bound(frames_->first_of(n)));
  // Hosts were requested to have the frames up to last_of(n).
  const auto end = fingerprints_.upper_bound(std::min(n + kChecked, frames_->last_of(n)));
  for (auto each = fingerprints_.lower_bound(n - kChecked); each != end; ++each) {
    if (!(each->second == Image::fetch(source, sequence_->time_of(each->first)))) {
      fingerprints_.clear();
      frames_->restart();
      last_ = {-1, nullptr};
      return;
    }
  }
}

void Stream::render(const Sequence& sequence, int n, abi::Effect effect, abi::Clip source,
                    const std::function<void(const limpid_frame&)>& write) {
  prepare(sequence);
  restart_if_changed(n, source);
  if (last_.first != n) {
    last_ = {-1, nullptr};
    Host host(*this, effect, source);
    OwnFrame result = frames_->get(n, host);
    last_ = {n, std::move(result)};
  }
  write(*last_.second);
}

std::shared_ptr<Streams::Place> Streams::place_for(const Sequence& sequence, int n) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<Place> chosen;
  for (const std::shared_ptr<Place>& place : places_) {
    if (place->sequence == sequence && std::abs(place->last - n) <= kNear &&
        (chosen == nullptr || std::abs(place->last - n) < std::abs(chosen->last - n))) {
      chosen = place;
    }
  }
  if (chosen == nullptr && places_.size() < kMostStreams) {
    chosen = places_.emplace_back(std::make_shared<Place>(messages_));
  }
  if (chosen == nullptr) {
    chosen = *std::min_element(places_.begin(), places_.end(),
                               [](const auto& one, const auto& other) { return one->used < other->used; });
  }
  chosen->sequence = sequence;
  chosen->last = n;
  chosen->used = ++uses_;
  return chosen;
}

void Streams::render(const Sequence& sequence, int n, abi::Effect effect, abi::Clip source,
                     const std::function<void(const limpid_frame&)>& write) {
  const std::shared_ptr<Place> place = place_for(sequence, n);
  const std::scoped_lock lock(place->mutex);
  place->stream.render(sequence, n, effect, source, write);
}

std::pair<int, int> Streams::reach(const std::string& engine, const plugins::Settings& settings) {
  const std::scoped_lock lock(mutex_);
  const auto known = reaches_.find({engine, settings});
  if (known != reaches_.end()) {
    return known->second;
  }
  // A stream of any format.
  constexpr int kSide = 64;
  const Pixels like{.lowest_row = nullptr,
                    .row_bytes = 0,
                    .bounds = {0, 0, kSide, kSide},
                    .layout = {.channels = 4, .type = LIMPID_UINT8}};
  const std::shared_ptr<limpid_engine> shared = shared_engine(engine);
  plugins::Denoiser denoiser([](const char* /*warning*/) {}, shared.get());
  denoiser.start(format_of(like), settings);
  constexpr int kMiddle = (1 << 20) - 1;  // the last frame of a section of the noise level
  const plugins::RandomAccess<int, int> frames(denoiser, 2 * kMiddle, 0, kHostName);
  reaches_.clear();
  return reaches_[{engine, settings}] = {kMiddle - frames.first_needed(kMiddle),
                                         frames.last_of(kMiddle) - kMiddle};
}

void Streams::clear() {
  const std::scoped_lock lock(mutex_);
  places_.clear();
}

}  // namespace limpid::openfx
