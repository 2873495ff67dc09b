// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/engine/field_control.h"

namespace limpid {

/// Parses "auto", "progressive" or "interlaced". Throws a UsageError that begins with `setting` for other
/// words.
FieldChoice parse_fields(const std::string& setting, const std::string& text);
/// The name in settings.
std::string to_string(FieldChoice choice);

}  // namespace limpid
