// SPDX-License-Identifier: MIT
#include "plugins/openfx/effect.h"

#include <limpid.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/shared/denoiser.h"

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

namespace {

// The most frames that noise is measured from, as by `limpid noise`.
constexpr int kMeasuredFrames = 16;

struct MeasuredNoise {
  std::string profile;  // JSON in a line
  std::string level;    // "9.8, 9.6, 9.7": of each color, in 8-bit code values
};

// Measures the noise of frames of one size, at least one, in their order. Throws Failure with a sentence,
// also if frames differ in layout.
MeasuredNoise measure_noise(limpid_engine& engine, const std::vector<Framed>& frames) {
  limpid_denoiser* made = nullptr;
  if (limpid_new(&made, &engine) != LIMPID_OK) {
    throw std::bad_alloc();
  }
  const auto free = [](limpid_denoiser* own) { limpid_free(&own); };
  const std::unique_ptr<limpid_denoiser, decltype(free)> denoiser(made, free);
  std::vector<limpid_frame> views;
  std::vector<const limpid_frame*> pointers;
  views.reserve(frames.size());
  for (const Framed& frame : frames) {
    if (frame.pixels().layout != frames.front().pixels().layout) {
      throw Failure(abi::kUnsupported,
                    "noise cannot be measured in frames of different components or bit depths");
    }
    views.push_back(frame_of(frame.pixels()));
    views.back().flags = frame.is_interlaced() ? LIMPID_INTERLACED : 0;
    pointers.push_back(&views.back());
  }
  const limpid_format format = format_of(frames.front().pixels());
  auto noise = plugins::sized<limpid_noise>();
  if (limpid_estimate_noise(made, &format, pointers.data(), static_cast<std::int32_t>(pointers.size()),
                            &noise) != LIMPID_OK) {
    throw Failure(abi::kFailed, limpid_error(made));
  }
  MeasuredNoise measured{noise.profile, ""};
  std::replace(measured.profile.begin(), measured.profile.end(), '\n', ' ');
  constexpr float kDigits = 100;
  for (int c = 0; c < std::min(frames.front().pixels().layout.channels, 3); ++c) {
    measured.level +=
        (c == 0 ? "" : ", ") +
        plugins::text_of(std::round(static_cast<double>(noise.sigma[c] * kDigits)) / double{kDigits});
  }
  return measured;
}

// Frames of clips without an end, and the greatest number of a frame.
constexpr double kMostFrames = 1 << 28;
constexpr double kMostStrengthSetting = 10;
constexpr int kLeastRectangle = 64;

abi::Parameters parameters_of(abi::Effect effect) {
  abi::Parameters set = nullptr;
  check(suites().effect->parameters(effect, &set));
  return set;
}

abi::Clip clip_of(abi::Effect effect, const char* name) {
  abi::Clip clip = nullptr;
  check(suites().effect->clip(effect, name, &clip, nullptr));
  return clip;
}

Properties properties_of(abi::Clip clip) {
  abi::Properties properties = nullptr;
  suites().effect->clip_properties(clip, &properties);
  return Properties(properties);
}

// The time of the frame that an action is about. The second field of a frame is half a frame later.
double frame_time(const Properties& in) {
  const double time = in.number(abi::property::kTime);
  const std::string field = in.text(abi::property::kFieldToRender);
  return field == abi::kFieldLower || field == abi::kFieldUpper ? std::floor(time) : time;
}

// The render scale as one number, the geometric mean of both directions.
double scale_of(const Properties& properties) {
  const double scale = std::sqrt(properties.number(abi::property::kRenderScale, 0, 1) *
                                 properties.number(abi::property::kRenderScale, 1, 1));
  return scale > 0 ? scale : 1;
}

// A host that reduces a picture averages its samples. This reduces the noise in proportion to the scale.
plugins::Settings settings_for(const Values& values, double scale) {
  plugins::Settings settings = values.settings;
  double strength = values.strength;
  if (!values.sets_noise() && values.noise != NoiseSource::kAutomatic) {
    const bool is_level = values.noise == NoiseSource::kLevel;
    settings["noise"] = is_level ? plugins::text_of(values.level) : values.profile;
    strength *= scale / (!is_level && values.measured_scale > 0 ? values.measured_scale : 1);
    if (settings["noise"].empty()) {
      throw Failure(
          abi::kFailed,
          "no noise has been measured; use Measure noise, or choose another source of the noise level");
    }
  }
  settings.emplace("strength", plugins::text_of(std::min(strength, kMostStrengthSetting)));
  return settings;
}

// The pixels of a part of the picture that is given in canonical coordinates.
abi::Rectangle pixels_of(const Part& part, const Image& image) {
  const double aspect = image.properties().number(abi::property::kAspectRatio, 0, 1);
  const double x_scale =
      image.properties().number(abi::property::kRenderScale, 0, 1) / (aspect > 0 ? aspect : 1);
  const double y_scale = image.properties().number(abi::property::kRenderScale, 1, 1);
  const abi::Rectangle& bounds = image.pixels().bounds;
  const auto clamped = [](double value, int least, int most) {
    return static_cast<int>(
        std::clamp(std::nearbyint(value), static_cast<double>(least), static_cast<double>(most)));
  };
  return {clamped(part.x * x_scale, bounds.x1, bounds.x2), clamped(part.y * y_scale, bounds.y1, bounds.y2),
          clamped((part.x + part.width) * x_scale, bounds.x1, bounds.x2),
          clamped((part.y + part.height) * y_scale, bounds.y1, bounds.y2)};
}

// The pixels to measure noise in. Throws Failure if they are too few.
abi::Rectangle measured_part(const Part& rectangle, const Image& image) {
  const abi::Rectangle part = pixels_of(rectangle, image);
  const int width = part.x2 - part.x1;
  const int height = part.y2 - part.y1;
  if (width < kLeastRectangle || height < kLeastRectangle) {
    throw Failure(abi::kFailed, "the rectangle has " + std::to_string(width) + "x" + std::to_string(height) +
                                    " samples in the picture; at least 64x64 are needed to measure noise");
  }
  return part;
}

}  // namespace

Effect::Effect(abi::Effect handle)
    : handle_(handle),
      source_(clip_of(handle, abi::kSource)),
      output_(clip_of(handle, abi::kOutput)),
      parameters_(parameters_of(handle)),
      messages_(handle),
      streams_(messages_) {
  parameters_.show_filter();
}

// Throws Failure with kOk if the host has no image because it has aborted the action.
Image Effect::required_image(abi::Clip clip, const char* name, double time) const {
  std::optional<Image> image = Image::fetch(clip, time);
  if (!image && suites().effect->abort(handle_) != 0) {
    throw Failure(abi::kOk);
  }
  if (!image) {
    throw Failure(abi::kFailed,
                  std::string("the ") + name + " has no image at frame " + plugins::text_of(time));
  }
  return std::move(*image);
}

// The frames of the source at whole distances from a time.
Effect::Range Effect::range_at(double time) const {
  const Properties clip = properties_of(source_);
  const double phase = time - std::floor(time);
  const double first =
      std::max(std::ceil(clip.number(abi::property::kFrameRange, 0, time) - phase), -kMostFrames);
  const double last =
      std::min(std::floor(clip.number(abi::property::kFrameRange, 1, time) - phase), kMostFrames);
  const double begin = std::min(first, std::floor(time));
  return {begin + phase, static_cast<int>(std::max(last, std::floor(time)) - begin) + 1};
}

void Effect::frames_needed(const Properties& in, const Properties& out) {
  const double time = frame_time(in);
  const Range range = range_at(time);
  const double last_time = range.first_time + range.count - 1;
  const Values values = parameters_.values();
  plugins::Settings settings = values.settings;
  if (!values.sets_noise() && values.noise != NoiseSource::kAutomatic) {
    settings["noise"] = "1";
  }
  const std::pair<int, int> reach = streams_.reach(values.engine, settings);
  out.set(abi::property::kSourceFrames, std::max(time - reach.first, range.first_time), 0);
  out.set(abi::property::kSourceFrames, std::min(time + reach.second, last_time), 1);
}

// All of the source: noise and patches are searched for in whole frames.
void Effect::regions_of_interest(const Properties& in, const Properties& out) {
  abi::Area region{};
  if (suites().effect->region_of_definition(source_, frame_time(in), &region) == abi::kOk) {
    for (int i = 0; const double edge : {region.x1, region.y1, region.x2, region.y2}) {
      out.set(abi::property::kSourceRegion, edge, i++);
    }
  }
}

bool Effect::is_identity(const Properties& in, const Properties& out) const {
  if (!parameters_.values().is_identity()) {
    return false;
  }
  out.set(abi::property::kName, abi::kSource);
  out.set(abi::property::kTime, frame_time(in));
  return true;
}

void Effect::render(const Properties& in) {
  const double time = frame_time(in);
  const Image out = required_image(output_, "output", in.number(abi::property::kTime));
  const Image source = required_image(source_, "source", time);
  int window[4];
  for (int i = 0; int& edge : window) {
    edge = in.whole(abi::property::kRenderWindow, i++);
  }
  const abi::Rectangle part{window[0], window[1], window[2], window[3]};
  const Values values = parameters_.values();
  if (values.is_identity()) {
    write_source(source, out, part);
  } else {
    const Range range = range_at(time);
    const Sequence sequence{.layout = source.pixels().layout,
                            .bounds = source.pixels().bounds,
                            .first_time = range.first_time,
                            .count = range.count,
                            .engine = values.engine,
                            .settings = settings_for(values, scale_of(in))};
    const int n = static_cast<int>(std::lround(time - sequence.first_time));
    streams_.render(sequence, n, handle_, source_,
                    [&](const limpid_frame& result) { write_result(result, source, out, part); });
  }
  messages_.clear();
}

void Effect::changed(const Properties& in) {
  if (in.text(abi::property::kChangeReason) == abi::kChangeTime) {
    return;  // the host shows another frame, and no parameter is animated
  }
  const std::string type = in.text(abi::property::kType);
  const std::string name = in.text(abi::property::kName);
  if (type == abi::kTypeClip && name == abi::kSource) {
    purge();
  } else if (type == abi::kTypeParameter && name == name::kFilter) {
    parameters_.show_filter();
  } else if (type == abi::kTypeParameter && name == name::kMeasure) {
    measure(in.number(abi::property::kTime));
  }
}

void Effect::measure(double time) {
  const Range range = range_at(time);
  const int first = static_cast<int>(std::lround(time - range.first_time));
  const int last = std::min(first + kMeasuredFrames, range.count) - 1;
  const Progress progress(handle_, "Measuring noise");
  std::vector<Framed> frames;
  abi::Rectangle part{};
  double scale = 1;
  for (int n = first; n <= last; ++n) {
    const double frame_time = range.first_time + n;
    std::optional<Image> image =
        n == first ? required_image(source_, "source", frame_time) : Image::fetch(source_, frame_time);
    if (n == first) {
      part = measured_part(parameters_.rectangle(), *image);
      scale = scale_of(image->properties());
    }
    if (image) {
      frames.emplace_back(std::move(*image), part);
    }
    if (!progress.update(static_cast<double>(n - first + 1) / (last - first + 2))) {
      return;
    }
  }
  const MeasuredNoise noise = measure_noise(*shared_engine(parameters_.values().engine), frames);
  parameters_.set_measured(noise.profile, noise.level, scale);
  messages_.clear();
}

void Effect::end_sequence(const Properties& in) {
  const double first = in.number(abi::property::kFrameRange, 0, 0);
  const double last = in.number(abi::property::kFrameRange, 1, first + 1);
  if (in.whole(abi::property::kIsInteractive) == 0 && last - first >= 1) {
    streams_.clear();
  }
}

}  // namespace limpid::openfx
