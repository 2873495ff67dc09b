// SPDX-License-Identifier: MIT
#pragma once

namespace limpid::app {

/// Exit codes of the program; documented in --help.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

}  // namespace limpid::app
