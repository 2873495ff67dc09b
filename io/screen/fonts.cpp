// SPDX-License-Identifier: MIT
#include "io/screen/fonts.h"

#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace limpid::io {
namespace {

template <typename Handle, void (*destroy)(Handle*)>
struct FontconfigDeleter {
  void operator()(Handle* handle) const { destroy(handle); }
};
using PatternHandle = std::unique_ptr<FcPattern, FontconfigDeleter<FcPattern, FcPatternDestroy>>;
using CharSetHandle = std::unique_ptr<FcCharSet, FontconfigDeleter<FcCharSet, FcCharSetDestroy>>;

/// Length in bytes of the character that `text` begins with, and its code; 0 if it is none.
std::pair<std::size_t, std::uint32_t> first_character(std::string_view text) {
  struct Form {
    unsigned mask;
    unsigned lead;
    std::uint32_t least;
  };
  constexpr std::array<Form, 4> kForms{
      {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};
  const unsigned lead = static_cast<unsigned char>(text.front());
  for (std::size_t length = 1; length <= kForms.size(); ++length) {
    const Form& form = kForms[length - 1];
    if ((lead & form.mask) != form.lead || text.size() < length) {
      continue;
    }
    std::uint32_t code = lead & ~form.mask;
    for (std::size_t i = 1; i < length; ++i) {
      const unsigned byte = static_cast<unsigned char>(text[i]);
      if ((byte & 0xC0U) != 0x80U) {
        return {0, 0};
      }
      code = code << 6 | (byte & 0x3FU);
    }
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code >= form.least && code <= 0x10FFFF && !is_surrogate ? std::pair{length, code}
                                                                   : std::pair<std::size_t, std::uint32_t>{};
  }
  return {0, 0};
}

}  // namespace

Fonts::Fonts()
    : config_(FcInitLoadConfigAndFonts(), [](FcConfig* config) {
        if (config != nullptr) {
          FcConfigDestroy(config);
        }
      }) {}

FontFile Fonts::find(const std::vector<std::uint32_t>& characters) const {
  if (config_ == nullptr) {
    return {};
  }
  const PatternHandle wanted(FcPatternCreate());
  const CharSetHandle set(FcCharSetCreate());
  for (const std::uint32_t character : characters) {
    FcCharSetAddChar(set.get(), character);
  }
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, set.get());
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcConfigSubstitute(config_.get(), wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultMatch;
  const PatternHandle found(FcFontMatch(config_.get(), wanted.get(), &result));
  FcChar8* file = nullptr;
  int index = 0;
  if (found == nullptr || FcPatternGetString(found.get(), FC_FILE, 0, &file) != FcResultMatch) {
    return {};
  }
  FcPatternGetInteger(found.get(), FC_INDEX, 0, &index);
  return {reinterpret_cast<const char*>(file), index & 0xFFFF};  // above: which of a variable font's forms
}

std::vector<std::uint32_t> characters_of(std::string_view text) {
  std::vector<std::uint32_t> characters;
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    characters.push_back(length > 0 ? code : '?');
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return characters;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = first_character(text).first;
    valid += length > 0 ? text.substr(0, length) : "?";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

}  // namespace limpid::io
