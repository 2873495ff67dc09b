// SPDX-License-Identifier: MIT
#include "app/player/file_list.h"

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/text.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 10000;
constexpr std::size_t kMostLines = 24;
// In units of 1/96 inch.
constexpr float kListWidth = 560;
constexpr float kListLine = 22;

}  // namespace

void FileList::open(const fs::path& folder, std::string title, Wanted wanted) {
  title_ = std::move(title);
  wanted_ = std::move(wanted);
  open_ = true;
  list(folder);
}

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

void FileList::draw_title(const TextOf& text_of) const {
  ImGui::TextUnformatted(title_.c_str());
  ImGui::SameLine();
  ImGui::TextUnformatted(text_of(failure_.empty() ? folder_.string() : failure_).c_str());
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
