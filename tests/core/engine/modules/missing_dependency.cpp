// A module that needs a library which isn't there when it is loaded, as those of a GPU's driver.
#include "core/engine/engine_module.h"

int answer_of_a_library();

void limpid::provide_engines(EngineModule& module) {
  module.list = [] {
    return std::vector<EngineInfo>{
        {.name = "test:" + std::to_string(answer_of_a_library()), .description = ""}};
  };
}
