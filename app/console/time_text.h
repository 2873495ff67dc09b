#pragma once

#include <string>

namespace limpid::app {

/// "1:02.345" or "1:01:02.345"; without the fraction, which is cut off then, "1:02". Of a negative time that
/// of zero.
std::string time_text(double seconds, bool fraction = true);

}  // namespace limpid::app
