// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/settings/json_reader.h"

// Documents of JSON that users give by name or as text: noise profiles and settings.

namespace limpid {

/// Size limit of these documents; those that Limpid writes have about 2 KiB.
inline constexpr std::size_t kMostDocumentBytes = std::size_t{1} << 20;

/// Returns read(root) of a text. Throws UsageError for a text that is not JSON or that `read` refuses with an
/// Error.
template <typename Read>
auto parse_user_document(const std::string& text, const Read& read) {
  try {
    if (text.size() > kMostDocumentBytes) {
      throw Error("it is larger than " + std::to_string(kMostDocumentBytes) + " bytes");
    }
    return read(JsonDocument(text, "").root());
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

/// Returns parse(text) of a file. `kind`: a noun for messages, such as "noise profile". Throws a UsageError
/// that names the file if it cannot be read or `parse` throws a UsageError.
template <typename Parse>
auto read_user_document(const std::string& path, const std::string& kind, const Parse& parse) {
  std::string text;
  try {
    text = read_regular_file(path, kMostDocumentBytes);
  } catch (const Error& error) {
    throw UsageError("cannot read the " + kind + " " + error.what());
  }
  try {
    return parse(text);
  } catch (const UsageError& error) {
    throw UsageError("'" + path + "' is not a " + kind + ": " + error.what());
  }
}

}  // namespace limpid
