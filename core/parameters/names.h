// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace limpid {

/// The values of an enumeration and their names in settings.
template <typename Enum, std::size_t kCount>
using Names = std::array<std::pair<Enum, std::string_view>, kCount>;

/// "dct, bior1.5, haar".
template <typename Enum, std::size_t kCount>
std::string list_of(const Names<Enum, kCount>& names) {
  std::string list;
  for (const auto& [value, name] : names) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list;
}

/// The name of a value. `what` describes the value: "2D transform". Throws UsageError for a value that is not
/// in the enumeration.
template <typename Enum, std::size_t kCount>
std::string_view name_of(Enum value, const char* what, const Names<Enum, kCount>& names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == value; });
  if (found == names.end()) {
    throw UsageError("there is no " + std::string(what) + " number " +
                     std::to_string(static_cast<int>(value)));
  }
  return found->second;
}

/// The value with a name. Throws a UsageError that lists the names.
template <typename Enum, std::size_t kCount>
Enum value_of(std::string_view name, const char* what, const Names<Enum, kCount>& names) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.second == name; });
  if (found == names.end()) {
    throw UsageError("there is no " + std::string(what) + " \"" + std::string(name) + "\"; there are " +
                     list_of(names));
  }
  return found->first;
}

}  // namespace limpid
