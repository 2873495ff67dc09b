// SPDX-License-Identifier: MIT
#include "app/player/player_screen.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/player/properties.h"
#include "app/player/viewer.h"

namespace limpid::app {
namespace {

// Frames of controls that show the effect of an event.
constexpr int kFramesToSettle = 2;
constexpr ImU32 kLineInk = IM_COL32(255, 255, 255, 255);
constexpr ImU32 kRecordingInk = IM_COL32(230, 40, 40, 255);
constexpr ImU32 kLineEdgeInk = IM_COL32(0, 0, 0, 128);

View whole_picture(const ViewerOptions& options) {
  const FrameFormat& format = options.shown_format();
  const io::DisplayProperties& display = options.shown_display();
  const bool turned = display.orientation.transposed;
  return {turned ? io::Size{format.height, format.width} : io::Size{format.width, format.height},
          turned ? 1 / display.pixel_aspect : display.pixel_aspect};
}

io::WindowOptions window_options(const ViewerOptions& options) {
  io::WindowOptions result = options.window;
  if (result.size.width <= 0) {
    const View picture = whole_picture(options);
    const double aspect = picture.pixel_aspect();
    result.size = {static_cast<int>(std::lround(picture.picture().width * std::max(aspect, 1.0))),
                   static_cast<int>(std::lround(picture.picture().height * std::max(1 / aspect, 1.0)))};
    result.least = {1280, 720};
  }
  return result;
}

std::shared_ptr<io::Window> open(const ViewerOptions& options) {
  if (options.open_window == nullptr) {
    return std::make_shared<io::Window>(window_options(options));
  }
  options.open_window->set_display_lost(options.window.display_lost);
  options.open_window->set_title(options.window.title);
  return options.open_window;
}

}  // namespace

Side shown_side(const PlayedFrame& frame, Side side) { return frame.is_waiting ? Side::kNoisy : side; }

PlayerScreen::PlayerScreen(const ViewerOptions& options)
    : options_(options),
      window_(open(options)),
      painter_(options.shown_format(), options.shown_display()),
      controls_(options.overlay),
      view_(whole_picture(options)),
      split_(options.split),
      window_size_(window_->size()) {
  controls_.open_panel(options.controls);
  split_.set_locked(true);  // the pointer has controls to go to
  const io::Size size = stage();
  view_.set_zoom(options.zoom, size.width / 2.0, size.height / 2.0, size);
}

void PlayerScreen::redraw_controls() {
  redraw_ = true;
  settling_ = kFramesToSettle;
}

void PlayerScreen::follow(Clock::time_point now) {
  if (layer_.has_keyboard()) {
    controls_.notice_pointer(now, true);
  }
  if (const auto tooltip_at = controls_.tooltip_at(now); tooltip_at && *tooltip_at <= now) {
    redraw_controls();
  }
  const bool visible = controls_.is_visible(now);
  redraw_ = redraw_ || visible != controls_were_visible_;
  controls_were_visible_ = visible;
  window_->show_pointer(visible || !window_->is_full_screen());
}

void PlayerScreen::follow_size() {
  if (const io::Size size = window_->size(); size != window_size_) {
    window_size_ = size;
    split_.forget_pointer();
  }
  redraw_ = true;
}

// Uploads what the view needs of the frame that is shown.
void PlayerScreen::upload_pictures(const Viewer& viewer, Side side) {
  const PlayedFrame& shown = *viewer.shown();
  if (side == Side::kPair) {
    // The picture of before stays until the result is there.
    const auto result = [&](std::size_t which) {
      const PlayedFramePointer own = viewer.pair_result(which);
      return own != nullptr ? own->denoised : shown.denoised;
    };
    painter_.set_first(options_.shown(result(0)));
    painter_.set_second(options_.shown(result(1)));
    noisy_uploaded_ = denoised_uploaded_ = false;
    return;
  }
  if (side != Side::kDenoised && !noisy_uploaded_) {
    painter_.set_first(options_.shown(shown.noisy));
    noisy_uploaded_ = true;
  }
  if (side != Side::kNoisy && !denoised_uploaded_) {
    painter_.set_second(options_.shown(shown.denoised));
    denoised_uploaded_ = true;
  }
}

void PlayerScreen::draw_picture(const Viewer& viewer) {
  const ViewState& state = viewer.state();
  const Side side = shown_side(*viewer.shown(), state.side);
  upload_pictures(viewer, side);
  const io::Size size = stage();
  View::Placement placement = view_.place(picture_area(state.side));
  if (state.mirrored) {
    placement.source.x = view_.picture().width - placement.source.x - placement.source.width;
  }
  const auto draw_part = [&](io::PictureChoice choice, int left, int right) {
    painter_.draw({placement.source,
                   placement.target,
                   {left, 0, right - left, size.height},
                   placement.smooth,
                   choice,
                   state.shader_values,
                   state.mirrored},
                  window_->size());
  };
  window_->clear();
  switch (side) {
    case Side::kSplit:
    case Side::kPair:
      draw_part(io::PictureChoice::kFirst, 0, split_.column(size.width));
      draw_part(io::PictureChoice::kSecond, split_.column(size.width), size.width);
      break;
    case Side::kNoisy:
      draw_part(io::PictureChoice::kFirst, 0, picture_area(state.side).width);
      if (state.side == Side::kSideBySide) {  // and nothing is denoised yet
        placement.target.x += size.width / 2;
        draw_part(io::PictureChoice::kFirst, size.width / 2, size.width);
      }
      break;
    case Side::kDenoised:
      draw_part(io::PictureChoice::kSecond, 0, size.width);
      break;
    case Side::kDifference:
      if (viewer.view_is_final()) {  // a draft differs elsewhere
        draw_part(io::PictureChoice::kDifference, 0, size.width);
      }
      break;
    case Side::kSideBySide:
      draw_part(io::PictureChoice::kFirst, 0, size.width / 2);
      placement.target.x += size.width / 2;
      draw_part(io::PictureChoice::kSecond, size.width / 2, size.width);
      break;
  }
}

std::optional<std::filesystem::path> PlayerScreen::draw(Viewer& viewer, FileList& files) {
  draw_picture(viewer);
  begin();
  const Side side = shown_side(*viewer.shown(), viewer.state().side);
  const bool has_keys = viewer.state().help;
  if ((side == Side::kSplit || side == Side::kPair) && !has_keys) {
    draw_line();
  }
  if (options_.overlay && !has_keys) {
    draw_labels(viewer);
  }
  draw_box(viewer.area(), viewer.state().side);
  draw_text(viewer);
  const int labels = options_.overlay ? 2 * text_line() + 2 * text_margin(text_line()) : 0;
  controls_.draw(viewer, window_->size(), scale(), labels, Clock::now());
  std::optional<std::filesystem::path> chosen;
  if (files.is_open()) {
    chosen = files.draw(window_->size(), controls_.items(),
                        [this](const std::string& text) { return layer_.text(text); });
  }
  controls_.end();
  layer_.end();
  return chosen;
}

void PlayerScreen::draw_line() const {
  const auto x = static_cast<float>(split_.column(stage().width));
  const auto bottom = static_cast<float>(stage().height);
  ImGui::GetBackgroundDrawList()->AddRectFilled({x - 2, 0}, {x + 2, bottom}, kLineEdgeInk);
  ImGui::GetBackgroundDrawList()->AddRectFilled({x - 1, 0}, {x + 1, bottom}, kLineInk);
}

// The box with handles at its corners and edges.
void PlayerScreen::draw_box(const NoiseArea& noise, Side side) const {
  if (!noise.box() || (!noise.is_marked_now() && !noise.box()->is_held() && !shows_controls())) {
    return;
  }
  const io::Rectangle& box = noise.box()->box();
  const io::Size area = picture_area(side);
  const View::Point first = view_.to_window({double(box.x), double(box.y)}, area);
  const View::Point last = view_.to_window({double(box.x + box.width), double(box.y + box.height)}, area);
  ImDrawList* const list = ImGui::GetBackgroundDrawList();
  const auto outline = [&](double inset, ImU32 color) {
    list->AddRect({static_cast<float>(first.x + inset), static_cast<float>(first.y + inset)},
                  {static_cast<float>(last.x - inset), static_cast<float>(last.y - inset)}, color);
  };
  outline(0, kLineInk);
  outline(1, kLineEdgeInk);
  const View::Point middle{(first.x + last.x) / 2, (first.y + last.y) / 2};
  const auto half = static_cast<float>(NoiseBox::kHandle * scale() / 2);
  for (const double x : {first.x, middle.x, last.x}) {
    for (const double y : {first.y, middle.y, last.y}) {
      if (noise.is_marked_now() || (x == middle.x && y == middle.y)) {
        continue;
      }
      const ImVec2 at{static_cast<float>(x), static_cast<float>(y)};
      list->AddRectFilled({at.x - half - 1, at.y - half - 1}, {at.x + half + 1, at.y + half + 1},
                          kLineEdgeInk);
      list->AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, kLineInk);
    }
  }
}

void PlayerScreen::draw_labels(const Viewer& viewer) {
  const io::Size size = stage();
  const int margin = text_margin(text_line());
  const int bottom = bottom_of_pictures(viewer);
  const int split = split_.column(size.width);
  // A label keeps to its side of the line.
  const auto label = [&](const std::string& text, int x, bool left_of_it) {
    const int room = std::max((left_of_it ? x : size.width - x) - 2 * margin, 6 * text_line());
    const TextBox box({text}, text_line(), room);
    box.draw(left_of_it ? x - margin - box.size().width : x + margin, bottom - margin - box.size().height);
  };
  const std::array<std::string, 2> labels = viewer.labels();
  switch (shown_side(*viewer.shown(), viewer.state().side)) {
    case Side::kSplit:
    case Side::kPair:
      label(labels[0], split, true);
      label(labels[1], split, false);
      break;
    case Side::kSideBySide:
      label(labels[0], 0, false);
      label(labels[1], size.width / 2, false);
      break;
    default:
      label(labels[0], 0, false);
      break;
  }
}

// Right above, with a red dot.
void PlayerScreen::draw_recording(const std::string& text) {
  const int line = text_line();
  const int margin = text_margin(line);
  const TextBox box({"     " + layer_.text(text)}, line, stage().width - 2 * margin);
  const int left = stage().width - margin - box.size().width;
  box.draw(left, margin);
  const auto middle = static_cast<float>(margin) + static_cast<float>(box.size().height) / 2;
  const auto height = static_cast<float>(line);
  ImGui::GetBackgroundDrawList()->AddCircleFilled({static_cast<float>(left) + 0.75F * height, middle},
                                                  0.35F * height, kRecordingInk);
}

int PlayerScreen::bottom_of_pictures(const Viewer& viewer) const {
  const int bottom = controls_.is_open() ? stage().height : window_->size().height;
  const bool has_bar = !controls_.is_open() && shows_controls() && viewer.shown() != nullptr;
  return has_bar ? bottom - Controls::bar_height(scale()) : bottom;
}

void PlayerScreen::draw_text(const Viewer& viewer) {
  const ViewState& state = viewer.state();
  const bool has_frame = viewer.shown() != nullptr;
  const int line = text_line();
  const int margin = text_margin(line);
  const io::Size size = stage();
  const int inner = size.width - 2 * margin;
  if (state.statistics && has_frame && !state.help) {
    Statistics shown = viewer.statistics();
    shown.source = layer_.text(shown.source);
    statistics_box(shown, line, size).draw(margin, margin);
  }
  const std::string recording = has_frame && options_.recording ? options_.recording() : "";
  if (!recording.empty() && options_.overlay) {
    draw_recording(recording);
  }
  int bottom = bottom_of_pictures(viewer) - margin - 2 * line - margin;  // above the labels
  const auto tell = [&](const std::string& text) {
    if (text.empty()) {
      return;
    }
    const TextBox box({layer_.text(text)}, line, inner);
    bottom -= box.size().height;
    box.draw((size.width - box.size().width) / 2, bottom);
    bottom -= margin;
  };
  tell(viewer.notice_text());
  if (state.help) {
    std::vector<KeyGroup> groups;
    std::ranges::copy_if(key_groups(), std::back_inserter(groups),
                         [&](const KeyGroup& each) { return viewer.is_in_scope(each.scope); });
    const int bar = shows_controls() ? Controls::bar_height(scale()) : 0;
    const io::Size whole{window_->size().width, window_->size().height - bar};
    const TextBox box = help_box(key_help_lines(groups), line, whole);
    return box.draw((whole.width - box.size().width) / 2,
                    std::max((whole.height - box.size().height) / 2, 0));
  }
  if (state.pixels && has_frame) {
    tell(viewer.pixel_text());
  }
  tell(state.hint);
}

std::string PictureMouse::handle(const io::WindowEvent& event) {
  using Kind = io::WindowEvent::Kind;
  switch (event.kind) {
    case Kind::kPointer:
      position_ = {event.x, event.y};
      if (screen_.split().point(event.x, screen_.stage().width) && has_line()) {
        screen_.redraw();
      }
      break;
    case Kind::kDrag:
      drag(event);
      break;
    case Kind::kPress:
      return press(event) ? "toggle full-screen" : "";
    case Kind::kLeave:
      screen_.split().leave();
      screen_.redraw();
      break;
    case Kind::kWheel:
      if (event.dy != 0) {
        position_ = {event.x, event.y};
        return event.dy > 0 ? "wheel in" : "wheel out";
      }
      break;
    default:
      break;
  }
  return "";
}

// Returns true for a double click.
bool PictureMouse::press(const io::WindowEvent& event) {
  // The first press of a double click may have chosen this source in the window of another one.
  if (event.clicks == 2 && !std::exchange(was_pressed_, true)) {
    return false;
  }
  was_pressed_ = true;
  holds_picture_ = true;
  dragged_ = 0;
  const int half = screen_.picture_area(state_.side).width;
  picture_left_ = state_.side == Side::kSideBySide && event.x >= half ? half : 0;
  return !grab_area(event) && event.clicks == 2 && !event.right;
}

View::Point PictureMouse::zoom_point() const {
  const io::Size area = screen_.picture_area(state_.side);
  const bool is_right = state_.side == Side::kSideBySide && position_.x >= area.width;
  const View::Point at{position_.x - (is_right ? area.width : 0), position_.y};
  const bool is_on_picture = at.x >= 0 && at.y >= 0 && at.x < area.width && at.y < area.height;
  return is_on_picture ? at : View::Point{area.width / 2.0, area.height / 2.0};
}

// Returns true if the pointer holds the box now.
bool PictureMouse::grab_area(const io::WindowEvent& event) {
  if (!area_.box() || event.right || !screen_.shows_controls()) {
    return false;
  }
  io::WindowEvent neighbor = event;
  neighbor.x += 1;
  const View::Point at = in_picture(event);
  return area_.box()->grab(at.x, at.y, NoiseBox::kHandle * screen_.scale() * (in_picture(neighbor).x - at.x));
}

void PictureMouse::drag(const io::WindowEvent& event) {
  dragged_ += std::abs(event.dx) + std::abs(event.dy);
  screen_.redraw();
  if (event.right) {
    const double x = event.x - picture_left_;
    corner_ = corner_.value_or(View::Point{x - event.dx, event.y - event.dy});
    area_.mark(
        screen_.view().picture_part(corner_->x, corner_->y, x, event.y, screen_.picture_area(state_.side)));
    return;
  }
  if (area_.box() && area_.box()->is_held()) {
    const View::Point at = in_picture(event);
    return area_.box()->drag(at.x, at.y);
  }
  const bool picture_moves = screen_.view().zoom() > 0 || !has_line();
  position_ = {event.x, event.y};
  if (!screen_.split().drag(event.x - event.dx, event.x, screen_.stage().width, event.touch, picture_moves)) {
    screen_.view().pan(event.dx, event.dy, screen_.picture_area(state_.side));
  }
}

std::string PictureMouse::release(const io::WindowEvent& event, bool has_frame) {
  constexpr double kClick = 4;
  const bool held_area = area_.box() && area_.box()->is_held();
  const bool moved_area = held_area && area_.box()->release();
  std::string line;
  if (((event.right && area_.is_marked_now()) || moved_area) && has_frame) {
    line = "measure-noise";
  } else if (holds_picture_ && !held_area && !event.right && dragged_ < kClick && has_frame) {
    line = "toggle pause";
  }
  holds_picture_ = false;
  corner_.reset();
  area_.end_mark();
  screen_.split().release();
  return line;
}

}  // namespace limpid::app
