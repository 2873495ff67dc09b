// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <string>

namespace limpid::test {

/// Sets an environment variable. An empty text removes it.
inline void set_variable(const std::string& name, const std::string& value) {
#ifdef _WIN32
  _putenv_s(name.c_str(), value.c_str());
#else
  if (value.empty()) {
    unsetenv(name.c_str());
  } else {
    setenv(name.c_str(), value.c_str(), 1);
  }
#endif
}

}  // namespace limpid::test
