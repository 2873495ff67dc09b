// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace limpid::benchmarks {

/// VmHWM, the peak memory of the process since the last reset, in MB.
inline double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      std::istringstream fields(line.substr(6));
      double kibibytes = 0;
      fields >> kibibytes;
      return kibibytes * 1024 / 1e6;
    }
  }
  return 0;
}

inline void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace limpid::benchmarks
