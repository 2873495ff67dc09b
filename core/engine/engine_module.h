#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"

namespace limpid {

/// What a module of engines, a shared library that is loaded at run time, hands to the registry.
struct EngineModule {
  EngineRegistry::Lister list;
  EngineRegistry::Opener open;
};

/// Defined by each module: fills in the EngineModule. CMake's limpid_engine_module() adds the entry that
/// calls it, the one symbol that is looked for. C++ types cross there, so the entry's name holds the version
/// and a digest of the headers that define them: what was built from others has no such symbol, and isn't
/// called. Both must also be built with the same C++ standard library.
void provide_engines(EngineModule& module);

/// Where modules are looked for: the folder of the program or shared library that this code is in; `limpid`
/// in it and ../lib/limpid from there, or ../lib/x86_64-linux-gnu/limpid and the like, as installed; the
/// folder that installing would use; and last those of the environment variable LIMPID_ENGINE_PATH, separated
/// by colons, which can so add modules but not replace those that came with the program.
std::vector<std::filesystem::path> engine_module_folders();

/// The engines of liblimpid_<family>-<version>.so, loaded when they are first asked for from the first of
/// `folders`, at least one, that has one which can be. If none can, `list` has one engine named `family` that
/// is not available, and says why.
EngineModule load_engine_module(const std::string& family, std::vector<std::filesystem::path> folders);

/// The engines of a shared library that is loaded already: `library` as dlsym() takes it. Throws Error,
/// calling it `name`, if it isn't of this build or provides none.
EngineModule engine_module_in(void* library, const std::string& name);

}  // namespace limpid
