// SPDX-License-Identifier: MIT
#include <dlfcn.h>

#include <string>

#include "core/engine/engine_module.h"
#include "core/engines.h"
#include "limpid.h"

namespace limpid {

// Uses the entry that engine modules have: a library of another build is reported, not called.
EngineModule cpu_engines() {
  return engine_module_in(RTLD_DEFAULT, std::string("liblimpid ") + limpid_version());
}

}  // namespace limpid
