// SPDX-License-Identifier: MIT
#include "lib/session.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "core/base/text.h"
#include "core/engines.h"
#include "core/settings/denoising_settings.h"

namespace limpid::lib {
namespace {

constexpr std::array<const char*, 8> kGeneralSettings{"settings", "filter", "quality", "profile",
                                                      "fields",   "engine", "threads", "live"};

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
    throw UsageError("threads: '" + value + "' is not a whole number from 1 to 1024");
  }
  return threads;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  std::vector<std::string> known(kGeneralSettings.begin(), kGeneralSettings.end());
  std::ranges::transform(noise_fields(), std::back_inserter(known), &NoiseField::name);
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
  if (name == "settings") {
    set_all(value);
  } else if (name == "filter") {
    FilterSettings given = value ? parse_filter_settings(lower_case(*value)) : FilterSettings();
    filter_settings_.name = given.name;
    filter_settings_.profile = given.profile ? given.profile : filter_settings_.profile;
    given.parameters.merge(filter_settings_.parameters);
    filter_settings_.parameters = std::move(given.parameters);
  } else if (name == "quality" || name == "profile") {
    filter_settings_.profile = value ? std::optional(parse_quality(name, *value)) : std::nullopt;
  } else if (name == "fields") {
    fields_ = parse_fields(name, lower_case(value.value_or("auto")));
  } else if (name == "live") {
    live_ = value && parse_flag(name, *value);
  } else if (name == "engine" || name == "threads") {
    if (shared_engine_ != nullptr) {
      throw UsageError(name + ": cannot be set, since the denoiser shares an engine that is already open");
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

void Session::set_all(const std::optional<std::string>& value) {
  DenoisingSettings settings;
  try {
    if (value) {
      settings = value->starts_with("{") ? parse_settings(*value) : read_settings(*value);
    }
  } catch (const UsageError& error) {
    throw UsageError(std::string("settings: ") + error.what());
  }
  apply({settings.noise});
  filter_settings_ = std::move(settings.filter);
  fields_ = settings.fields;
}

bool Session::set_noise(const std::string& name, const std::optional<std::string>& value) {
  const NoiseField* const field = find_noise_field(name);
  if (field == nullptr) {
    return false;
  }
  NoiseChoice choice = noise_;
  field->parse(choice, name, value.value_or(field->standard));
  apply(choice);
  return true;
}

void Session::apply(const NoiseChoice& noise) {
  if (stream_ != nullptr) {
    stream_->set_noise(noise.chosen());
  }
  noise_ = noise;
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
  stream_ = std::make_unique<DenoisingStream>(open_engine(), filter, noise_.chosen(), fields_, format,
                                              live_ ? Latency::kNone : Latency::kLookAhead);
}

DenoisingStream& Session::stream() {
  if (stream_ == nullptr) {
    throw OutOfTurn("the denoiser has not been started");
  }
  return *stream_;
}

void Session::send(Frame frame, std::optional<Frame> result) {
  if (stream().is_flushed()) {
    throw OutOfTurn("no frame can be sent after a flush; reset the denoiser or start it again");
  }
  stream_->send(std::move(frame), std::move(result));
}

std::optional<NoiseProfile> Session::noise(bool of_result) const {
  if (stream_ == nullptr) {
    return std::nullopt;
  }
  const std::optional<NoiseEstimate>& found = of_result ? stream_->found_of_result() : stream_->found();
  return found ? std::optional(profile_of(*found, stream_->format().color_model)) : std::nullopt;
}

void Session::cancel() {
  if (stream_ != nullptr) {
    stream_->cancel();
  }
}

}  // namespace limpid::lib
