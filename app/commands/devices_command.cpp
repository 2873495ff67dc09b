// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "app/console/json_report.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"

namespace limpid::app {
namespace {

std::string memory_text(std::uint64_t bytes) {
  return bytes == 0 ? "-" : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

int list_devices(bool as_json) {
  const std::vector<EngineInfo> engines = engine_registry().list();
  if (as_json) {
    nlohmann::ordered_json json;
    json["engines"] = nlohmann::json::array();
    for (const EngineInfo& engine : engines) {
      nlohmann::ordered_json entry;
      entry["name"] = engine.name;
      entry["available"] = engine.available;
      entry["memory_bytes"] = engine.memory_bytes;
      entry["description"] = engine.description;
      json["engines"].push_back(entry);
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

void add_devices_command(CommandLine& program, Command& selected) {
  CommandLine* command = program.add_subcommand("devices", "List the engines (CPU and GPUs), best first");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback(
      [&selected, as_json] { selected = [as_json](Console&) { return list_devices(*as_json); }; });
}

}  // namespace limpid::app
