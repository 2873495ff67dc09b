// SPDX-License-Identifier: MIT
#include <dlfcn.h>

#include <string>

#include "core/engine/engine_module.h"
#include "core/engines.h"
#include "limpid.h"

namespace limpid {

// The library exports its engine like an engine module, with its version, so a library of another version is
// reported instead of called.
EngineModule cpu_engines() {
  return engine_module_in(RTLD_DEFAULT, std::string("liblimpid ") + limpid_version());
}

}  // namespace limpid
