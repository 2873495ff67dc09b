// SPDX-License-Identifier: MIT
#include "app/options/command_line.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/settings/filter_settings.h"

namespace limpid::app {
namespace {

/// The complaint about a value that is not a number from `least` to `most`; empty for legal ones.
template <typename Number>
std::string out_of_range(const std::string& text, Number least, Number most, const std::string& expected) {
  const std::optional<Number> number = to_number<Number>(text);
  return number && *number >= least && *number <= most ? "" : fmt::format("'{}' is not {}", text, expected);
}

/// Each sets `value` to the last of the values or to all, and returns a complaint or an empty text.
std::string store(const std::vector<std::string>& values, std::string& value) {
  value = values.back();
  return "";
}
std::string store(const std::vector<std::string>& values, std::filesystem::path& value) {
  value = values.back();
  return "";
}
std::string store(const std::vector<std::string>& values, std::vector<std::string>& value) {
  value = values;
  return "";
}
std::string store(const std::vector<std::string>& /*values*/, bool& value) {
  value = true;
  return "";
}
template <typename Number>
std::string store(const std::vector<std::string>& values, Number& value) {
  const std::optional<Number> number = to_number<Number>(values.back());
  value = number.value_or(value);
  return number ? ""
                : fmt::format("'{}' is not a {}", values.back(),
                              std::is_integral_v<Number> ? "whole number" : "number");
}
template <typename Item>
std::string store(const std::vector<std::string>& values, std::optional<Item>& value) {
  return store(values, value.emplace());
}
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();

constexpr std::size_t kHelpColumn = 27;

/// A name and a text beside it, or below it if the name is too long.
std::string row(const std::string& name, const std::string& help) {
  std::string line = "  " + name;
  if (line.size() + 2 > kHelpColumn) {
    line += "\n" + std::string(kHelpColumn, ' ');
  } else {
    line.resize(kHelpColumn, ' ');
  }
  return line + wrapped(help, kHelpColumn, kHelpColumn) + "\n";
}

std::string name_of(const OptionText& option) {
  std::string name;
  for (const std::string& each : option.names) {
    name += (name.empty() ? "" : ", ") + each;
  }
  return option.value.empty() || option.is_argument ? name : name + " " + option.value;
}

std::string options_of(const CommandText& command, bool all) {
  std::vector<std::string> groups;
  for (const OptionText& option : command.options) {
    if (!option.is_argument && std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    std::string rows;
    for (const OptionText& option : command.options) {
      if (!option.is_argument && option.group == group && (all || !option.advanced)) {
        const bool details = all && !option.details.empty();
        rows += row(name_of(option), option.help + (details ? ". " + option.details : ""));
      }
    }
    if (!rows.empty()) {
      text.append("\n").append(group).append(":\n").append(rows);
    }
  }
  return text;
}

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
     "limpid keeps the times of all frames; --after fps=RATE changes them, and --input-option framerate=RATE "
     "those of a series of pictures"},
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
    {"version", "", "\"limpid --version\" prints it"},
    {"list cameras camera engines gpus", "",
     "\"limpid filters\" lists the filters, \"limpid devices\" the engines, \"limpid webcam --list\" the "
     "cameras"},
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

/// Assigns `arguments`, which follow the name of `command`, to its options. Throws UsageError for an unknown
/// option, for long names with one dash, for values that are missing or attached to a short name, and for a
/// second -o; the message names the option to use. Warns of each other option that is repeated without need.
/// `program` is "limpid", or empty for a command of its own.
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
    name = lower_case(name);
    std::ranges::replace(name, '_', '-');
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

/// A sentence for a word of other programs that no option or command here replaces; empty for other words.
std::string foreign_advice(const std::string& word) {
  const ForeignOption* const foreign = find_foreign_option(word);
  return foreign == nullptr ? "" : std::string(foreign->advice);
}

}  // namespace

Option* Option::one_of(const std::vector<std::string>& values) {
  return words(values)->check([values](const std::string& text) {
    const bool legal = std::ranges::find(values, text) != values.end();
    return legal ? "" : fmt::format("'{}' is not one of {}", text, fmt::join(values, ", "));
  });
}

Option* Option::in_range(int least, int most) {
  return check([least, most](const std::string& text) {
    return out_of_range(text, least, most, fmt::format("a whole number from {} to {}", least, most));
  });
}

Option* Option::in_range(double least, double most) {
  return check([least, most](const std::string& text) {
    return out_of_range(text, least, most, fmt::format("a number from {} to {}", least, most));
  });
}

Option* Option::positive() {
  return check([](const std::string& text) {
    return out_of_range<std::int64_t>(text, 1, kMostNumber, "a whole number from 1 on");
  });
}

Option* Option::not_negative() {
  return check([](const std::string& text) {
    return out_of_range<std::int64_t>(text, 0, kMostNumber, "a whole number from 0 on");
  });
}

Option* Option::words(const std::vector<std::string>& words) {
  text_.words.insert(text_.words.end(), words.begin(), words.end());
  return this;
}

Option* Option::file(const std::string& ending) {
  text_.ending = ending;
  return set(text_.files, Files::kFile);
}

void Option::take(std::vector<std::string> values) const {
  const auto require = [this](const std::string& complaint) {
    if (!complaint.empty()) {
      throw UsageError(name() + ": " + complaint);
    }
  };
  for (std::string& value : values) {
    value = any_case_ ? lower_case(value) : value;
    require(check_ ? check_(value) : "");
  }
  require(store_(values));
}

template <typename Value>
Option* CommandLine::add_option(const std::string& names, Value& value, const std::string& help) {
  OptionText text;
  for (std::size_t begin = 0; begin < names.size(); begin += text.names.back().size() + 1) {
    text.names.push_back(names.substr(begin, names.find(',', begin) - begin));
  }
  text.is_argument = !names.starts_with('-');
  text.value = "VALUE";
  text.many = std::is_same_v<Value, std::vector<std::string>>;
  text.help = help;
  text.group = option_group_;
  return &options_.emplace_back(
      std::move(text), [&value](const std::vector<std::string>& values) { return store(values, value); });
}

Option* CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  return add_option(names, value, help)->type_name("");
}

CommandLine* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
  return subcommands_.emplace_back(std::make_unique<CommandLine>(description, name)).get();
}

std::vector<CommandLine*> CommandLine::get_subcommands() const {
  std::vector<CommandLine*> subcommands;
  for (const auto& subcommand : subcommands_) {
    subcommands.push_back(subcommand.get());
  }
  return subcommands;
}

CommandText CommandLine::text() const {
  CommandText text{name_, description_, footer_, examples_, {}, {}, group_};
  for (const Option& option : options_) {
    text.options.push_back(option.text());
  }
  const bool layered = std::ranges::any_of(
      text.options, [](const OptionText& option) { return option.advanced || !option.details.empty(); });
  const auto add = [&](std::vector<std::string> names, const char* help, const std::string& group) {
    OptionText& added = text.options.emplace_back();
    added.names = std::move(names);
    added.help = help;
    added.group = group;
  };
  add({"-h", "--help"}, "Print this help and exit", help_group_);
  if (layered) {
    add({"--help-all"}, "Print the help of all options and exit", help_group_);
  }
  if (!version_.empty()) {
    add({"-V", "--version"}, "Print the versions of the program and its libraries and exit", "Options");
  }
  for (const auto& subcommand : subcommands_) {
    text.commands.push_back(subcommand->text());
  }
  return text;
}

void CommandLine::explain_missing_command(const std::vector<std::string>& arguments) const {
  const auto word =
      std::ranges::find_if(arguments, [](const std::string& argument) { return !argument.starts_with('-'); });
  const std::string hint = "; " + name_ + " --help lists the commands";
  if (word == arguments.end()) {
    throw UsageError(fmt::format("the command is missing{}", hint));
  }
  std::vector<std::string> names;
  for (const auto& command : subcommands_) {
    names.push_back(command->name_);
  }
  if (std::ranges::find(names, *word) != names.end()) {
    throw UsageError(fmt::format("options follow the command: {} {} {}", name_, *word, arguments.front()));
  }
  if (std::error_code ignored; std::filesystem::exists(*word, ignored)) {
    std::vector<std::string> rest = arguments;
    std::erase(rest, "-i");
    throw UsageError(
        fmt::format("the command is missing; perhaps: {} {} {}", name_, names.front(), fmt::join(rest, " ")));
  }
  if (word->find_first_of("./") != std::string::npos) {
    throw UsageError(fmt::format("{}: no such file; {} {} FILE denoises a video or picture{}", *word, name_,
                                 names.front(), hint));
  }
  const std::string advice = foreign_advice(*word);
  const std::string meant = did_you_mean(*word, names);
  throw UsageError(fmt::format("there is no command '{}'{}", *word,
                               !advice.empty() ? "; " + advice
                               : meant.empty() ? hint
                                               : meant));
}

std::optional<std::string> CommandLine::parse_own(const std::vector<std::string>& arguments,
                                                  const std::string& program) {
  const CommandText own = text();
  given_ = ArgumentReader(arguments, own, program).run();
  const auto& values = given_.values;
  if (values.contains("--help") || values.contains("--help-all")) {
    return help_text(own, program, values.contains("--help-all"));
  }
  if (values.contains("--version")) {
    return version_ + "\n";
  }
  if (given_.surplus) {
    throw UsageError(
        fmt::format("'{}' is one argument too many: {}", *given_.surplus, usage_line(own, program)));
  }
  for (const Option& option : options_) {
    if (const auto found = values.find(option.name()); found != values.end()) {
      option.take(found->second);
    } else if (option.text().required) {
      throw UsageError(fmt::format("{} is missing: {}", option.name(), usage_line(own, program)));
    }
  }
  return std::nullopt;
}

std::optional<std::string> CommandLine::parse(std::vector<std::string> arguments) {
  chosen_ = this;
  if (subcommands_.empty()) {
    return parse_own(arguments, "");
  }
  if (!arguments.empty() && arguments.front() == "help") {
    arguments = arguments.size() > 1 ? std::vector<std::string>{arguments[1], "--help"}
                                     : std::vector<std::string>{"--help"};
  }
  const std::string first = arguments.empty() ? "" : arguments.front();
  const auto command =
      std::ranges::find_if(subcommands_, [&](const auto& each) { return each->name_ == first; });
  if (command != subcommands_.end()) {
    chosen_ = command->get();
    return (*command)->parse_own({arguments.begin() + 1, arguments.end()}, name_);
  }
  for (const OptionText& option : text().options) {
    if (first == "--help-all" || std::ranges::find(option.names, first) != option.names.end()) {
      return parse_own({first}, "");
    }
  }
  explain_missing_command(arguments);
}

using Text = const std::string&;
template Option* CommandLine::add_option(Text, std::string&, Text);
template Option* CommandLine::add_option(Text, std::optional<std::string>&, Text);
template Option* CommandLine::add_option(Text, std::vector<std::string>&, Text);
template Option* CommandLine::add_option(Text, std::filesystem::path&, Text);
template Option* CommandLine::add_option(Text, int&, Text);
template Option* CommandLine::add_option(Text, std::optional<int>&, Text);
template Option* CommandLine::add_option(Text, std::int64_t&, Text);
template Option* CommandLine::add_option(Text, float&, Text);
template Option* CommandLine::add_option(Text, std::optional<float>&, Text);
template Option* CommandLine::add_option(Text, double&, Text);

std::vector<std::pair<std::string, std::string>> parse_pairs(const std::string& option,
                                                             const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(fmt::format("{}: '{}' is not of the form key=value", option, text));
    }
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

std::string wrapped(const std::string& text, std::size_t first, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = first;
  bool begins = true;
  for (std::string word; words >> word; begins = false) {
    if (!begins && column + 1 + word.size() > kHelpWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
      begins = true;
    }
    result += (begins ? "" : " ") + word;
    column += word.size() + (begins ? 0 : 1);
  }
  return result;
}

std::string usage_line(const CommandText& command, const std::string& program) {
  std::string text = program.empty() ? "" : program + " ";
  text += command.name;
  if (!command.commands.empty()) {
    return text + " COMMAND [OPTION]... [ARGUMENT]...";
  }
  text += " [OPTION]...";
  for (const OptionText& option : command.options) {
    if (option.is_argument) {
      const std::string name = option.names.front() + (option.many ? "..." : "");
      text += option.required ? " " + name : " [" + name + "]";
    } else if (option.required) {
      text += " " + option.names.front() + " " + option.value;
    }
  }
  return text;
}

std::string help_text(const CommandText& command, const std::string& program, bool all) {
  std::string text = command.help + (command.help.ends_with('.') ? "" : ".") + "\n\n";
  text += "Usage: " + usage_line(command, program) + "\n";
  std::string arguments;
  for (const OptionText& option : command.options) {
    arguments += option.is_argument ? row(option.names.front(), option.help) : "";
  }
  text += arguments.empty() ? "" : "\n" + arguments;
  std::string group;
  for (const CommandText& each : command.commands) {
    text += each.group == group ? "" : "\n" + each.group + ":\n";
    group = each.group;
    text += row(each.name, each.help);
  }
  text += options_of(command, all);
  for (const std::string& example : command.examples) {
    text += (&example == &command.examples.front() ? "\nExamples:\n  " : "  ") + example + "\n";
  }
  std::istringstream footer(command.footer);
  for (std::string line; std::getline(footer, line);) {
    // Indented lines are tables.
    text += "\n" + (line.starts_with(' ') ? line : wrapped(line, 0, 0));
  }
  return text + (command.footer.empty() ? "" : "\n");
}

}  // namespace limpid::app
