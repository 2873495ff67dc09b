// SPDX-License-Identifier: MIT
#include "io/screen/lettering.h"

#include <SDL_ttf.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "io/screen/text.h"

namespace limpid::io {
namespace {

constexpr int kBoxAlpha = 192;
constexpr std::string_view kReplacement = "?";

struct Deleter {
  void operator()(FcConfig* config) const { FcConfigDestroy(config); }
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
  void operator()(FcCharSet* set) const { FcCharSetDestroy(set); }
  void operator()(TTF_Font* font) const { TTF_CloseFont(font); }
  void operator()(SDL_Surface* surface) const { SDL_FreeSurface(surface); }
};
template <typename Handle>
using Owned = std::unique_ptr<Handle, Deleter>;

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

/// A font's file and its number there.
using Face = std::pair<std::string, int>;

/// The machine's font for `text`; an empty name if there is none.
Face find_face(FcConfig* config, std::string_view text) {
  const Owned<FcPattern> wanted(FcPatternCreate());
  const Owned<FcCharSet> characters(FcCharSetCreate());
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    FcCharSetAddChar(characters.get(), code);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  FcPatternAddString(wanted.get(), FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, characters.get());
  FcPatternAddBool(wanted.get(), FC_SCALABLE, FcTrue);
  FcConfigSubstitute(config, wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult result = FcResultMatch;
  const Owned<FcPattern> found(FcFontMatch(config, wanted.get(), &result));
  FcChar8* file = nullptr;
  int index = 0;
  if (found == nullptr || FcPatternGetString(found.get(), FC_FILE, 0, &file) != FcResultMatch) {
    return {};
  }
  FcPatternGetInteger(found.get(), FC_INDEX, 0, &index);
  return {reinterpret_cast<const char*>(file), index & 0xFFFF};  // above: which of a variable font's forms
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

/// Lays white of the surface's alpha over what is in the box.
void lay_over(const SDL_Surface& text, int x, int y, RgbImage& box) {
  for (int row = 0; row < text.h && y + row < box.height; ++row) {
    const auto* const from = reinterpret_cast<const Pixel*>(static_cast<const std::byte*>(text.pixels) +
                                                            std::ptrdiff_t{row} * text.pitch);
    Pixel* const to = box.row(y + row) + x;
    for (int column = 0; column < text.w && x + column < box.width; ++column) {
      const int cover = static_cast<int>(from[column] >> 24);
      const int alpha = cover + (255 - cover) * kBoxAlpha / 255;
      const int white = alpha > 0 ? 255 * cover / alpha : 0;
      to[column] = make_pixel(white, white, white, alpha);
    }
  }
}

}  // namespace

FontFile plain_font() {
  const Owned<FcConfig> config(FcInitLoadConfigAndFonts());
  if (config == nullptr) {
    return {};
  }
  const auto [path, index] = find_face(config.get(), "");
  return {path, index};
}

std::string valid_utf8(const std::string& text) {
  std::string valid;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = first_character(rest).first;
    valid += length > 0 ? rest.substr(0, length) : kReplacement;
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

struct Lettering::State {
  // SDL_ttf counts its users itself.
  State() : has_library(TTF_Init() == 0), config(FcInitLoadConfigAndFonts()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() {
    fonts.clear();
    if (has_library) {
      TTF_Quit();
    }
  }

  TTF_Font* font_for(const std::string& text, int pixels);
  Owned<SDL_Surface> draw(const std::string& text, int pixels, int width);
  bool draw(const std::vector<std::string>& lines, int pixels, int width, RgbImage& box);

  bool has_library;
  Owned<FcConfig> config;
  std::map<std::string, Face> faces;  ///< by text, "" for all of ASCII
  std::map<std::pair<Face, int>, Owned<TTF_Font>> fonts;
};

TTF_Font* Lettering::State::font_for(const std::string& text, int pixels) {
  if (!has_library || config == nullptr) {
    return nullptr;
  }
  const std::string key = is_ascii(text) ? "" : text;
  constexpr std::size_t kMostFaces = 100;
  if (faces.size() > kMostFaces) {
    faces.clear();
  }
  const auto face = faces.find(key);
  const Face chosen =
      face != faces.end() ? face->second : faces.emplace(key, find_face(config.get(), text)).first->second;
  Owned<TTF_Font>& font = fonts[{chosen, pixels}];
  if (font == nullptr && !chosen.first.empty()) {
    font.reset(TTF_OpenFontIndex(chosen.first.c_str(), pixels, chosen.second));
  }
  return font.get();
}

/// Null for an empty text, or if there is no font.
Owned<SDL_Surface> Lettering::State::draw(const std::string& text, int pixels, int width) {
  TTF_Font* const font = font_for(text, pixels);
  if (font == nullptr || text.empty()) {
    return nullptr;
  }
  const Owned<SDL_Surface> drawn(TTF_RenderUTF8_Blended_Wrapped(font, text.c_str(), {255, 255, 255, 255},
                                                                static_cast<Uint32>(std::max(width, 1))));
  return drawn == nullptr
             ? nullptr
             : Owned<SDL_Surface>(SDL_ConvertSurfaceFormat(drawn.get(), SDL_PIXELFORMAT_ARGB8888, 0));
}

bool Lettering::State::draw(const std::vector<std::string>& lines, int pixels, int width, RgbImage& box) {
  struct Piece {
    Owned<SDL_Surface> surface;
    int x = 0;
    int y = 0;
  };
  TTF_Font* const plain = font_for("", pixels);
  if (plain == nullptr) {
    return false;
  }
  const int margin = std::max(pixels / 3, 2);
  const int gap = pixels;
  const int inner = std::max(width - 2 * margin, 1);
  std::vector<Piece> pieces;
  // The first column is as wide as it needs, up to two fifths.
  int second = 0;
  for (const std::string& line : lines) {
    if (const std::size_t tab = line.find('\t'); tab != std::string::npos) {
      int length = 0;
      TTF_SizeUTF8(plain, line.substr(0, tab).c_str(), &length, nullptr);
      second = std::max(second, std::min(length, inner * 2 / 5) + gap);
    }
  }
  int y = margin;
  int widest = 0;
  for (const std::string& line : lines) {
    const std::size_t tab = line.find('\t');
    int bottom = y + TTF_FontLineSkip(plain);
    const auto add = [&](const std::string& text, int x, int most) {
      Owned<SDL_Surface> surface = draw(text, pixels, most);
      if (surface != nullptr) {
        widest = std::max(widest, x + surface->w);
        bottom = std::max(bottom, y + surface->h);
        pieces.push_back({std::move(surface), x, y});
      }
    };
    if (tab == std::string::npos) {
      add(line, 0, inner);
    } else {
      add(line.substr(0, tab), 0, second - gap);
      add(line.substr(tab + 1), second, inner - second);
    }
    y = bottom;
  }
  box.resize(std::min(widest, inner) + 2 * margin, y + margin);
  std::fill(box.pixels.begin(), box.pixels.end(), make_pixel(0, 0, 0, kBoxAlpha));
  for (const Piece& piece : pieces) {
    lay_over(*piece.surface, margin + piece.x, piece.y, box);
  }
  return true;
}

Lettering::Lettering() : state_(std::make_unique<State>()) {}
Lettering::~Lettering() = default;

RgbImage Lettering::box(const std::vector<std::string>& lines, int size, int width) {
  std::vector<std::string> valid;
  std::transform(lines.begin(), lines.end(), std::back_inserter(valid), valid_utf8);
  RgbImage box;
  // A line of text is a fifth higher than its letters' size.
  if (!state_->draw(valid, std::max(size * 5 / 6, 6), width, box)) {
    for (std::string& line : valid) {
      std::replace(line.begin(), line.end(), '\t', ' ');
    }
    box = text_box(valid, std::max(size / text_height(1), 1));
  }
  return box;
}

}  // namespace limpid::io
