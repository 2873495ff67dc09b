// SPDX-License-Identifier: MIT
#include "app/player/controls.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "app/player/viewer.h"
#include "core/base/text.h"

namespace limpid::app {
namespace {

constexpr std::chrono::milliseconds kControlsStay{2000};
constexpr std::chrono::milliseconds kTooltipDelay{600};
// In units of 1/96 inch.
constexpr double kPanelWidth = 336;
constexpr double kBarHeight = 54;
constexpr float kLabelWidth = 76;
constexpr float kFieldWidth = 58;
constexpr float kIconSide = 28;
// Narrower windows, and those that are higher than wide, have the panel below the picture.
constexpr double kNarrow = 560;
// Share of the window for a panel below the picture.
constexpr double kPanelBelow = 0.5;
// Text on it has a contrast of 4.6 to 1; it has one of 3.2 to 1 to other buttons.
constexpr ImU32 kChosen = IM_COL32(36, 112, 227, 255);

bool is_escaping() {
#if IMGUI_VERSION_NUM < 18700
  return ImGui::IsKeyPressed(ImGui::GetIO().KeyMap[ImGuiKey_Escape]);
#else
  return ImGui::IsKeyPressed(ImGuiKey_Escape);
#endif
}

bool is_panel_beside(io::Size window, double scale) {
  return window.width >= kNarrow * scale && window.width >= window.height;
}

// Size of the open panel.
io::Size panel_size(io::Size window, double scale) {
  const int bar = Controls::bar_height(scale);
  return is_panel_beside(window, scale)
             ? io::Size{static_cast<int>(std::lround(kPanelWidth * scale)), std::max(window.height - bar, 1)}
             : io::Size{window.width, std::max(static_cast<int>(kPanelBelow * (window.height - bar)), 1)};
}

void draw_icon(ImDrawList& list, Icon icon, ImVec2 center, float side, ImU32 ink) {
  // Positions are in the square from -1 to 1.
  const float unit = side / 2;
  const auto at = [&](float x, float y) { return ImVec2{center.x + x * unit, center.y + y * unit}; };
  const float line = std::max(side / 9, 1.0F);
  const auto box = [&](float x0, float y0, float x1, float y1) {
    list.AddRectFilled(at(x0, y0), at(x1, y1), ink);
  };
  const auto triangle = [&](float tip, float base) {
    list.AddTriangleFilled(at(base, -0.9F), at(tip, 0), at(base, 0.9F), ink);
  };
  switch (icon) {
    case Icon::kPlay:
      return triangle(0.9F, -0.7F);
    case Icon::kPause:
      box(-0.7F, -0.9F, -0.2F, 0.9F);
      return box(0.2F, -0.9F, 0.7F, 0.9F);
    case Icon::kBack:
      box(0.5F, -0.9F, 0.8F, 0.9F);
      return triangle(-0.9F, 0.4F);
    case Icon::kForward:
      box(-0.8F, -0.9F, -0.5F, 0.9F);
      return triangle(0.9F, -0.4F);
    case Icon::kOpen:
      box(-0.9F, -0.8F, -0.1F, -0.5F);
      return list.AddRect(at(-0.9F, -0.5F), at(0.9F, 0.8F), ink, 0, 0, line);
    case Icon::kSettings:
      for (const float y : {-0.6F, 0.0F, 0.6F}) {
        list.AddLine(at(-0.9F, y), at(0.9F, y), ink, line);
        const float knob = y == 0 ? -0.3F : 0.4F;
        box(knob - 0.18F, y - 0.28F, knob + 0.18F, y + 0.28F);
      }
      return;
    case Icon::kFull:
    case Icon::kWindow:
      for (const float x : {-1.0F, 1.0F}) {
        for (const float y : {-1.0F, 1.0F}) {
          // Corners that point outward, or inward.
          const float corner = icon == Icon::kFull ? 0.9F : 0.3F;
          const float end = icon == Icon::kFull ? 0.3F : 0.9F;
          list.AddLine(at(corner * x, corner * y), at(end * x, corner * y), ink, line);
          list.AddLine(at(corner * x, corner * y), at(corner * x, end * y), ink, line);
        }
      }
      return;
    case Icon::kMuted:
    case Icon::kVolume:
      box(-0.9F, -0.3F, -0.5F, 0.3F);
      list.AddTriangleFilled(at(-0.7F, 0), at(0, -0.8F), at(0, 0.8F), ink);
      if (icon == Icon::kMuted) {
        list.AddLine(at(0.3F, -0.4F), at(0.9F, 0.4F), ink, line);
        return list.AddLine(at(0.3F, 0.4F), at(0.9F, -0.4F), ink, line);
      }
      list.PathArcTo(at(0, 0), 0.6F * unit, -0.8F, 0.8F);
      return list.PathStroke(ink, 0, line);
  }
}

}  // namespace

void ControlItems::begin(Viewer& viewer, float scale, Clock::time_point now, bool tooltips) {
  viewer_ = &viewer;
  scale_ = scale;
  now_ = now;
  tooltips_ = tooltips;
  places_.clear();
  pointed_.clear();
}

void ControlItems::end() {
  if (pointed_ != last_pointed_) {
    last_pointed_ = pointed_;
    pointed_since_ = now_;
    has_tooltip_ = hides_tooltip_ = false;
  }
}

std::optional<ControlItems::Clock::time_point> ControlItems::tooltip_at() const {
  return last_pointed_.empty() || has_tooltip_ ? std::nullopt : std::optional(pointed_since_ + kTooltipDelay);
}

void ControlItems::note(std::string_view name, const std::string& tooltip) {
  const ImVec2 least = ImGui::GetItemRectMin();
  const ImVec2 size = ImGui::GetItemRectSize();
  places_[std::string(name)] = {static_cast<int>(least.x), static_cast<int>(least.y),
                                static_cast<int>(size.x), static_cast<int>(size.y)};
  if (tooltip.empty() || !ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    return;
  }
  pointed_ = name;
  if (pointed_ != last_pointed_ || now_ - pointed_since_ < kTooltipDelay) {
    return;
  }
  has_tooltip_ = true;
  if (hides_tooltip_ || !tooltips_) {
    return;
  }
  // Beside the control, which stays visible, and inside the window.
  const ImVec2 middle{least.x + size.x / 2, least.y + size.y / 2};
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  if (tooltip_edge_.x >= 0) {
    ImGui::SetNextWindowPos({tooltip_edge_.x, middle.y}, 0, {1, middle.y / window.y});
  } else {
    ImGui::SetNextWindowPos({middle.x, tooltip_edge_.y}, 0, {middle.x / window.x, 1});
  }
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(280 * scale_);
  ImGui::TextUnformatted(tooltip.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

// True for "set" of the present value, and for "toggle" of a property that is on.
bool ControlItems::is_chosen(std::string_view line) const {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) {
    return false;
  }
  const std::string_view rest = line.substr(space + 1);
  if (line.starts_with("toggle ")) {
    return viewer_->number(rest) == 1;
  }
  const std::size_t end = rest.find(' ');
  if (!line.starts_with("set ") || end == std::string_view::npos) {
    return false;
  }
  const std::string_view name = rest.substr(0, end);
  const std::string value(rest.substr(end + 1));
  return find_property(name)->names
             ? viewer_->text(name) == value
             : std::abs(viewer_->number(name) - parse_number(value).value_or(0)) < 1e-3;
}

void ControlItems::button(std::string_view line, const char* label) {
  const bool chosen = is_chosen(line);
  if (chosen) {
    for (const ImGuiCol part : {ImGuiCol_Button, ImGuiCol_ButtonHovered, ImGuiCol_ButtonActive}) {
      ImGui::PushStyleColor(part, kChosen);
    }
  }
  if (ImGui::Button(fmt::format("{}###{}", label, line).c_str())) {
    viewer_->request(std::string(line));
  }
  if (chosen) {
    ImGui::PopStyleColor(3);
  }
  note(line, tooltip_of(line));
  ImGui::SameLine();
}

void ControlItems::icon(std::string_view line, Icon icon) {
  const float side = kIconSide * scale_;
  if (ImGui::Button(fmt::format("###{}", line).c_str(), {side, side})) {
    viewer_->request(std::string(line));
  }
  const ImVec2 corner = ImGui::GetItemRectMin();
  draw_icon(*ImGui::GetWindowDrawList(), icon, {corner.x + side / 2, corner.y + side / 2}, side / 2,
            ImGui::GetColorU32(ImGuiCol_Text));
  note(line, tooltip_of(line));
  ImGui::SameLine();
}

void ControlItems::slider(std::string_view name, const char* label) {
  const Property& property = *find_property(name);
  const ValueRange& range = property.range;
  const std::string id(name);
  const double before = viewer_->number(name);
  auto value = static_cast<float>(before);
  const auto resets = [] { return ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0); };
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label);
  const bool by_label = resets();
  ImGui::SameLine(kLabelWidth * scale_);
  ImGui::SetNextItemWidth(-kFieldWidth * scale_ - ImGui::GetStyle().ItemSpacing.x);
  const bool moves =
      ImGui::SliderFloat(fmt::format("###{}", id).c_str(), &value, static_cast<float>(range.least),
                         static_cast<float>(range.most), "", ImGuiSliderFlags_NoInput);
  const bool is_held = ImGui::IsItemActive();
  if (resets()) {
    reset_ = id;
  } else if (reset_ == id && !is_held) {
    reset_.clear();
  }
  note(name, tooltip_of(name));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  std::optional<double> wanted = typed_value(id, property);
  if (by_label || reset_ == id) {
    wanted = range.standard;  // as long as the slider is held, which sets it by the pointer
  } else if (moves) {
    wanted = double{value};
  }
  if (wanted && range.step > 0) {
    wanted = std::round(*wanted / range.step) * range.step;
  }
  if (wanted && std::abs(*wanted - before) > 1e-6) {
    viewer_->request(fmt::format("set {} {:.6g}", name, *wanted));
  }
}

void ControlItems::sliders(Place place) {
  for (const Property& property : properties()) {
    if (property.place == place && viewer_->is_in_scope(property.scope) &&
        (!property.is_shown || property.is_shown(*viewer_))) {
      slider(property.name, property.label);
    }
  }
}

// Text that is typed counts when the field is left, except by ESC.
std::optional<double> ControlItems::typed_value(const std::string& name, const Property& property) {
  std::array<char, 24> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "{}", viewer_->text(name));
  const std::string field = name + " value";
  const bool is_entered =
      ImGui::InputText(fmt::format("###{}", field).c_str(), text.data(), text.size(),
                       ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_EnterReturnsTrue);
  const bool is_left = ImGui::IsItemDeactivatedAfterEdit() && !is_escaping();
  note(field, "Click, and type a number. A double click on the slider resets it");
  if (ImGui::IsItemActive() || is_entered) {
    typed_ = text.data();
  }
  if (!is_entered && !is_left) {
    return std::nullopt;
  }
  std::optional<double> number = parse_number(typed_);
  if (!number) {
    viewer_->request("refuse-text " + typed_);
    return std::nullopt;
  }
  return std::clamp(*number, property.range.least, property.range.limit);
}

void ControlItems::list(std::string_view name, float width, const char* shown) {
  const std::string now = viewer_->text(name);
  ImGui::SetNextItemWidth(width);
  if (!ImGui::BeginCombo(fmt::format("###{} list", name).c_str(), shown != nullptr ? shown : now.c_str())) {
    return note(name, tooltip_of(name));
  }
  for (const std::string& each : find_property(name)->names(*viewer_)) {
    if (ImGui::Selectable(each.c_str(), each == now)) {
      viewer_->request(fmt::format("set {} {}", name, each));
    }
    if (each == now) {
      ImGui::SetItemDefaultFocus();
    }
    note(fmt::format("set {} {}", name, each), "");
  }
  ImGui::EndCombo();
}

std::optional<double> parse_number(std::string text) {
  std::ranges::replace(text, ',', '.');
  text.erase(0, text.find_first_not_of(' '));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

void Controls::notice_pointer(Clock::time_point now, bool holds) {
  if (automatic_ || open_) {
    visible_until_ = holds ? now + 5 * kControlsStay : now + kControlsStay;
  }
}

std::optional<Controls::Clock::time_point> Controls::changes_at(Clock::time_point now) const {
  std::optional<Clock::time_point> at = tooltip_at(now);
  if (!open_ && now < visible_until_) {
    at = std::min(at.value_or(visible_until_), visible_until_);
  }
  return at;
}

int Controls::bar_height(double scale) { return static_cast<int>(std::lround(kBarHeight * scale)); }

io::Size Controls::stage(io::Size window, double scale) const {
  if (!open_) {
    return window;
  }
  const io::Size panel = panel_size(window, scale);
  const int above_bar = window.height - bar_height(scale);
  return is_panel_beside(window, scale)
             ? io::Size{std::max(window.width - panel.width, 1), std::max(above_bar, 1)}
             : io::Size{window.width, std::max(above_bar - panel.height, 1)};
}

void Controls::draw(Viewer& viewer, io::Size window, double scale, int labels, Clock::time_point now) {
  const bool has_list = viewer.state().help || viewer.state().asks_to_quit || viewer.lists_files() ||
                        ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
  items_.begin(viewer, static_cast<float>(scale), now, !has_list);
  if (is_visible(now)) {
    const int bar = bar_height(scale);
    const auto above = static_cast<float>(window.height - bar - (open_ ? 0 : labels));
    items_.put_tooltips_above(above - 4 * items_.scale());
    draw_bar(items_, window, bar, open_);
  }
  if (open_ && !viewer.state().help) {  // the keys take its place
    draw_panel(window);
  }
  if (viewer.state().asks_to_quit) {
    draw_question(items_, window);
  }
}

void Controls::draw_panel(io::Size window) {
  const auto scale = double{items_.scale()};
  const io::Size size = panel_size(window, scale);
  const ImVec2 corner{static_cast<float>(window.width - size.width),
                      static_cast<float>(window.height - bar_height(scale) - size.height)};
  if (is_panel_beside(window, scale)) {
    items_.put_tooltips_left_of(corner.x - 4 * items_.scale());
  } else {
    items_.put_tooltips_above(corner.y - 4 * items_.scale());
  }
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::SetNextWindowPos(corner);
  ImGui::SetNextWindowSize({static_cast<float>(size.width), static_cast<float>(size.height)});
  ImGui::Begin("panel", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  const float footer = write_row_height(items_);
  ImGui::BeginChild("rows", {0, -footer}, false, ImGuiWindowFlags_NoNav);
  draw_panel_rows(items_);
  ImGui::EndChild();
  draw_write_row(items_);
  ImGui::End();
  ImGui::PopStyleVar();
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 10000;
constexpr std::size_t kMostLines = 24;
// In units of 1/96 inch.
constexpr float kListWidth = 560;
constexpr float kListLine = 22;

}  // namespace

void FileList::list(const fs::path& folder) {
  std::error_code failure;
  folder_ = fs::canonical(folder.empty() ? "." : folder, failure);
  if (failure) {
    std::error_code ignored;
    folder_ = fs::absolute(folder, ignored);
  }
  entries_.clear();
  selected_ = first_ = 0;
  fs::directory_iterator each(folder_, failure);
  for (; !failure && each != fs::directory_iterator() && entries_.size() < kMostEntries;
       each.increment(failure)) {
    std::error_code ignored;
    const std::string name = each->path().filename().string();
    const bool is_folder = each->is_directory(ignored);
    if (!name.starts_with('.') && (is_folder || wanted_(name))) {
      entries_.push_back({name, is_folder});
    }
  }
  failure_ = failure ? folder_.string() + ": cannot be read: " + failure.message() : "";
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return std::pair(!a.is_folder, lower_case(a.name)) < std::pair(!b.is_folder, lower_case(b.name));
  });
  if (folder_.has_parent_path() && folder_ != folder_.root_path()) {
    entries_.insert(entries_.begin(), {"..", true});
  }
}

std::optional<fs::path> FileList::choose(std::size_t entry) {
  if (entry >= entries_.size()) {
    return std::nullopt;
  }
  const fs::path path = folder_ / entries_[entry].name;
  if (entries_[entry].is_folder) {
    list(path);
    return std::nullopt;
  }
  open_ = false;
  return path;
}

void FileList::select_by_letter(const std::string& letter) {
  const std::string wanted = lower_case(letter);
  for (std::size_t i = 1; i <= entries_.size(); ++i) {
    const std::size_t entry = (selected_ + i) % entries_.size();
    if (lower_case(entries_[entry].name).starts_with(wanted)) {
      selected_ = entry;
      return;
    }
  }
}

std::optional<fs::path> FileList::press(const std::string& key) {
  const std::size_t last = entries_.empty() ? 0 : entries_.size() - 1;
  if (key == "ESC") {
    open_ = false;
  } else if (key == "UP") {
    selected_ -= selected_ > 0 ? 1 : 0;
  } else if (key == "DOWN") {
    selected_ = std::min(selected_ + 1, last);
  } else if (key == "PGUP") {
    selected_ -= std::min(selected_, kMostLines);
  } else if (key == "PGDN") {
    selected_ = std::min(selected_ + kMostLines, last);
  } else if (key == "HOME") {
    selected_ = 0;
  } else if (key == "END") {
    selected_ = last;
  } else if (key == "BACKSPACE") {
    list(folder_ / "..");
  } else if (key == "ENTER") {
    return choose(selected_);
  } else {
    select_by_letter(key);
  }
  return std::nullopt;
}

std::optional<fs::path> FileList::draw(io::Size window, ControlItems& items, const TextOf& text_of) {
  const float s = items.scale();
  const float width = std::min(kListWidth * s, static_cast<float>(window.width) - 16 * s);
  const auto fitting = static_cast<std::size_t>(
      std::max((static_cast<float>(window.height) - 130 * s) / (kListLine * s), 3.0F));
  const std::size_t lines = std::min(kMostLines, fitting);
  ImGui::SetNextWindowPos({static_cast<float>(window.width) / 2, static_cast<float>(window.height) / 2}, 0,
                          {0.5F, 0.5F});
  ImGui::SetNextWindowSize({width, 0});
  ImGui::SetNextWindowBgAlpha(1);
  ImGui::Begin("files", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoScrollWithMouse);
  std::optional<std::size_t> chosen;
  draw_title(text_of);
  if (ImGui::IsWindowHovered() && ImGui::GetIO().MouseWheel != 0) {
    const std::size_t last = entries_.size() > lines ? entries_.size() - lines : 0;
    constexpr std::size_t kNotch = 3;
    first_ =
        ImGui::GetIO().MouseWheel > 0 ? first_ - std::min(first_, kNotch) : std::min(first_ + kNotch, last);
    selected_ = std::clamp(selected_, first_, first_ + lines - 1);
  }
  draw_rows(lines, items, text_of, chosen);
  if (ImGui::Button("Cancel")) {
    open_ = false;
  }
  items.note("cancel files", "");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("Keys: UP, DOWN, ENTER, BACKSPACE (folder above), first letter, ESC");
  ImGui::End();
  return chosen ? choose(*chosen) : std::nullopt;
}

void FileList::draw_rows(std::size_t count, ControlItems& items, const TextOf& text_of,
                         std::optional<std::size_t>& chosen) {
  first_ = std::min(first_, selected_);
  first_ = selected_ >= first_ + count ? selected_ - count + 1 : first_;
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t entry = first_ + row;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool exists = entry < entries_.size();
    if (ImGui::Selectable(fmt::format("###file {}", row).c_str(), exists && entry == selected_, 0,
                          {0, kListLine * items.scale() - ImGui::GetStyle().ItemSpacing.y}) &&
        exists) {
      chosen = entry;
    }
    if (exists) {
      const std::string text = entries_[entry].name + (entries_[entry].is_folder ? "/" : "");
      items.note(fmt::format("file {}", entries_[entry].name), "");
      ImGui::GetWindowDrawList()->AddText(at, ImGui::GetColorU32(ImGuiCol_Text), text_of(text).c_str());
    }
  }
}

}  // namespace limpid::app
