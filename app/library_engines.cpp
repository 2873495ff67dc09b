#include <dlfcn.h>

#include <string>

#include "core/engine/engine_module.h"
#include "core/engines.h"
#include "limpid.h"

namespace limpid {

// By the entry that modules of engines have, too: a library of another build is told of, not called.
EngineModule cpu_engines() {
  return engine_module_in(RTLD_DEFAULT, std::string("liblimpid ") + limpid_version());
}

}  // namespace limpid
