#include <algorithm>

#include "core/cpu/cpu_engine.h"
#include "core/denoiser.h"
#include "core/error.h"

namespace limpid {

EngineRegistry::EngineRegistry() {
  add([] { return std::vector<EngineInfo>{cpu::describe_cpu()}; },
      [](std::string_view /*name*/, const EngineOptions& options) { return cpu::open_cpu(options); });
}

EngineRegistry& EngineRegistry::instance() {
  static EngineRegistry registry;
  return registry;
}

void EngineRegistry::add(Lister list, Opener open) {
  const std::scoped_lock lock(mutex_);
  families_.insert(families_.begin(), {std::move(list), std::move(open)});
}

std::vector<EngineInfo> EngineRegistry::list() const {
  const std::scoped_lock lock(mutex_);
  std::vector<EngineInfo> engines;
  for (const Family& family : families_) {
    std::ranges::move(family.list(), std::back_inserter(engines));
  }
  return engines;
}

std::shared_ptr<Engine> EngineRegistry::open(std::string_view name, const EngineOptions& options) const {
  const std::scoped_lock lock(mutex_);
  std::string known = "auto";
  for (const Family& family : families_) {
    for (const EngineInfo& engine : family.list()) {
      known += ", " + engine.name;
      if (name == "auto" ? !engine.available : engine.name != name) {
        continue;
      }
      if (!engine.available) {
        throw Error("the engine \"" + engine.name + "\" can't run: " + engine.description);
      }
      return family.open(engine.name, options);
    }
  }
  if (name == "auto") {
    throw Error("no engine can run on this machine");
  }
  throw UsageError("there is no engine \"" + std::string(name) + "\"; there are " + known);
}

}  // namespace limpid
