// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace limpid::app {

/// "1:02.345" or "1:01:02.345"; without the fraction, which is truncated, "1:02". Negative times count as
/// zero.
std::string time_text(double seconds, bool fraction = true);

}  // namespace limpid::app
