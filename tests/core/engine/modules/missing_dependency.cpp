// SPDX-License-Identifier: MIT
// A module that depends on a missing library, as modules for GPUs depend on the driver's libraries.
#include "core/engine/engine_module.h"

int answer_of_a_library();

void limpid::provide_engines(EngineModule& module) {
  module.list = [] {
    return std::vector<EngineInfo>{
        {.name = "test:" + std::to_string(answer_of_a_library()), .description = ""}};
  };
}
