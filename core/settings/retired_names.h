// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace limpid {

/// The replacement of an option or setting that version 0.2.0 renamed (docs/option-names.md), with `dashes`
/// before names; nothing for other names. `name` has no dashes.
std::optional<std::string> replacement_of(std::string_view name, const std::string& dashes);

}  // namespace limpid
