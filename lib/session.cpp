#include "lib/session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/lower_case.h"
#include "core/base/suggestion.h"
#include "core/engines.h"
#include "core/settings/noise_profile.h"
#include "core/settings/noise_settings.h"

namespace limpid::lib {
namespace {

constexpr std::array<const char*, 10> kGeneralSettings{"filter",   "profile",   "noise",       "sigma",
                                                       "strength", "luma-only", "chroma-only", "engine",
                                                       "threads",  "live"};

bool parse_flag(const std::string& name, const std::string& value) {
  if (value == "1" || value == "0") {
    return value == "1";
  }
  throw UsageError(name + ": '" + value + "' is neither 1 nor 0");
}

int parse_threads(const std::string& value) {
  int threads = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (error != std::errc() || end != value.data() + value.size() || threads < 1 || threads > kMostThreads) {
    throw UsageError("threads: '" + value + "' is no whole number from 1 to 1024");
  }
  return threads;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  std::vector<std::string> known(kGeneralSettings.begin(), kGeneralSettings.end());
  for (const FilterType& type : filter_types()) {
    for (const Parameter<Filter>& parameter : type.parameters) {
      known.push_back(parameter.text.option);
    }
  }
  throw UsageError("there is no setting '" + name + "'" + did_you_mean(name, known));
}

}  // namespace

std::shared_ptr<Engine> SharedEngine::get() {
  const std::scoped_lock lock(mutex_);
  if (engine_ == nullptr) {
    engine_ = engine_registry().open(name_, EngineOptions{threads_});
  }
  return engine_;
}

void Session::set(const std::string& name, const std::optional<std::string>& value) {
  if (name == "filter") {
    filter_settings_.name = value ? filter_type(lower_case(*value)).name : "";
  } else if (name == "profile") {
    filter_settings_.profile = value ? std::optional(lower_case(*value)) : std::nullopt;
  } else if (name == "live") {
    live_ = value && parse_flag(name, *value);
  } else if (name == "engine" || name == "threads") {
    if (shared_engine_ != nullptr) {
      throw UsageError(name + ": the denoiser shares an engine, which was chosen where that was made");
    }
    if (name == "engine") {
      engine_name_ = lower_case(value.value_or("auto"));
    } else {
      threads_ = value ? parse_threads(*value) : 0;
    }
    own_engine_ = nullptr;
  } else if (!set_noise(name, value)) {
    const std::vector<const FilterType*> filters = filters_with(name);
    if (filters.empty()) {
      fail_unknown(name);
    }
    if (value) {
      filter_settings_.parameters[name] = parse_value(*find_parameter(*filters.front(), name), *value);
    } else {
      filter_settings_.parameters.erase(name);
    }
  }
}

bool Session::set_noise(const std::string& name, const std::optional<std::string>& value) {
  NoiseSettings settings = noise_settings_;
  if (name == "noise" && value && value->starts_with("{")) {
    try {
      settings.noise = parse_noise_profile(*value);
    } catch (const UsageError& error) {
      throw UsageError(std::string("noise: the text is not a noise profile: ") + error.what());
    }
  } else if (name == "noise") {
    settings.noise = parse_noise(name, value.value_or("auto"));
  } else if (name == "sigma") {
    settings.noise = parse_sigma(name, value.value_or("auto"));
  } else if (name == "strength") {
    settings.strength = parse_strength(name, lower_case(value.value_or("medium")));
  } else if (name == "luma-only" || name == "chroma-only") {
    const PlaneChoice choice = name == "luma-only" ? PlaneChoice::kLuma : PlaneChoice::kChroma;
    if (value && parse_flag(name, *value)) {
      settings.planes = choice;
    } else if (settings.planes == choice) {
      settings.planes = PlaneChoice::kAll;
    }
  } else {
    return false;
  }
  change_noise(settings);
  return true;
}

void Session::change_noise(const NoiseSettings& settings) {
  if (is_started()) {
    NoiseControl(settings, *engine_).check(format_);
    if (settings.noise.has_value() == noise_settings_.noise.has_value()) {
      noise_->set(settings);
    } else {
      pass_on_all();
      noise_.emplace(settings, *engine_);
    }
  }
  noise_settings_ = settings;
}

std::shared_ptr<Engine> Session::open_engine() {
  if (shared_engine_ != nullptr) {
    return shared_engine_->get();
  }
  if (own_engine_ == nullptr) {
    own_engine_ = std::make_shared<SharedEngine>(engine_name_, threads_);
  }
  return own_engine_->get();
}

void Session::start(const FrameFormat& format) {
  const Filter filter = make_filter(live_ ? live(filter_settings_, false) : filter_settings_, false);
  const std::shared_ptr<Engine> engine = open_engine();
  NoiseControl(noise_settings_, *engine).check(format);
  std::unique_ptr<Denoiser> denoiser = engine->make_denoiser(filter, NoiseModel{}, format);
  // Nothing fails from here on.
  ahead_.clear();
  noise_.emplace(noise_settings_, *engine);
  denoiser_ = std::move(denoiser);
  engine_ = engine;
  format_ = format;
  filter_ = filter;
  live_stream_ = live_;
  level_ = {};
  found_.reset();
  results_ = Results::kNotKnown;
  flushed_ = false;
}

void Session::require_start() const {
  if (!is_started()) {
    throw OutOfTurn("the denoiser hasn't been started");
  }
}

void Session::send(Frame frame, std::optional<Frame> result) {
  require_start();
  if (flushed_) {
    throw OutOfTurn("no frame can be sent behind a flush, unless the denoiser is reset or started again");
  }
  // A frame of the library's own may be of another stream.
  if (frame.format != format_) {
    throw UsageError("the frame is " + to_string(frame.format) + ", and the stream is " + to_string(format_));
  }
  if (!frame.memory.is_host() && frame.memory != engine_->memory()) {
    throw UsageError("the frame is in " + to_string(frame.memory) + ", which the engine " +
                     std::string(engine_->name()) + " can't read");
  }
  if (!frame.context_only) {
    const Results asked = result ? Results::kGiven : Results::kOwn;
    if (results_ == Results::kNotKnown && result) {
      denoiser_->set_result_frames([this] { return std::move(next_result_).value(); });
    } else if (results_ != Results::kNotKnown && results_ != asked) {
      throw UsageError(
          "of a stream either all frames or none are sent with memory for their results, and this one "
          "differs "
          "from those before it");
    }
    results_ = asked;
  }
  noise_->observe(frame);
  ahead_.push_back({std::move(frame), std::move(result)});
  if (ahead_.size() > static_cast<std::size_t>(look_ahead())) {
    pass_on_first();
  }
}

// Gives the denoiser the first frame that has been looked ahead from.
void Session::pass_on_first() {
  Ahead first = std::move(ahead_.front());
  ahead_.pop_front();
  const NoiseModel level = noise_->level_of(first.frame);
  found_ = noise_->found();
  if (level != level_) {
    denoiser_->set_noise(level);
    level_ = level;
  }
  next_result_ = std::move(first.result);
  denoiser_->send(std::move(first.frame));
}

void Session::pass_on_all() {
  while (!ahead_.empty()) {
    pass_on_first();
  }
}

std::optional<Frame> Session::receive() {
  require_start();
  return denoiser_->receive();
}

void Session::flush() {
  require_start();
  if (!flushed_) {
    pass_on_all();
    denoiser_->flush();
    flushed_ = true;
  }
}

void Session::reset() {
  require_start();
  ahead_.clear();
  denoiser_->reset();
  noise_.emplace(noise_settings_, *engine_);
  flushed_ = false;
}

std::optional<NoiseProfile> Session::noise() const {
  return found_ ? std::optional(NoiseProfile{*found_, format_.color_model}) : std::nullopt;
}

}  // namespace limpid::lib
