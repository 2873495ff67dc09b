// SPDX-License-Identifier: MIT
#include "core/settings/json_reader.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace limpid {
namespace {

/// Exact for valid JSON, and for invalid JSON up to its first error.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_string) {
      i += letter == '\\' ? 1 : 0;
      in_string = letter != '"';
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > kMostJsonDepth) {
        return true;
      }
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return false;
}

/// The subject of a sentence about the document.
std::string subject_of(const std::string& source) { return source.empty() ? "it " : source + ": "; }

std::string number_words(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

JsonValue::JsonValue(const nlohmann::json& json, std::shared_ptr<const std::string> source, std::string place)
    : json_(&json), source_(std::move(source)), place_(std::move(place)) {}

void JsonValue::fail(const std::string& what) const {
  throw Error(place_.empty() ? subject_of(*source_) + what
                             : (source_->empty() ? "" : *source_ + ": ") + "\"" + place_ + "\" " + what);
}

JsonValue JsonValue::member(const std::string& key, const nlohmann::json& value) const {
  constexpr std::size_t kLongestName = 60;  // maximum length in messages
  const std::string name = key.size() > kLongestName ? key.substr(0, kLongestName) + "..." : key;
  return {value, source_, place_.empty() ? name : place_ + "." + name};
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  if (!json_->is_object()) {
    fail("must be an object");
  }
  const std::string name(key);
  const auto found = json_->find(name);
  return found == json_->end() || found->is_null() ? std::nullopt : std::optional(member(name, *found));
}

JsonValue JsonValue::at(std::string_view key) const {
  const std::optional<JsonValue> value = find(key);
  if (!value) {
    member(std::string(key), *json_).fail("is missing");
  }
  return *value;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!json_->is_object()) {
    fail("must be an object");
  }
  std::vector<std::pair<std::string, JsonValue>> all;
  for (const auto& [key, value] : json_->items()) {
    all.emplace_back(key, member(key, value));
  }
  return all;
}

void JsonValue::for_each(const std::function<void(const JsonValue&)>& read) const {
  if (!json_->is_array()) {
    fail("must be an array");
  }
  std::size_t index = 0;
  for (const nlohmann::json& element : *json_) {
    read({element, source_, place_ + "[" + std::to_string(index++) + "]"});
  }
}

std::vector<JsonValue> JsonValue::items(std::size_t count) const {
  if (!json_->is_array() || json_->size() != count) {
    fail("must be an array of " + std::to_string(count) + " elements");
  }
  std::vector<JsonValue> all;
  for_each([&all](const JsonValue& element) { all.push_back(element); });
  return all;
}

bool JsonValue::is_null() const { return json_->is_null(); }
bool JsonValue::is_integer() const { return json_->is_number_integer(); }
bool JsonValue::is_number() const { return json_->is_number(); }

bool JsonValue::boolean() const {
  if (!json_->is_boolean()) {
    fail("must be true or false");
  }
  return json_->get<bool>();
}

std::string JsonValue::text() const {
  const auto* const text = json_->get_ptr<const std::string*>();
  if (text == nullptr || text->find('\0') != std::string::npos) {
    fail("must be a text");
  }
  return *text;
}

double JsonValue::number(double least, double most) const {
  const double number = json_->is_number() ? json_->get<double>() : 0;
  if (!json_->is_number() || !(number >= least && number <= most)) {
    fail("must be a number from " + number_words(least) + " to " + number_words(most));
  }
  return number;
}

std::int64_t JsonValue::integer_in(std::int64_t least, std::int64_t most) const {
  // A number with a fraction or an exponent is not an integer: converting 1.5e+78 is undefined.
  const bool is_small =
      json_->is_number_integer() &&
      (!json_->is_number_unsigned() ||
       json_->get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const std::int64_t number = is_small ? json_->get<std::int64_t>() : 0;
  if (!is_small || number < least || number > most) {
    fail(least == most ? "must be " + std::to_string(least)
                       : "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

JsonDocument::JsonDocument(const std::string& text, std::string source)
    : source_(std::make_shared<const std::string>(std::move(source))) {
  if (is_too_deep(text)) {
    throw Error(subject_of(*source_) + "is nested deeper than " + std::to_string(kMostJsonDepth) + " levels");
  }
  json_ = std::make_shared<const nlohmann::json>(nlohmann::json::parse(text, nullptr, false));
  if (json_->is_discarded()) {
    throw Error(subject_of(*source_) + "is not valid JSON");
  }
}

JsonDocument JsonDocument::read(const std::string& path, std::size_t most) {
  return {read_regular_file(path, most), path};
}

JsonValue JsonDocument::root() const { return {*json_, source_, ""}; }

}  // namespace limpid
