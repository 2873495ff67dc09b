// SPDX-License-Identifier: MIT
// A shared library that contains core, as an interpreter would load it: the program is in another folder.
#include "core/engine/engine_module.h"

extern "C" void list_test_engines(std::string& descriptions);

void list_test_engines(std::string& descriptions) {
  for (const limpid::EngineInfo& info :
       limpid::load_engine_module("test", limpid::engine_module_folders()).list()) {
    descriptions += info.description;
  }
}
