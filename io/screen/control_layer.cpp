// SPDX-License-Identifier: MIT
#include "io/screen/control_layer.h"

#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <new>
#include <set>
#include <utility>

namespace limpid::io {
namespace {

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

namespace {

constexpr float kFontPixels = 15;  // at a scale of 1
constexpr float kNowhere = -1e6F;

// Basic Latin to Latin Extended-B, Greek, Cyrillic, general punctuation and arrows. ControlLayer::text() adds
// other characters.
constexpr std::array<ImWchar, 11> kPlainRanges{0x20,   0x24F,  0x370,  0x3FF,  0x400, 0x52F,
                                               0x2010, 0x2026, 0x2190, 0x2193, 0};

bool is_plain(std::uint32_t character) {
  for (std::size_t i = 0; kPlainRanges[i] != 0; i += 2) {
    if (character >= kPlainRanges[i] && character <= kPlainRanges[i + 1]) {
      return true;
    }
  }
  return character < kPlainRanges[0];
}

void set_style(float scale) {
  ImGuiStyle style;
  ImGui::StyleColorsDark(&style);
  style.WindowRounding = 6;
  style.FrameRounding = 4;
  style.GrabRounding = 4;
  style.PopupRounding = 4;
  style.WindowBorderSize = 0;
  style.FramePadding = {8, 5};
  style.ItemSpacing = {8, 6};
  style.GrabMinSize = 14;
  style.ScrollbarSize = 10;
  style.Colors[ImGuiCol_WindowBg] = {0.07F, 0.07F, 0.08F, 0.88F};
  style.Colors[ImGuiCol_PopupBg] = {0.10F, 0.10F, 0.11F, 0.97F};
  style.Colors[ImGuiCol_PlotHistogram] = style.Colors[ImGuiCol_SliderGrab];
  // White text on them has a contrast of more than 10 to 1. What is below the pointer has another frame.
  style.Colors[ImGuiCol_Button] = {0.13F, 0.15F, 0.19F, 1};
  style.Colors[ImGuiCol_ButtonHovered] = {0.21F, 0.24F, 0.30F, 1};
  style.Colors[ImGuiCol_Header] = style.Colors[ImGuiCol_Button];
  style.Colors[ImGuiCol_Border] = {0.36F, 0.39F, 0.45F, 1};
  style.FrameBorderSize = 1;
  style.ScaleAllSizes(scale);
  ImGui::GetStyle() = style;
}

struct NamedKey {
  std::string_view name;  // WindowEvent::key
  ImGuiKey key;
};
constexpr std::array<NamedKey, 19> kControlKeys{{{"LEFT", ImGuiKey_LeftArrow},
                                                 {"RIGHT", ImGuiKey_RightArrow},
                                                 {"UP", ImGuiKey_UpArrow},
                                                 {"DOWN", ImGuiKey_DownArrow},
                                                 {"PGUP", ImGuiKey_PageUp},
                                                 {"PGDN", ImGuiKey_PageDown},
                                                 {"HOME", ImGuiKey_Home},
                                                 {"END", ImGuiKey_End},
                                                 {"ENTER", ImGuiKey_Enter},
                                                 {"ESC", ImGuiKey_Escape},
                                                 {"BACKSPACE", ImGuiKey_Backspace},
                                                 {"DELETE", ImGuiKey_Delete},
                                                 {" ", ImGuiKey_Space},
                                                 {"Ctrl+A", ImGuiKey_A},
                                                 {"Ctrl+C", ImGuiKey_C},
                                                 {"Ctrl+V", ImGuiKey_V},
                                                 {"Ctrl+X", ImGuiKey_X},
                                                 {"Ctrl+Y", ImGuiKey_Y},
                                                 {"Ctrl+Z", ImGuiKey_Z}}};

void set_key(std::size_t number, bool down) {
#if IMGUI_VERSION_NUM < 18700
  ImGui::GetIO().KeysDown[number] = down;
#else
  ImGui::GetIO().AddKeyEvent(kControlKeys[number].key, down);
#endif
}

// A press of a key, or, as no event reports that, its release in the frame after.
void apply_key(std::string_view name, bool down) {
  ImGuiIO& io = ImGui::GetIO();
  const bool is_text = io.WantTextInput;
  io.KeyCtrl = down && name.starts_with("Ctrl+");
  io.KeyShift = down && name.starts_with("Shift+");
  name.remove_prefix(io.KeyShift || (!down && name.starts_with("Shift+")) ? 6 : 0);
  // In lists, the Enter key chooses as the space bar does.
  const std::string_view wanted = name == "ENTER" && !is_text ? " " : name;
  const auto* const found = std::ranges::find(kControlKeys, wanted, &NamedKey::name);
  if (found != kControlKeys.end() && !(is_text && wanted == " ")) {
    set_key(static_cast<std::size_t>(found - kControlKeys.begin()), down);
  } else if (down && !name.starts_with("Ctrl+")) {
    io.AddInputCharactersUTF8(std::string(name).c_str());
  }
}

}  // namespace

struct ControlLayer::State {
  void set_sizes(float wanted_scale, int wanted_text);
  void add_font(float pixels);
  void apply(const WindowEvent& event);

  float scale = 0;
  int text_size = 0;
  Fonts fonts;
  std::set<std::uint32_t> known;                  // characters that are not plain
  std::map<FontFile, std::set<ImWchar>> further;  // those of them that have a font
  std::vector<std::vector<ImWchar>> ranges;       // of `further`, which ImGui keeps pointers to
  bool lacks_characters = false;
  std::deque<WindowEvent> events;
  std::string held_key;  // pressed in the last frame
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

// Sets the fonts and the sizes for a scale.
void ControlLayer::State::set_sizes(float wanted_scale, int wanted_text) {
  if (scale == wanted_scale && text_size == wanted_text && !lacks_characters) {
    return;
  }
  scale = wanted_scale;
  text_size = wanted_text;
  lacks_characters = false;
  set_style(scale);
  ImFontAtlas* const atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
  ranges.clear();
  add_font(std::round(kFontPixels * scale));
  if (text_size != std::lround(kFontPixels * scale)) {
    add_font(static_cast<float>(text_size));
  }
#if IMGUI_VERSION_NUM < 19200  // later versions do it themselves
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

void ControlLayer::State::add_font(float pixels) {
  ImFontAtlas* const atlas = ImGui::GetIO().Fonts;
  const FontFile plain = fonts.find();
  ImFontConfig config;
  config.FontNo = plain.index;
  if (plain.path.empty() ||
      atlas->AddFontFromFileTTF(plain.path.c_str(), pixels, &config, kPlainRanges.data()) == nullptr) {
    ImFontConfig built_in;
    built_in.SizePixels = pixels;
    atlas->AddFontDefault(&built_in);
    return;
  }
  for (const auto& [file, characters] : further) {
    std::vector<ImWchar>& each = ranges.emplace_back();
    for (const ImWchar character : characters) {
      each.insert(each.end(), 2, character);
    }
    each.push_back(0);
    config.FontNo = file.index;
    config.MergeMode = true;
    atlas->AddFontFromFileTTF(file.path.c_str(), pixels, &config, each.data());
  }
}

void ControlLayer::State::apply(const WindowEvent& event) {
  using Kind = WindowEvent::Kind;
  ImGuiIO& io = ImGui::GetIO();
  switch (event.kind) {
    case Kind::kKey:
      held_key = event.key;
      apply_key(held_key, true);
      break;
    case Kind::kPress:
      if (event.clicks == 2) {  // however long the frame between the clicks took
        io.MouseClickedTime[0] = ImGui::GetTime();
      }
      [[fallthrough]];
    case Kind::kRelease:
      io.MouseDown[event.right ? 1 : 0] = event.kind == Kind::kPress;
      [[fallthrough]];
    case Kind::kPointer:
    case Kind::kDrag:
      io.MousePos = {static_cast<float>(event.x), static_cast<float>(event.y)};
      break;
    case Kind::kWheel:
      io.MouseWheel += static_cast<float>(event.dy);
      break;
    case Kind::kLeave:
      io.MousePos = {kNowhere, kNowhere};
      break;
    default:
      break;
  }
}

ControlLayer::ControlLayer() : state_(std::make_unique<State>()) {
  // ImGui does not check the results of its allocator.
  ImGui::SetAllocatorFunctions([](std::size_t size, void*) { return ::operator new(size); },
                               [](void* memory, void*) { ::operator delete(memory); });
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.MousePos = {kNowhere, kNowhere};
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
#if IMGUI_VERSION_NUM < 18700
  for (std::size_t number = 0; number < kControlKeys.size(); ++number) {
    io.KeyMap[kControlKeys[number].key] = static_cast<int>(number);
  }
#endif
  ImGui_ImplOpenGL3_Init("#version 150");
}

ControlLayer::~ControlLayer() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

void ControlLayer::handle(const WindowEvent& event) { state_->events.push_back(event); }

bool ControlLayer::has_events() const {
  return !state_->events.empty() || !state_->held_key.empty() || state_->lacks_characters;
}

ImFont* ControlLayer::overlay_font() { return ImGui::GetIO().Fonts->Fonts.back(); }

std::string ControlLayer::text(const std::string& text) {
  std::vector<std::uint32_t> unknown;
  for (const std::uint32_t character : characters_of(text)) {
    if (!is_plain(character) && character <= IM_UNICODE_CODEPOINT_MAX &&
        state_->known.insert(character).second) {
      unknown.push_back(character);
    }
  }
  // The builder of ImGui's fonts reads no other files.
  const FontFile font = unknown.empty() ? FontFile{} : state_->fonts.find(unknown);
  if (font.path.ends_with(".ttf") || font.path.ends_with(".otf") || font.path.ends_with(".ttc")) {
    for (const std::uint32_t character : unknown) {
      state_->further[font].insert(static_cast<ImWchar>(character));
    }
    state_->lacks_characters = true;
  }
  return valid_utf8(text);
}

bool ControlLayer::has_keyboard() const {
  return ImGui::GetIO().WantTextInput ||
         ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

bool ControlLayer::has_pointer() const { return ImGui::GetIO().WantCaptureMouse; }

void ControlLayer::begin(Size window, double scale, int text) {
  state_->set_sizes(static_cast<float>(scale), text);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(window.width), static_cast<float>(window.height)};
  const auto now = std::chrono::steady_clock::now();
  // A longer time would make two presses of a double click.
  constexpr float kLeastTime = 1e-4F;
  constexpr float kGreatestTime = 0.1F;
  io.DeltaTime =
      std::clamp(std::chrono::duration<float>(now - state_->last).count(), kLeastTime, kGreatestTime);
  state_->last = now;
  if (!state_->held_key.empty()) {
    apply_key(std::exchange(state_->held_key, {}), false);
  }
  // A press and its release in one frame would go unnoticed, and so would the end of a drag.
  using Kind = WindowEvent::Kind;
  for (bool moved = false, pressed = false; !state_->events.empty() && !pressed;) {
    const WindowEvent event = state_->events.front();
    if (moved && event.kind == Kind::kRelease) {
      break;
    }
    state_->apply(event);
    state_->events.pop_front();
    pressed = event.kind == Kind::kPress || event.kind == Kind::kRelease || event.kind == Kind::kKey;
    moved = true;
  }
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void ControlLayer::end() {
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace limpid::io
