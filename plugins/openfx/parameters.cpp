// SPDX-License-Identifier: MIT
#include "plugins/openfx/parameters.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

namespace limpid::openfx {
namespace {

using plugins::sized;

constexpr const char* kNoiseChoices[] = {"automatic", "level", "measured"};
constexpr const char* kRepairChoices[] = {"off", "pixels", "rows", "dust", "all"};
constexpr const char* kFieldChoices[] = {"auto", "progressive", "interlaced"};
constexpr const char* kDefaultChoice = "default";
constexpr double kDefaultLevel = 10;
constexpr double kMostLevel = 255;
constexpr double kMostShownLevel = 50;
constexpr double kMostStrength = 10;
constexpr double kMostShownStrength = 2;
// The default filter comes first: projects save the number.
constexpr const char* kDefaultFilter = "vbm4d";

// False if results of the filter depend on all earlier frames.
bool has_bounded_reach(const char* filter) {
  plugins::Denoiser denoiser([](const char* /*warning*/) {});
  auto format = sized<limpid_format>();
  constexpr std::int32_t kSide = 64;
  format.width = kSide;
  format.height = kSide;
  format.bit_depth = 8;
  denoiser.start(format, {{"filter", filter}, {"engine", "cpu"}, {"threads", "1"}, {"noise", "1"}});
  return denoiser.stream().reach_before != LIMPID_UNBOUNDED;
}

struct NamedFilter {
  std::int32_t number;
  limpid_filter_info info;
};

// The library's filters in the order of the choice: those whose results do not depend on all earlier frames.
const std::vector<NamedFilter>& usable_filters() {
  static const std::vector<NamedFilter> usable = [] {
    std::vector<NamedFilter> list;
    for (std::int32_t number = 0; const limpid_filter_info& filter : plugins::filters()) {
      if (has_bounded_reach(filter.name)) {
        list.push_back({number, filter});
      }
      ++number;
    }
    std::stable_partition(list.begin(), list.end(), [](const NamedFilter& filter) {
      return filter.info.name == std::string(kDefaultFilter);
    });
    return list;
  }();
  return usable;
}

template <typename Function>
void for_each_parameter(const NamedFilter& filter, Function function) {
  for (std::int32_t p = 0; p < filter.info.parameter_count; ++p) {
    auto parameter = sized<limpid_parameter_info>();
    if (limpid_get_parameter(filter.number, p, &parameter) == LIMPID_OK) {
      function(parameter);
    }
  }
}

std::string group_of(const std::string& filter) { return plugins::with_underscores(filter + "_parameters"); }

std::string name_of(const std::string& filter, const std::string& parameter) {
  return plugins::with_underscores(filter + "_" + parameter);
}

// False for numbers, and for names made of numbers, whose range is a sentence.
bool is_choice(const limpid_parameter_info& parameter) {
  return parameter.kind == LIMPID_NAME && (parameter.range[0] < '0' || parameter.range[0] > '9');
}

// Names in a parameter's range: "dct, haar".
std::vector<std::string> names_in(const char* range) {
  std::vector<std::string> names;
  std::istringstream words(range);
  for (std::string word; words >> word;) {
    if (word.back() == ',') {
      word.pop_back();
    }
    names.push_back(word);
  }
  return names;
}

// True for 0, and for zeros of several planes such as "0,0,0".
bool is_zero(const std::string& setting) {
  std::istringstream numbers(setting);
  bool is = !setting.empty();
  for (std::string part; is && std::getline(numbers, part, ',');) {
    double number = 1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    is = error == std::errc{} && end == part.data() + part.size() && number == 0;
  }
  return is;
}

// Defines parameters in a group.
class Definitions {
 public:
  explicit Definitions(abi::Parameters set) : set_(set) {}

  void group(const std::string& name, const std::string& label, bool is_open) {
    group_.clear();
    const Properties properties = define(abi::parameter::kGroup, name, label, "");
    properties.set(abi::parameter::kGroupOpen, is_open ? 1 : 0);
    group_ = name;
  }
  void end_group() { group_.clear(); }

  Properties number(const char* name, const char* label, const std::string& hint, double otherwise,
                    double most, double most_shown) {
    const Properties properties = define(abi::parameter::kDouble, name, label, hint);
    properties.set(abi::parameter::kDefault, otherwise);
    properties.set(abi::parameter::kMin, 0.0);
    properties.set(abi::parameter::kMax, most);
    properties.set(abi::parameter::kDisplayMin, 0.0);
    properties.set(abi::parameter::kDisplayMax, most_shown);
    return properties;
  }

  template <typename Choices>
  Properties choice(const std::string& name, const std::string& label, const std::string& hint,
                    const Choices& choices) {
    const Properties properties = define(abi::parameter::kChoice, name, label, hint);
    for (int i = 0; const auto& choice : choices) {
      properties.set(abi::parameter::kOption, choice, i++);
    }
    properties.set(abi::parameter::kDefault, 0);
    return properties;
  }

  Properties text(const std::string& name, const std::string& label, const std::string& hint,
                  const char* otherwise) {
    const Properties properties = define(abi::parameter::kString, name, label, hint);
    properties.set(abi::parameter::kDefault, otherwise);
    return properties;
  }

  // Two coordinates, by default these parts of the picture's.
  void point(const char* name, const char* label, const std::string& hint, const char* type,
             double otherwise) {
    const Properties properties = define(abi::parameter::kDouble2D, name, label, hint);
    properties.set(abi::parameter::kDoubleType, type);
    properties.set(abi::parameter::kCoordinates, abi::parameter::kNormalized);
    properties.set(abi::parameter::kDefault, otherwise, 0);
    properties.set(abi::parameter::kDefault, otherwise, 1);
    properties.set(abi::parameter::kEvaluateOnChange, 0);
  }

  void button(const char* name, const char* label, const std::string& hint) {
    define(abi::parameter::kButton, name, label, hint);
  }

 private:
  Properties define(const std::string& type, const std::string& name, const std::string& label,
                    const std::string& hint) {
    abi::Properties made = nullptr;
    check(suites().parameters->define(set_, type.c_str(), name.c_str(), &made));
    const Properties properties(made);
    properties.set(abi::property::kLabel, label);
    properties.set(abi::parameter::kHint, hint);
    if (type != abi::parameter::kGroup && type != abi::parameter::kButton) {
      properties.set(abi::parameter::kAnimates, 0);
    }
    if (!group_.empty()) {
      properties.set(abi::parameter::kParent, group_);
    }
    return properties;
  }

  abi::Parameters set_;
  std::string group_;
};

void define_noise(Definitions& define) {
  define.choice(name::kNoise, "Noise",
                "Source of the noise level: automatic (estimated for each scene), level, or "
                "measured (Measure noise)",
                kNoiseChoices);
  define.number(
      name::kLevel, "Level",
      "Standard deviation of the noise in 8-bit code values, at the full size of the picture (0 to 255)",
      kDefaultLevel, kMostLevel, kMostShownLevel);
  define.number(name::kStrength, "Strength", "Factor of the noise level; 0 disables denoising (0 to 10)", 1,
                kMostStrength, kMostShownStrength);
}

void define_filter(Definitions& define) {
  std::string hint = "Denoising method";
  std::vector<std::string> names;
  for (const NamedFilter& filter : usable_filters()) {
    names.emplace_back(filter.info.name);
    hint += std::string("\n") + filter.info.name + ": " + filter.info.help;
  }
  define.choice(name::kFilter, "Filter", hint, names);
  define.choice(name::kProfile, "Profile", "Quality, from fastest to best; default: the filter's own",
                plugins::profile_names());
}

void define_measurement(Definitions& define) {
  define.group("measurement", "Noise measurement", false);
  define.point(name::kPosition, "Position", "Lower left corner of the rectangle to measure noise in",
               abi::parameter::kPosition, 0);
  define.point(name::kSize, "Size", "Size of the rectangle, at least 64 samples wide and high",
               abi::parameter::kDistance, 1);
  define.button(
      name::kMeasure, "Measure noise",
      "Measure the noise in the rectangle, from the present frame and up to 15 later ones, and save it in "
      "the project");
  const Properties level = define.text(name::kMeasuredLevel, "Measured level",
                                       "Measured noise of red, green and blue, in 8-bit code values", "");
  level.set(abi::parameter::kEnabled, 0);
  level.set(abi::parameter::kEvaluateOnChange, 0);
  define.text(name::kMeasuredProfile, "Measured profile", "Noise profile, as by limpid noise --json", "")
      .set(abi::parameter::kSecret, 1);
  define.number(name::kMeasuredScale, "Measured scale", "Render scale of the measured frames", 1, 1, 1)
      .set(abi::parameter::kSecret, 1);
  define.end_group();
}

// Numbers are texts: empty ones have the profile's value, which may depend on the noise.
void define_filter_parameters(Definitions& define, const NamedFilter& filter) {
  define.group(group_of(filter.info.name), std::string(filter.info.name) + " parameters", false);
  for_each_parameter(filter, [&](const limpid_parameter_info& parameter) {
    std::string hint = parameter.help;
    hint += std::string(" (") + parameter.range;
    hint +=
        parameter.default_value == nullptr ? ")" : std::string("; default ") + parameter.default_value + ")";
    const std::string name = name_of(filter.info.name, parameter.name);
    if (is_choice(parameter)) {
      std::vector<std::string> choices = names_in(parameter.range);
      choices.insert(choices.begin(), kDefaultChoice);
      define.choice(name, parameter.name, hint, choices);
    } else {
      define.text(name, parameter.name, hint, "");
    }
  });
  define.end_group();
}

}  // namespace

void define_parameters(abi::Parameters set) {
  Definitions define(set);
  define_noise(define);
  define_filter(define);
  define_measurement(define);
  for (const NamedFilter& filter : usable_filters()) {
    define_filter_parameters(define, filter);
  }
  define.group("more", "More options", false);
  define.choice(
      name::kRepair, "Repair",
      "Defects to repair before filtering: pixels (hot and dead pixels), rows (noise of rows and columns), "
      "dust (dust and dropouts of a single frame), all, or off",
      kRepairChoices);
  define.choice(
      name::kFields, "Fields",
      "Frames that are filtered by field: auto (those that the host calls interlaced, and combed ones), "
      "progressive (none) or interlaced (all)",
      kFieldChoices);
  define.text(name::kEngine, "Engine", "Engine: auto, cpu, cuda:0, cuda:0,1 or cuda:all", "auto");
  define.text(
      name::kOptions, "Options",
      "Other options of limpid denoise without dashes, separated by spaces: delay=2. They override the "
      "parameters. Settings files are not supported",
      "");
  define.end_group();
}

bool Values::is_identity() const {
  const auto of_options = [this](const char* name) {
    const auto setting = settings.find(name);
    return setting == settings.end() ? std::string() : setting->second;
  };
  if (of_options("repair") != kRepairChoices[0]) {
    return false;
  }
  if (const std::string own = of_options("strength"); own.empty() ? strength == 0 : is_zero(own)) {
    return true;
  }
  if (sets_noise()) {
    // The library applies sigma after noise.
    return is_zero(of_options(settings.contains("sigma") ? "sigma" : "noise"));
  }
  return noise == NoiseSource::kLevel && level == 0;
}

abi::Parameter Parameters::handle(const char* name) const {
  abi::Parameter parameter = nullptr;
  check(suites().parameters->handle(set_, name, &parameter, nullptr),
        std::string("the host has lost the parameter ") + name);
  return parameter;
}

template <typename... Value>
void Parameters::get(const char* name, Value*... values) const {
  check(suites().parameters->get(handle(name), values...),
        std::string("the host cannot give the value of the parameter ") + name);
}

template <typename Value>
Value Parameters::value(const char* name) const {
  Value result{};
  get(name, &result);
  return result;
}

std::string Parameters::text(const char* name) const {
  const char* const text = value<char*>(name);
  return text == nullptr ? "" : text;
}

Values Parameters::values() const {
  // The text that a host returns is valid until the next call.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const auto chosen = static_cast<std::size_t>(value<int>(name::kFilter));
  if (chosen >= usable_filters().size()) {
    throw Failure(abi::kFailed,
                  "the project has a filter that this version of Limpid lacks; choose another filter");
  }
  const NamedFilter& filter = usable_filters()[chosen];
  plugins::Settings settings{{"filter", filter.info.name},
                             {"fields", kFieldChoices[std::clamp(value<int>(name::kFields), 0, 2)]},
                             {"repair", kRepairChoices[std::clamp(value<int>(name::kRepair), 0, 4)]},
                             {"settings", text(name::kOptions)}};
  const auto profile = static_cast<std::size_t>(value<int>(name::kProfile));
  if (profile < plugins::profile_names().size() &&
      plugins::has_profile(filter.info, plugins::profile_names()[profile])) {
    settings["profile"] = plugins::profile_names()[profile];
  }
  for_each_parameter(filter, [&](const limpid_parameter_info& parameter) {
    const std::string name = name_of(filter.info.name, parameter.name);
    if (!is_choice(parameter)) {
      settings[parameter.name] = text(name.c_str());
    } else if (const auto index = static_cast<std::size_t>(value<int>(name.c_str())); index > 0) {
      const std::vector<std::string> names = names_in(parameter.range);
      settings[parameter.name] = index <= names.size() ? names[index - 1] : "";
    }
  });
  settings = plugins::expanded(settings);
  if (settings.contains("settings")) {
    throw Failure(abi::kFailed, "the settings file '" + settings["settings"] +
                                    "' in Options is not supported, because the parameters would override "
                                    "it; write its settings as NAME=VALUE");
  }
  return {.settings = std::move(settings),
          .noise = static_cast<NoiseSource>(value<int>(name::kNoise)),
          .level = value<double>(name::kLevel),
          .strength = value<double>(name::kStrength),
          .engine = text(name::kEngine),
          .profile = text(name::kMeasuredProfile),
          .measured_scale = value<double>(name::kMeasuredScale)};
}

Part Parameters::rectangle() const {
  Part part{};
  get(name::kPosition, &part.x, &part.y);
  get(name::kSize, &part.width, &part.height);
  return part;
}

void Parameters::set_measured(const std::string& profile, const std::string& level, double scale) const {
  const abi::ParameterSuite& suite = *suites().parameters;
  suite.begin_edit(set_, "Measure noise");
  suite.set(handle(name::kMeasuredProfile), profile.c_str());
  suite.set(handle(name::kMeasuredLevel), level.c_str());
  suite.set(handle(name::kMeasuredScale), scale);
  suite.set(handle(name::kNoise), static_cast<int>(NoiseSource::kMeasured));
  suite.end_edit(set_);
}

void Parameters::show_filter() const {
  const int chosen = value<int>(name::kFilter);
  for (int i = 0; const NamedFilter& filter : usable_filters()) {
    abi::Properties properties = nullptr;
    suites().parameters->properties(handle(group_of(filter.info.name).c_str()), &properties);
    Properties(properties).set(abi::parameter::kSecret, i++ == chosen ? 0 : 1);
  }
}

}  // namespace limpid::openfx
