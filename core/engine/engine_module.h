// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"

namespace limpid {

/// A family of engines that a module, a shared library loaded at run time, provides to the registry.
struct EngineModule {
  EngineRegistry::Lister list;
  EngineRegistry::Opener open;
};

/// Fills in the EngineModule. Each module defines it. CMake's limpid_engine_module() adds the exported entry
/// that calls it. C++ types pass through the entry, so its name contains the version and a digest of the
/// headers that define them: modules built from other headers lack the symbol and are not called. Both sides
/// must be built with the same C++ standard library.
void provide_engines(EngineModule& module);

/// The folders that are searched for modules, in order: the folder of the program or shared library that
/// contains this code; its subfolder `limpid`; the installed ../lib/limpid and ../lib/x86_64-linux-gnu/limpid
/// (or another architecture) relative to it; the folder of the configured installation; and the folders of
/// the environment variable LIMPID_ENGINE_PATH, separated by colons (Windows: semicolons, and there is no
/// configured installation). The variable comes last, so it can add modules but not replace installed ones.
std::vector<std::filesystem::path> engine_module_folders();

/// The engines of liblimpid_<family>-<version>.so (Windows: .dll). The module is loaded on first use, from
/// the first of `folders` (at least one) that has a loadable one. If none can be loaded, `list` returns one
/// unavailable engine named `family` with the reason.
EngineModule load_engine_module(const std::string& family, std::vector<std::filesystem::path> folders);

/// The engines of a shared library that is already loaded; `library` is a handle for find_function(). Throws
/// an Error that names `name` if the library belongs to another build or provides no engines.
EngineModule engine_module_in(void* library, const std::string& name);

}  // namespace limpid
