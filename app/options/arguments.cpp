// SPDX-License-Identifier: MIT
#include "app/options/arguments.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/settings/filter_settings.h"

namespace limpid::app {
namespace {

/// An option of other programs, such as ffmpeg and HandBrake, and what replaces it here.
struct ForeignOption {
  std::string_view names;   ///< without dashes, separated by spaces
  std::string_view own;     ///< option of Limpid, perhaps with its value; empty: none
  std::string_view advice;  ///< sentence for commands without the option `own`
};

// Names of ffmpeg, HandBrake, plug-ins for VapourSynth, Neat Video and Av1an.
// tests/app/manual compares them with docs/coming-from.md.
constexpr std::array kForeignOptions = std::to_array<ForeignOption>({
    {"i input in", "", "name the input without an option"},
    {"output-dir outdir", "--output", ""},
    {"ss seek from begin start-at", "--start", ""},
    {"to until stop-at", "--end", ""},
    {"t time length", "--duration", ""},
    {"frames:v vframes dry-run duration", "--frames", ""},
    {"c:v codec:v vcodec video-codec encoder", "--codec", ""},
    {"c:a codec:a acodec aencoder", "--audio-codec", ""},
    {"b b:v vb", "--bitrate", ""},
    {"b:a ab", "--audio-bitrate", ""},
    {"q q:v qscale qscale:v rf target-quality vmaf", "--crf", ""},
    {"two-pass multi-pass 2-pass pass turbo", "", "encoders run in one pass; --crf N sets the quality"},
    {"encoder-preset", "--preset", ""},
    {"tune encoder-tune", "--encoder-option tune=VALUE", ""},
    {"profile:v encoder-profile", "--encoder-option profile=VALUE", ""},
    {"x264-params x264opts", "--encoder-option x264-params=VALUE", ""},
    {"x265-params", "--encoder-option x265-params=VALUE", ""},
    {"maxrate", "--encoder-option maxrate=VALUE", ""},
    {"bufsize", "--encoder-option bufsize=VALUE", ""},
    {"g keyint", "--encoder-option g=VALUE", ""},
    {"film-grain-table fgs-table", "--grain FILE.tbl", ""},
    {"film-grain photon-noise aom-params denoise-noise-level", "--grain keep", ""},
    {"movflags optimize faststart", "", "MP4 and MOV files begin with their index"},
    {"lossless", "--codec ffv1", ""},
    {"output-depth 10bit bits depth bit-depth", "--pix-fmt yuv420p10le", ""},
    {"an", "--no-audio", ""},
    {"sn no-subs", "--no-subtitles", ""},
    {"dn", "--no-data", ""},
    {"vf filter:v filter_complex lavfi", "",
     "--before CHAIN and --after CHAIN filter the frames before and after the denoiser"},
    {"af filter:a", "", "audio is copied; ffmpeg filters it"},
    {"after", "",
     "only \"limpid denoise\", \"limpid plan\", \"limpid preview\" and \"limpid compare\" filter after the "
     "denoiser"},
    {"deinterlace yadif bwdif decomb comb-detect", "--after bwdif", ""},
    {"interlaced progressive", "--fields", ""},
    {"detelecine pullup fieldmatch", "--before fieldmatch,decimate", ""},
    {"crop", "--before crop=WIDTH:HEIGHT:X:Y", ""},
    {"rotate transpose", "", "rotation is kept; --after transpose=1 turns the picture"},
    {"deblock chroma-smooth lapsharp unsharp sharpen deband", "",
     "--after CHAIN takes the filters of FFmpeg, such as deblock, unsharp and deband"},
    {"r fps rate framerate vsync fps_mode cfr vfr pfr", "",
     "limpid keeps the times of all frames; --after fps=RATE changes them"},
    {"s scale size resolution width height maxwidth maxheight upscale", "",
     "limpid keeps the size of the picture; --after scale=WIDTH:HEIGHT changes it"},
    {"aspect pixel-aspect", "", "the shape of the pixels is kept; --after setsar=RATIO changes it"},
    {"color_primaries color_trc colorspace color_range color-matrix hdr sdr to-sdr tonemap tone-map", "",
     "colors and HDR are kept; --for web converts them to BT.709"},
    {"map map_metadata metadata title all-audio all-subtitles", "",
     "limpid copies all streams, tags and chapters"},
    {"hide_banner nostdin nostats re shortest smart-profile auto-profile", "", "it is not needed"},
    {"draw", "", "\"limpid preview\" draws the noise, and --json has its figures"},
    {"lang", "", "there are English texts only"},
    {"v loglevel verbose debug", "--log-level", ""},
    {"report", "--log-file", ""},
    {"skip-existing skip", "--no-overwrite", ""},
    {"silent", "--quiet", ""},
    {"force yes", "--overwrite", ""},
    {"gpu cuda nvidia", "--engine cuda", ""},
    {"cpu", "--engine cpu", ""},
    {"device", "--engine", ""},
    {"jobs j workers", "--threads", ""},
    {"strength planes noise", "--filters vbm4d:strength=light,vbm4d:strength=strong", ""},
    {"level denoise amount nlmeans hqdn3d noise-reduction h", "--strength", ""},
    {"nlmeans-tune nlmeans-preset", "", "the noise of each scene is estimated; --strength adjusts it"},
    {"luma chroma luma-strength chroma-strength strength-luma strength-chroma luma-only chroma-only", "",
     "--strength LUMA,CHROMA sets both, and --planes luma or chroma filters one"},
    {"knl", "--filter nlm", ""},
    {"a", "--filter nlm:search-window=VALUE", ""},
    {"d temporal temporal-radius", "--reach", ""},
    {"blend", "--mix", ""},
    {"fast", "--quality fast", ""},
    {"region", "", "\"limpid noise --region\" measures a region"},
    {"noise-level", "--sigma", ""},
    {"recursive subfolders", "", "subfolders are not searched; name each folder"},
    {"list cameras camera engines gpus", "",
     "\"limpid filters\" lists the filters, \"limpid devices\" the engines, \"limpid webcam --list\" the "
     "cameras"},
    {"version", "", "\"limpid --version\" prints it"},
});

bool lists(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::string_view first = names.substr(0, names.find(' '));
    if (first == name) {
      return true;
    }
    names.remove_prefix(std::min(names.size(), first.size() + 1));
  }
  return false;
}

/// Null for other names. `name`: without dashes.
const ForeignOption* find_foreign_option(std::string_view name) {
  const auto found = std::ranges::find_if(
      kForeignOptions, [name](const ForeignOption& each) { return lists(each.names, name); });
  return found == kForeignOptions.end() ? nullptr : &*found;
}

/// The name of an option in messages: the long one.
const std::string& long_name_of(const OptionText& option) { return option.names.back(); }

std::string with_value(const OptionText& option) {
  return option.value.empty() ? long_name_of(option) : long_name_of(option) + " " + option.value;
}

bool is_option(std::string_view argument) { return argument.size() > 1 && argument.starts_with('-'); }

/// A word such as fps_mode: neither a value nor a file.
bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == ':';
  });
}

/// The name without its dashes and without a value behind "=".
std::string bare(std::string_view argument) {
  std::string name(argument.substr(0, argument.find('=')));
  name.erase(0, name.find_first_not_of('-'));
  return name;
}

class ArgumentReader {
 public:
  ArgumentReader(const std::vector<std::string>& arguments, const CommandText& command,
                 const std::string& program)
      : arguments_(arguments),
        command_(command),
        name_(program.empty() ? command.name : program + " " + command.name) {}

  GivenArguments run() {
    bool only_positional = false;
    while (at_ < arguments_.size()) {
      const std::string& argument = arguments_[at_++];
      if (only_positional || !is_option(argument)) {
        take_positional(argument);
      } else if (argument == "--") {
        only_positional = true;
      } else if (argument.starts_with("--")) {
        take_long(argument);
      } else {
        take_short(argument);
      }
    }
    warn();
    return std::move(given_);
  }

 private:
  const OptionText* find(const std::string& name) const {
    const auto found = std::ranges::find_if(command_.options, [&](const OptionText& option) {
      return !option.is_argument && std::ranges::find(option.names, name) != option.names.end();
    });
    return found == command_.options.end() ? nullptr : &*found;
  }

  /// The option with this long name, which may be written with underscores or in capitals.
  const OptionText* find_long(std::string name) const {
    for (char& letter : name) {
      letter = letter == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return name.size() > 1 ? find("--" + name) : nullptr;
  }

  void take_long(const std::string& argument) {
    if (argument == "--help-all") {  // not listed for commands without advanced options
      given_.values[argument];
      return;
    }
    const std::size_t equals = argument.find('=');
    const OptionText* const option = find(argument.substr(0, equals));
    if (option == nullptr) {
      refuse(argument);
    }
    if (equals == std::string::npos) {
      take(*option);
    } else if (option->value.empty()) {
      throw UsageError(long_name_of(*option) + ": takes no value");
    } else {
      count(*option, argument.substr(equals + 1));
    }
  }

  /// -o, or several flags as in -yq, of which the last may be an option with a value.
  void take_short(const std::string& argument) {
    std::vector<const OptionText*> options;
    for (const char letter : argument.substr(1)) {
      options.push_back(find({'-', letter}));
    }
    const auto is_flag = [](const OptionText* option) { return option != nullptr && option->value.empty(); };
    if (find_long(bare(argument)) != nullptr || options.back() == nullptr ||
        !std::all_of(options.begin(), options.end() - 1, is_flag)) {
      refuse(argument);
    }
    std::ranges::for_each(options, [this](const OptionText* option) { take(*option); });
  }

  void take_positional(const std::string& argument) {
    for (const OptionText& option : command_.options) {
      if (option.is_argument && (option.many || !given_.values.contains(option.names.front()))) {
        given_.values[option.names.front()].push_back(argument);
        return;
      }
    }
    given_.surplus = given_.surplus.value_or(argument);
  }

  /// Takes the value from the next argument.
  void take(const OptionText& option) {
    if (option.value.empty()) {
      given_.values[long_name_of(option)].emplace_back();
      return;
    }
    if (at_ == arguments_.size() || is_known(arguments_[at_])) {
      refuse_without_value(option);
    }
    count(option, arguments_[at_++]);
  }

  [[noreturn]] static void refuse_without_value(const OptionText& option) {
    throw UsageError(
        fmt::format("{}: the value {} is missing ({})", long_name_of(option), option.value, option.help));
  }

  bool is_known(const std::string& argument) const {
    return is_option(argument) &&
           (find(argument.substr(0, argument.find('='))) != nullptr || find_long(bare(argument)) != nullptr);
  }

  void count(const OptionText& option, const std::string& value) {
    if (value.empty() && arguments_[at_ - 1].ends_with('=')) {
      refuse_without_value(option);
    }
    std::vector<std::string>& values = given_.values[long_name_of(option)];
    values.push_back(value);
    if (values.size() == 2 && option.names.front() == "-o") {
      throw UsageError(
          fmt::format("-o is given twice, with {} and {}; a run has one output", values[0], values[1]));
    }
  }

  /// Leaves the last value of options that take one.
  void warn() {
    for (const OptionText& option : command_.options) {
      const auto found = given_.values.find(long_name_of(option));
      if (found == given_.values.end() || option.many || option.value.empty()) {
        continue;
      }
      std::vector<std::string>& values = found->second;
      if (values.size() > 1) {
        given_.warnings.push_back(fmt::format("{} is given {} times; the last value, {}, is used",
                                              long_name_of(option), values.size(), values.back()));
        values.erase(values.begin(), values.end() - 1);
      }
    }
  }

  [[noreturn]] void refuse(const std::string& argument) const {
    const std::string given = argument.substr(0, argument.find('='));
    const std::string name = bare(argument);
    if (const OptionText* const option = find_long(name)) {
      throw UsageError(fmt::format("{} {}: {}", given,
                                   given.starts_with("--") ? "is written with hyphens" : "needs two dashes",
                                   with_value(*option)));
    }
    const ForeignOption* foreign = find_foreign_option(lower_case(name));
    if (foreign != nullptr && !foreign->own.empty()) {
      const std::string own(foreign->own);
      const OptionText* const option = find(own.substr(0, own.find(' ')));
      if (option != nullptr) {
        refuse_with(given,
                    fmt::format("use {}", own.find(' ') == std::string::npos ? with_value(*option) : own));
      }
    } else if (foreign != nullptr) {
      refuse_with(given, std::string(foreign->advice));
    }
    refuse_parameter(given, name);
    refuse_default(given, name);
    refuse_attached(argument);
    if (std::error_code ignored; std::filesystem::exists(argument, ignored)) {
      refuse_with(given, "for the file of this name, write ./" + argument);
    }
    const std::string meant = did_you_mean(name, candidates(name));
    throw UsageError(fmt::format("there is no option {}{}", given,
                                 meant.empty() ? "; " + name_ + " --help lists the options" : meant));
  }

  [[noreturn]] void refuse_with(const std::string& given, const std::string& advice) const {
    throw UsageError(fmt::format("there is no option {} in {}; {}", given, name_, advice));
  }

  /// Parameters of filters.
  void refuse_parameter(const std::string& given, const std::string& name) const {
    if (const std::vector<const FilterType*> filters = filters_with(name); !filters.empty()) {
      const auto preferred = std::ranges::find(filters, default_filter(false), &FilterType::name);
      const FilterType& filter = preferred == filters.end() ? *filters.front() : **preferred;
      throw UsageError(fmt::format("{} is not an option; give it to a filter: --filter {}:{}=VALUE", given,
                                   filter.name, name));
    }
  }

  /// --audio where --no-audio exists.
  void refuse_default(const std::string& given, const std::string& name) const {
    for (const std::string_view prefix : {"", "copy-", "keep-", "with-"}) {
      const std::string part = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
      if (const OptionText* const option = part.empty() ? nullptr : find("--no-" + part)) {
        refuse_with(given, fmt::format("this is the default, and {} turns it off", long_name_of(*option)));
      }
    }
  }

  /// -oclean.mkv and -o=clean.mkv.
  void refuse_attached(const std::string& argument) const {
    const std::string name = argument.substr(0, 2);
    const OptionText* const option = find(name);
    if (option == nullptr || option->value.empty()) {
      return;
    }
    const bool has_equals = argument[2] == '=';
    if (has_equals || !is_word(std::string_view(argument).substr(2))) {
      throw UsageError(fmt::format("{}: separate the option from its value: {} {}", argument, name,
                                   argument.substr(has_equals ? 3 : 2)));
    }
  }

  /// The long names without those that mean the opposite of `name`.
  std::vector<std::string> candidates(const std::string& name) const {
    std::vector<std::string> names;
    for (const OptionText& option : command_.options) {
      if (!option.is_argument && option.names.back().starts_with("--no-") == name.starts_with("no-")) {
        names.push_back(option.names.back());
      }
    }
    return names;
  }

  const std::vector<std::string>& arguments_;
  const CommandText& command_;
  const std::string name_;
  std::size_t at_ = 0;
  GivenArguments given_;
};

}  // namespace

std::string foreign_advice(const std::string& word) {
  const ForeignOption* const foreign = find_foreign_option(word);
  return foreign == nullptr ? "" : std::string(foreign->advice);
}

GivenArguments read_arguments(const std::vector<std::string>& arguments, const CommandText& command,
                              const std::string& program) {
  return ArgumentReader(arguments, command, program).run();
}

}  // namespace limpid::app
