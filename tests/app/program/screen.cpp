// SPDX-License-Identifier: MIT
#include "tests/app/program/screen.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <thread>
#include <variant>

#include "io/media/reader.h"
#include "io/screen/display.h"

namespace limpid::test {
namespace {

using namespace std::chrono_literals;

struct ConnectionCloser {
  void operator()(Display* connection) const { XCloseDisplay(connection); }
};
using Connection = std::unique_ptr<Display, ConnectionCloser>;

Connection open_display(const std::string& display) {
  Connection connection(XOpenDisplay(display.c_str()));
  if (connection == nullptr) {
    throw std::runtime_error("can't open the display " + display);
  }
  return connection;
}

}  // namespace

void ScreenTest::SetUp() {
#ifdef __SANITIZE_THREAD__
  // Its history is too short for what oneTBB's threads last did to the stack of the thread that draws. The
  // player's own threads are tested without a window.
  GTEST_SKIP() << "ThreadSanitizer loses oneTBB's accesses to the drawing thread's stack";
#endif
  ProgramTest::SetUp();
  if (IsSkipped()) {
    return;
  }
  static std::string problem =
      can_run({"sh", "-c", "command -v xdotool && command -v Xvfb"}) ? "" : "Xvfb or xdotool is absent";
  if (!problem.empty()) {
    GTEST_SKIP() << problem;
  }
  // It chooses a free number itself and prints it where a Process can be read while it runs.
  server_ = std::make_unique<Process>(std::vector<std::string>{"Xvfb", "-displayfd", "2", "-screen", "0",
                                                               "1280x1024x24", "-nolisten", "tcp", "-ac"});
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (display_.empty() && std::chrono::steady_clock::now() < give_up && !server_->has_ended()) {
    const std::string text = server_->err_so_far();
    if (!text.empty() && text.back() == '\n') {
      const std::string last = lines(text).back();
      if (std::all_of(last.begin(), last.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
        display_ = ":" + last;
      }
    }
    std::this_thread::sleep_for(5ms);
  }
  if (display_.empty()) {
    problem = "Xvfb doesn't start: " + server_->err_so_far();
    GTEST_SKIP() << problem;
  }
}

void ScreenTest::TearDown() { server_.reset(); }

std::vector<std::string> ScreenTest::on_screen(const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& environment) const {
  // OpenGL in software: results do not depend on the machine.
  std::vector<std::string> command{"env", "DISPLAY=" + display_, "SDL_VIDEODRIVER=x11",
                                   "LIBGL_ALWAYS_SOFTWARE=1", "SDL_AUDIODRIVER=dummy"};
  command.insert(command.end(), environment.begin(), environment.end());
  const std::vector<std::string> program = limpid_command(arguments);
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

std::string ScreenTest::xdotool(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{"env", "DISPLAY=" + display_, "xdotool"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.out;
}

void ScreenTest::type(const std::vector<std::string>& keys) const {
  std::vector<std::string> arguments{"key", "--delay", "1"};
  arguments.insert(arguments.end(), keys.begin(), keys.end());
  xdotool(arguments);
}

std::string ScreenTest::find_window(const std::string& title) const {
  const std::string found = xdotool({"search", "--sync", "--onlyvisible", "--name", title});
  return lines(found).empty() ? "" : lines(found).front();
}

std::string ScreenTest::plain_title(const std::string& window) const {
  const Connection connection = open_display(display_);
  XTextProperty name{};
  if (XGetWMName(connection.get(), std::stoul(window), &name) == 0) {
    return "";
  }
  char** list = nullptr;
  int count = 0;
  std::string title;
  if (name.encoding == XInternAtom(connection.get(), "UTF8_STRING", False)) {
    title.assign(reinterpret_cast<const char*>(name.value), name.nitems);
  } else if (Xutf8TextPropertyToTextList(connection.get(), &name, &list, &count) >= 0 && count > 0) {
    title = list[0];
    XFreeStringList(list);
  }
  XFree(name.value);
  return title;
}

void ScreenTest::point(const std::string& window, int x, int y) const {
  xdotool({"mousemove", "--window", window, std::to_string(x), std::to_string(y)});
}

void ScreenTest::expect_picture(const std::string& window) const {
  const Connection connection = open_display(display_);
  const Window root = DefaultRootWindow(connection.get());
  const auto give_up = std::chrono::steady_clock::now() + 30s;
  for (unsigned long color = 0; color == 0; std::this_thread::sleep_for(5ms)) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "the window stays black";
    XWindowAttributes attributes{};
    Window child = 0;
    int x = 0;
    int y = 0;
    XGetWindowAttributes(connection.get(), std::stoul(window), &attributes);
    XTranslateCoordinates(connection.get(), std::stoul(window), root, attributes.width / 2,
                          attributes.height / 2, &x, &y, &child);
    XImage* const image = XGetImage(connection.get(), root, x, y, 1, 1, AllPlanes, ZPixmap);
    color = XGetPixel(image, 0, 0) & 0xFFFFFF;
    XDestroyImage(image);
  }
}

void ScreenTest::close(const std::string& window) const {
  const Connection owner = open_display(display_);
  Display* const connection = owner.get();
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = std::stoul(window);
  event.xclient.message_type = XInternAtom(connection, "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(connection, "WM_DELETE_WINDOW", False));
  XSendEvent(connection, event.xclient.window, False, NoEventMask, &event);
}

void ScreenTest::minimize(const std::string& window) const {
  const Connection owner = open_display(display_);
  Display* const connection = owner.get();
  const Atom hidden = XInternAtom(connection, "_NET_WM_STATE_HIDDEN", False);
  XChangeProperty(connection, std::stoul(window), XInternAtom(connection, "_NET_WM_STATE", False), XA_ATOM,
                  32, PropModeReplace, reinterpret_cast<const unsigned char*>(&hidden), 1);
}

void ScreenTest::kill_owner(const std::string& window) const {
  const Connection connection = open_display(display_);
  XKillClient(connection.get(), std::stoul(window));
  XSync(connection.get(), False);
}

void ScreenTest::destroy(const std::string& window) const {
  const Connection connection = open_display(display_);
  XDestroyWindow(connection.get(), std::stoul(window));
  XSync(connection.get(), False);
}

void ScreenTest::kill_screen() { server_.reset(); }

void ScreenTest::set_frozen(bool frozen) const { server_->send_signal(frozen ? SIGSTOP : SIGCONT); }

struct ScreenLamp::State {
  Connection connection;
  Window window = 0;
};

ScreenLamp::ScreenLamp(const std::string& display) : state_(std::make_unique<State>()) {
  state_->connection = open_display(display);
  Display* const connection = state_->connection.get();
  XSetWindowAttributes attributes{};
  attributes.override_redirect = True;
  state_->window = XCreateWindow(connection, DefaultRootWindow(connection), 0, 0, 128, 128, 0, CopyFromParent,
                                 InputOutput, nullptr, CWOverrideRedirect, &attributes);
  XMapRaised(connection, state_->window);
}

ScreenLamp::~ScreenLamp() = default;

void ScreenLamp::set(bool on) {
  Display* const connection = state_->connection.get();
  const int screen = DefaultScreen(connection);
  XSetWindowBackground(connection, state_->window,
                       on ? WhitePixel(connection, screen) : BlackPixel(connection, screen));
  XClearWindow(connection, state_->window);
  XSync(connection, False);
}

struct Eye::State {
  Connection connection;
};

Eye::Eye(const std::string& display) : state_(std::make_unique<State>()) {
  state_->connection = open_display(display);
}

Eye::~Eye() = default;

bool Eye::sees_blue(int x, int y) const {
  Display* const connection = state_->connection.get();
  XImage* const image = XGetImage(connection, DefaultRootWindow(connection), x, y, 1, 1, AllPlanes, ZPixmap);
  const bool light = (XGetPixel(image, 0, 0) & 0xFF) > 128;
  XDestroyImage(image);
  return light;
}

io::RgbImage read_png(const std::string& path) {
  io::Reader reader(path);
  const io::Reader::Item item = reader.read();
  return io::screen_picture(std::get<Frame>(item), reader.display());
}

}  // namespace limpid::test
