// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engine/engine_group.h"

namespace limpid {
namespace {

// True if `name` is a device of a family, and the family has listed no devices: "cuda:1" for "cuda".
bool is_device_of(std::string_view name, const std::string& family) {
  const std::string prefix = family + ":";
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

UsageError no_such_engine(std::string_view name, const std::vector<EngineInfo>& engines) {
  std::string known = "auto";
  for (const EngineInfo& engine : engines) {
    known += ", " + engine.name;
  }
  return UsageError("there is no engine \"" + std::string(name) + "\"; there are " + known);
}

}  // namespace

void EngineRegistry::add(std::string family, Lister list, Opener open) {
  auto added = std::make_shared<const Family>(Family{std::move(family), std::move(list), std::move(open)});
  const std::scoped_lock lock(mutex_);
  families_.insert(families_.begin(), std::move(added));
}

EngineRegistry::Families EngineRegistry::families() const {
  const std::scoped_lock lock(mutex_);
  return families_;
}

std::vector<EngineInfo> EngineRegistry::list() const {
  std::vector<EngineInfo> engines;
  for (const auto& family : families()) {
    std::ranges::move(family->list(), std::back_inserter(engines));
  }
  return engines;
}

std::shared_ptr<Engine> EngineRegistry::open(std::string_view name, const EngineOptions& options) const {
  const std::string_view family_name = name.substr(0, name.find(':'));
  for (const auto& family : families()) {
    if (name != "auto" && family->name != family_name) {
      continue;
    }
    const std::vector<EngineInfo> engines = family->list();
    if (name == "auto") {
      const auto first = std::ranges::find_if(engines, &EngineInfo::available);
      if (first != engines.end()) {
        return family->open(first->name, options);
      }
      continue;
    }
    const std::vector<std::string> names = expand_engine_name(name, engines);
    for (const std::string& single : names) {
      const auto asked = std::ranges::find_if(engines, [&](const EngineInfo& engine) {
        return engine.name == single || (!engine.available && is_device_of(single, engine.name));
      });
      if (asked == engines.end()) {
        throw no_such_engine(single, list());
      }
      if (!asked->available) {
        throw Error("the engine \"" + single + "\" is not available: " + asked->description);
      }
    }
    std::vector<std::shared_ptr<Engine>> opened;
    opened.reserve(names.size());
    for (const std::string& single : names) {
      opened.push_back(family->open(single, options));
    }
    return opened.size() == 1 ? opened.front() : make_engine_group(std::string(name), std::move(opened));
  }
  if (name == "auto") {
    throw Error("no engine is available on this machine");
  }
  throw no_such_engine(name, list());
}

}  // namespace limpid
