#pragma once

#include "lib/include/limpid.h"

// The filters and their parameters as C tells them. Texts stay.

namespace limpid::lib {

int filter_count();
/// Throw UsageError for numbers that there aren't.
limpid_filter_info describe_filter(int filter);
limpid_parameter_info describe_parameter(int filter, int parameter);

}  // namespace limpid::lib
