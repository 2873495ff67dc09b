#pragma once

#include <string>

#include "core/engine/field_control.h"

namespace limpid {

/// "auto", "progressive" or "interlaced". Throws UsageError, which begins with `setting`, for other words.
FieldChoice parse_fields(const std::string& setting, const std::string& text);
/// The word.
std::string to_string(FieldChoice choice);

}  // namespace limpid
