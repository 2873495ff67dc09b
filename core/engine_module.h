#pragma once

#include <string>

#include "core/denoiser.h"

namespace limpid {

/// What a module of engines, a shared library that is loaded at run time, hands to the registry.
struct EngineModule {
  EngineRegistry::Lister list;
  EngineRegistry::Opener open;
};

/// The one symbol that a module exports, with C linkage: fills in the EngineModule. Modules are built by the
/// same compiler from the same sources as the program, so that C++ types may cross.
using EngineModuleEntry = void (*)(EngineModule& module);
inline constexpr const char* kEngineModuleEntry = "limpid_engine_module";

/// The engines of liblimpid_<family>.so, looked for in the running program's folder and in ../lib/limpid from
/// there when they are first asked for. If it can't be loaded, `list` has one engine named `family` that is
/// not available, and says why.
EngineModule load_engine_module(const std::string& family);

}  // namespace limpid
