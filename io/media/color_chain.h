// SPDX-License-Identifier: MIT
#pragma once

// Filters that convert colors. Private to io.

#include <string>

#include "io/media/source.h"

namespace limpid::io {

/// The chain of filters that converts the frames of `source` to BT.709 with limited range, and tags them.
/// Colors without tags count as BT.601 below 720 lines. Throws UsageError for HDR.
std::string chain_to_bt709(const Source& source);

}  // namespace limpid::io
