// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/screen/display.h"
#include "tests/app/program/program_test.h"

namespace limpid::test {

/// A fixture with a screen of its own, by Xvfb, and somebody who types and points there, by xdotool. Skips
/// where one of them is absent or doesn't start.
class ScreenTest : public ProgramTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Command line of limpid with these arguments, on this screen.
  std::vector<std::string> on_screen(const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& environment = {}) const;
  /// Runs xdotool; fails the test if that fails.
  std::string xdotool(const std::vector<std::string>& arguments) const;
  /// Types keys, by their X names.
  void type(const std::vector<std::string>& keys) const;
  /// The window whose title contains `title`, waited for; and moving the pointer in it.
  std::string find_window(const std::string& title) const;
  /// Its title as window managers read it that know ICCCM only, in UTF-8.
  std::string plain_title(const std::string& window) const;
  void point(const std::string& window, int x, int y) const;
  /// Waits until the middle of the window isn't black; fails the test if it stays so.
  void expect_picture(const std::string& window) const;
  /// Asks the window to close, or tells it that it is minimized, as a window manager does.
  void close(const std::string& window) const;
  void minimize(const std::string& window) const;
  /// Takes the window away, and with it its owner's connection to the screen or not.
  void kill_owner(const std::string& window) const;
  void destroy(const std::string& window) const;
  /// Stops the screen: whoever draws there waits until it goes on.
  void set_frozen(bool frozen) const;
  /// Ends the screen, under all that is shown there.
  void kill_screen();

  const std::string& display() const { return display_; }

 private:
  std::unique_ptr<Process> server_;
  std::string display_;
};

/// A square of 128 pixels in the top left corner of a screen, which can be black or white.
class ScreenLamp {
 public:
  explicit ScreenLamp(const std::string& display);
  ScreenLamp(const ScreenLamp&) = delete;
  ScreenLamp& operator=(const ScreenLamp&) = delete;
  ScreenLamp(ScreenLamp&&) = delete;
  ScreenLamp& operator=(ScreenLamp&&) = delete;
  ~ScreenLamp();
  void set(bool on);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Somebody who looks at a screen.
class Eye {
 public:
  explicit Eye(const std::string& display);
  Eye(const Eye&) = delete;
  Eye& operator=(const Eye&) = delete;
  Eye(Eye&&) = delete;
  Eye& operator=(Eye&&) = delete;
  ~Eye();
  /// Whether there is blue light at a place of the screen.
  bool sees_blue(int x, int y) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The picture in a PNG file, read by libav.
io::RgbImage read_png(const std::string& path);

/// Waits until the condition is true; false if that takes too long.
template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= give_up) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return true;
}

}  // namespace limpid::test
