#include "core/engine_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace limpid {
namespace {

class Loader {
 public:
  explicit Loader(std::string family) : family_(std::move(family)) {}

  std::vector<EngineInfo> list() {
    std::call_once(once_, [this] { load(); });
    if (module_.list) {
      return module_.list();
    }
    return {{.name = family_, .description = problem_, .memory_bytes = 0, .available = false}};
  }

  // The registry opens only what list() has shown to be available.
  std::shared_ptr<Engine> open(std::string_view name, const EngineOptions& options) const {
    return module_.open(name, options);
  }

 private:
  void load() {
    const std::string file = "liblimpid_" + family_ + ".so";
    std::error_code error;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    problem_ = file + " is neither beside the program nor in ../lib/limpid";
    for (const std::filesystem::path& path : {folder / file, folder / "../lib/limpid" / file}) {
      if (std::filesystem::exists(path, error)) {
        return load(path);
      }
    }
  }

  void load(const std::filesystem::path& path) {
    // Never closed: engines and frames of the module's may live until the process ends.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = library == nullptr ? nullptr : dlsym(library, kEngineModuleEntry);
    if (entry == nullptr) {
      const char* reason = dlerror();
      problem_ = "can't load " + path.string() + ": " + (reason == nullptr ? "no entry" : reason);
      return;
    }
    reinterpret_cast<EngineModuleEntry>(entry)(module_);
  }

  std::string family_;
  std::once_flag once_;
  std::string problem_;
  EngineModule module_;
};

}  // namespace

EngineModule load_engine_module(const std::string& family) {
  const auto loader = std::make_shared<Loader>(family);
  return {
      [loader] { return loader->list(); },
      [loader](std::string_view name, const EngineOptions& options) { return loader->open(name, options); }};
}

}  // namespace limpid
