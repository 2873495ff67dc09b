// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/regular_file.h"

namespace limpid {

// Reads JSON from untrusted files. Every failure is an Error of one sentence that names the file and the
// value, such as
//
//   job/plan.json: "inputs[0].frames" must be an integer from 0 to 12

/// Maximum nesting of arrays and objects. Copying or comparing deeper documents overflows the stack.
inline constexpr int kMostJsonDepth = 64;

/// A value in a document, with its position in the document. The document must outlive it.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& json, std::shared_ptr<const std::string> source, std::string place);

  /// The member of an object.
  JsonValue at(std::string_view key) const;
  /// The member of an object; nothing if it is missing or null.
  std::optional<JsonValue> find(std::string_view key) const;
  /// All members of an object, in the order of their names.
  std::vector<std::pair<std::string, JsonValue>> members() const;
  /// Calls `read` with each element of an array.
  void for_each(const std::function<void(const JsonValue&)>& read) const;
  /// The elements of an array that must have `count` elements.
  std::vector<JsonValue> items(std::size_t count) const;

  bool is_null() const;
  bool is_integer() const;
  bool is_number() const;
  bool boolean() const;
  /// A text. Throws for texts with zero bytes, which would end file names.
  std::string text() const;
  double number(double least, double most) const;
  template <std::signed_integral Integer = std::int64_t>
  Integer integer(Integer least = std::numeric_limits<Integer>::min(),
                  Integer most = std::numeric_limits<Integer>::max()) const {
    return static_cast<Integer>(integer_in(least, most));
  }

  const nlohmann::json& json() const { return *json_; }
  /// Throws an Error of the form: FILE: "POSITION" WHAT.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::int64_t integer_in(std::int64_t least, std::int64_t most) const;
  JsonValue member(const std::string& key, const nlohmann::json& value) const;

  const nlohmann::json* json_;
  std::shared_ptr<const std::string> source_;
  std::string place_;
};

/// A document of JSON.
class JsonDocument {
 public:
  /// Parses a text. `source` begins every error sentence, such as the file's name; may be empty. Throws Error
  /// if the text is not JSON or is nested deeper than kMostJsonDepth.
  JsonDocument(const std::string& text, std::string source);
  /// Parses a regular file of at most `most` bytes. Throws Error.
  static JsonDocument read(const std::string& path, std::size_t most);

  JsonValue root() const;

 private:
  std::shared_ptr<const std::string> source_;
  std::shared_ptr<const nlohmann::json> json_;
};

// Documents of JSON that users give by name or as text: noise profiles and settings.

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
