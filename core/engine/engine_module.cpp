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
#include "core/base/shared_library.h"
#include "core/base/utf8_path.h"
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
      problem_ = "not installed (" + file + " not found)";
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

}  // namespace limpid
