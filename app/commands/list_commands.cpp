// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/progress.h"
#include "app/console/json_report.h"
#include "app/options/command_line.h"
#include "app/options/settings_options.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"

// limpid filters and limpid devices: the filters with their parameters, and the engines.

namespace limpid::app {
namespace {

std::string text_of(const std::optional<double>& figure, int digits) {
  return figure ? fmt::format("{:.{}g}", *figure, digits) : "-";
}

void list_filters() {
  constexpr std::size_t kPurposeColumn = 50;
  std::cout << fmt::format("{:<18} {:>6} {:>8} {:>8} {:>5}  {}\n", "filter", "video", "pictures", "GPU",
                           "CPU", "purpose");
  for (const FilterType& type : filter_types()) {
    const FilterFigures figures = *figures_of(type.name, type.profiles.empty() ? "" : type.default_profile);
    const std::string purpose = type.help + (type.name == default_filter(false) ? " (default)" : "");
    std::cout << fmt::format("{:<18} {:>6} {:>8} {:>8} {:>5}  {}\n", type.name,
                             text_of(figures.video_psnr, 4), text_of(figures.picture_psnr, 4),
                             text_of(figures.gpu_ms, 3), text_of(figures.cpu_time, 2),
                             wrapped(purpose, kPurposeColumn, kPurposeColumn));
  }
  std::cout << "\n"
            << wrapped(kFigureSources, 0, 0)
            << "\n\n\"limpid filters NAME\" lists the parameters of a filter.\n";
}

// "4", "0.87" or "haar".
std::string text_of(const ParameterValue& value) {
  return std::visit([](const auto& each) { return fmt::format("{}", each); }, value);
}

std::string default_of(const Parameter<Filter>& parameter, const Filter& filter) {
  if (const std::optional<ParameterValue> value = parameter.get(filter)) {
    return text_of(*value);
  }
  return parameter.text.option == "delay" ? "unlimited" : "by noise";
}

/// `filter`: with the settings whose values are printed.
void list_parameters(const std::string& text) {
  constexpr std::size_t kHelpColumn = 42;
  const FilterText settings(text);
  const Filter filter = settings.filter();
  const FilterType& type = type_of(filter);
  std::cout << type.help << "\n\n";
  if (!type.profiles.empty()) {
    std::string names;
    for (const std::string& profile : type.profiles) {
      names += (names.empty() ? "" : ", ") + profile;
    }
    std::string qualities;
    for (const std::string& word : quality_words()) {
      const std::string profile = profile_for(type.profiles, word);
      qualities += (qualities.empty() ? "" : ", ") + word + (profile == word ? "" : " (" + profile + ")");
    }
    std::cout << "quality: " << qualities << " [" << quality_name(type.default_profile) << "]\n"
              << "profile: " << names << ", from fastest to best [" << type.default_profile << "]\n\n";
  }
  std::string group;
  for (const Parameter<Filter>& parameter : type.parameters) {
    const ParameterText& about = parameter.text;
    if (about.group != group) {
      group = about.group;
      std::cout << (&parameter == &type.parameters.front() ? "" : "\n") << group << ":\n";
    }
    // The help of a parameter with names lists them.
    const std::string range = about.range.empty() || !parameter.names.empty() ? "" : " (" + about.range + ")";
    std::cout << fmt::format("  {:<26} {:<12} {}\n", about.option, default_of(parameter, filter),
                             wrapped(about.help + range, kHelpColumn, kHelpColumn));
  }
  std::cout << fmt::format(
      "\nThe second column shows the values of {}. Use: --filter {}:OPTION=VALUE[:OPTION=VALUE]...\n", text,
      type.name);
}

int filters(const std::string& filter) {
  if (filter.empty()) {
    list_filters();
  } else {
    list_parameters(filter);
  }
  return kExitDone;
}

std::string memory_text(std::uint64_t bytes) {
  return bytes == 0 ? "-" : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

int list_devices(bool as_json) {
  const std::vector<EngineInfo> engines = engine_registry().list();
  if (as_json) {
    nlohmann::ordered_json json;
    json["engines"] = nlohmann::json::array();
    for (const EngineInfo& engine : engines) {
      json["engines"].push_back({{"name", engine.name},
                                 {"available", engine.available},
                                 {"memory_bytes", engine.memory_bytes},
                                 {"description", engine.description}});
    }
    print_report(json);
    return kExitDone;
  }
  std::size_t name_width = 6;
  for (const EngineInfo& engine : engines) {
    name_width = std::max(name_width, engine.name.size());
  }
  std::cout << fmt::format("{:<{}}  {:<9}  {:>10}  {}\n", "engine", name_width, "works", "memory",
                           "description");
  for (const EngineInfo& engine : engines) {
    std::cout << fmt::format("{:<{}}  {:<9}  {:>10}  {}\n", engine.name, name_width,
                             engine.available ? "yes" : "no", memory_text(engine.memory_bytes),
                             engine.description);
  }
  return kExitDone;
}

}  // namespace

void add_filters_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand("filters", "List the filters, or the parameters of a filter");
  auto filter = std::make_shared<std::string>();
  command
      ->add_option(
          "FILTER", *filter,
          "Filter whose parameters to list, with optional settings: vbm4d:quality=fast [all filters]")
      ->words(filter_names());
  command->callback([filter](Console&) { return filters(*filter); });
}

void add_devices_command(CommandLine& program) {
  CommandLine* command = program.add_subcommand("devices", "List the engines (CPU and GPUs), best first");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([as_json](Console&) { return list_devices(*as_json); });
}

}  // namespace limpid::app
