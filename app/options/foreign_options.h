// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace limpid::app {

/// An option of other programs, such as ffmpeg and HandBrake, and what replaces it here.
struct ForeignOption {
  std::string_view names;   ///< without dashes, separated by spaces
  std::string_view own;     ///< option of Limpid, perhaps with its value; empty: none
  std::string_view advice;  ///< sentence for commands without the option `own`
};

/// Null for other names. `name`: without dashes.
const ForeignOption* find_foreign_option(std::string_view name);

}  // namespace limpid::app
