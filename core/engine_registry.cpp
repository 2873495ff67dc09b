#include <algorithm>
#include <utility>

#include "core/cpu/cpu_engine.h"
#include "core/denoiser.h"
#include "core/engine_group.h"
#include "core/engine_module.h"
#include "core/error.h"

namespace limpid {
namespace {

// Whether `name` is a device of a family that lists none: "cuda:1" of "cuda".
bool is_device_of(std::string_view name, const std::string& family) {
  const std::string prefix = family + ":";
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

}  // namespace

EngineRegistry::EngineRegistry() {
  add([] { return std::vector<EngineInfo>{cpu::describe_cpu()}; },
      [](std::string_view /*name*/, const EngineOptions& options) { return cpu::open_cpu(options); });
  EngineModule cuda = load_engine_module("cuda");
  add(std::move(cuda.list), std::move(cuda.open));
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
  std::vector<std::shared_ptr<Engine>> engines;
  for (const std::string& single : expand_engine_name(name, list())) {
    engines.push_back(open_one(single, options));
  }
  return engines.size() == 1 ? engines.front() : make_engine_group(std::string(name), std::move(engines));
}

std::shared_ptr<Engine> EngineRegistry::open_one(std::string_view name, const EngineOptions& options) const {
  const std::scoped_lock lock(mutex_);
  std::string known = "auto";
  for (const Family& family : families_) {
    for (const EngineInfo& engine : family.list()) {
      known += ", " + engine.name;
      const bool asked = engine.name == name || (!engine.available && is_device_of(name, engine.name));
      if (name == "auto" ? !engine.available : !asked) {
        continue;
      }
      if (!engine.available) {
        throw Error("the engine \"" + std::string(name) + "\" can't run: " + engine.description);
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
