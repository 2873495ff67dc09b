// SPDX-License-Identifier: MIT

#include "core/engine/engine_module.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/system.h"
#include "core/engine/denoiser.h"
#include "core/engine/engine_group.h"
#include "core/engine/engine_module_names.h"

namespace limpid {
namespace {

using std::filesystem::path;

// The name of a module in `folder` that belongs to another version.
std::optional<path> other_version(const path& folder, const std::string& stem) {
  std::error_code error;
  const path begin = stem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const path::string_type name = entry.path().filename();
    if (name.starts_with(begin.native()) && entry.path().extension() == kModuleSuffix &&
        (name[stem.size()] == '-' || name[stem.size()] == '.')) {
      return entry.path();
    }
  }
  return std::nullopt;
}

class Loader {
 public:
  Loader(std::string family, std::vector<path> folders)
      : family_(std::move(family)), folders_(std::move(folders)) {}

  std::vector<EngineInfo> list() {
    std::call_once(once_, [this] { load(); });
    if (module_.list) {
      return module_.list();
    }
    return {{.name = family_, .description = problem_, .memory_bytes = 0, .available = false}};
  }

  // The registry opens only available engines of list().
  std::shared_ptr<Engine> open(std::string_view name, const EngineOptions& options) const {
    return module_.open(name, options);
  }

 private:
  void load() {
    const std::string stem = "liblimpid_" + family_;
    const std::string file = stem + "-" + kVersion + kModuleSuffix;
    std::error_code error;
    for (const path& folder : folders_) {
      // A dangling link counts as a file here, so that it is reported.
      const bool there = std::filesystem::exists(std::filesystem::symlink_status(folder / file, error));
      if (there && load(folder / file)) {
        return;
      }
    }
    for (const path& folder : folders_) {
      const std::optional<path> other = problem_.empty() ? other_version(folder, stem) : std::nullopt;
      if (other) {
        problem_ = text_of(*other) + " belongs to a different version of Limpid; this is version " + kVersion;
      }
    }
    if (problem_.empty()) {
      problem_ = "not installed (" + file + " not found); see docs/install.md";
    }
  }

  bool load(const path& file) {
    try {
      module_ = engine_module_in(load_library(file), text_of(file));
      return true;
    } catch (const Error& failure) {
      return fail(failure.what());
    }
  }

  // Only the first module's problem is reported: later folders may contain modules of any origin.
  bool fail(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
    return false;
  }

  std::string family_;
  std::vector<path> folders_;
  std::once_flag once_;
  std::string problem_;
  EngineModule module_;
};

}  // namespace

std::vector<path> engine_module_folders() {
  std::vector<path> folders;
  const auto add = [&](const path& folder) {
    const path tidy = folder.lexically_normal();
    if (!folder.empty() && std::find(folders.begin(), folders.end(), tidy) == folders.end()) {
      folders.push_back(tidy);
    }
  };
  const path own = own_file().parent_path();
  if (!own.empty()) {
    add(own);
    add(own / "limpid");
    add(own / "../lib/limpid");
    add(own / kModulesFromPrograms);
  }
  add(kInstalledModuleFolder);
  const std::string more = trusted_variable("LIMPID_ENGINE_PATH");
  for (std::string_view rest = more; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(kFolderSeparator));
    add(path_of(one));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return folders;
}

EngineModule load_engine_module(const std::string& family, std::vector<path> folders) {
  const auto loader = std::make_shared<Loader>(family, std::move(folders));
  return {
      [loader] { return loader->list(); },
      [loader](std::string_view name, const EngineOptions& options) { return loader->open(name, options); }};
}

EngineModule engine_module_in(void* library, const std::string& name) {
  void* entry = find_function(library, kEngineModuleEntry);
  if (entry == nullptr) {
    throw Error(name + " belongs to a different build of Limpid " + kVersion + ": it has no " +
                kEngineModuleEntry);
  }
  EngineModule module;
  try {
    reinterpret_cast<void (*)(EngineModule&)>(entry)(module);
  } catch (const std::exception& failure) {
    throw Error(name + ": " + failure.what());
  }
  if (!module.list || !module.open) {
    throw Error(name + " provides no engines");
  }
  return module;
}

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
