#pragma once

namespace limpid::app {

/// What the program's exit code says; documented in --help.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

}  // namespace limpid::app
