// SPDX-License-Identifier: MIT
#pragma once

#include "lib/include/limpid.h"

// The filters and their parameters for C. Texts stay valid while the library is loaded.

namespace limpid::lib {

int filter_count();
/// Both throw UsageError for unknown numbers.
limpid_filter_info describe_filter(int filter);
limpid_parameter_info describe_parameter(int filter, int parameter);

}  // namespace limpid::lib
