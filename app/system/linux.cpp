// SPDX-License-Identifier: MIT

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "app/console/console.h"
#include "app/console/process.h"
#include "core/base/error.h"
#include "core/base/thread.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

constexpr int kWatchedSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Time after the first signal for work in progress. Docker kills after 10 s; the encoder's frames and the
/// end of the file need the rest.
constexpr std::chrono::seconds kPatienceWithWork{3};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kWatchedSignals) {
    if (!is_ignored(signal)) {
      sigaddset(&signals, signal);
    }
  }
  return signals;
}

bool is_in(const sigset_t& signals, int signal) { return sigismember(&signals, signal) == 1; }

/// Waits for a signal, at most until `end`. Returns 0 if none has come.
int wait_for_signal(const sigset_t& signals, std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left = std::max(end - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec patience{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    if (const int signal = sigtimedwait(&signals, nullptr, &patience); signal > 0) {
      return signal;
    }
    if (left.count() == 0) {
      return 0;
    }
  }
}

/// The signals that an InterruptWatch waits for.
sigset_t watched;

/// Set before the destructor wakes the thread by a signal.
std::atomic<bool> watch_ends = false;

void end_at_once(int /*signal*/) {
  if (!watch_ends) {
    io::exit_without_temporary_files(kExitInterrupted);
  }
}

/// Calls `report` so that a second signal ends the process even while the message waits, as for a terminal or
/// a pipe that takes none.
template <typename Report>
void report_interruptibly(const sigset_t& signals, const Report& report) {
  for (const int signal : kWatchedSignals) {
    if (is_in(signals, signal)) {
      std::signal(signal, end_at_once);
    }
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  report();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

InterruptWatch::InterruptWatch(Interrupts interrupts) : interrupts_(interrupts) {
  watched = watched_signals();
  io::set_outputs_interrupted(false);
  watch_ends = false;
  if (interrupts == Interrupts::kFinish) {
    std::signal(SIGPIPE, SIG_IGN);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  if (std::ranges::any_of(kWatchedSignals, [this](int signal) { return is_in(watched, signal); })) {
    thread_ = start_thread([this](const std::stop_token& end) { run(end); });
  }
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  watch_ends = true;
  for (const int signal : kWatchedSignals) {
    if (thread_.joinable() && is_in(watched, signal)) {
      pthread_kill(thread_.native_handle(), signal);  // wakes it
      break;
    }
  }
}

void InterruptWatch::run(const std::stop_token& end) {
  int signal = 0;
  if (sigwait(&watched, &signal) != 0 || end.stop_requested()) {
    return;
  }
  signal_ = signal;
  if (interrupts_ == Interrupts::kEnd) {
    end_at_once(signal);
    return;
  }
  const auto stopped = std::chrono::steady_clock::now();
  io::set_outputs_interrupted(true);
  stop_.request_stop();
  report_interruptibly(watched, [] {
    spdlog::warn("interrupted: finishing the frames in progress (interrupt again to exit at once)");
  });
  signal = wait_for_signal(watched, stopped + kPatienceWithWork);
  if (signal == 0 && !end.stop_requested()) {
    abandon_.request_stop();
    sigwait(&watched, &signal);
  }
  if (!end.stop_requested()) {
    end_at_once(signal);
  }
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::int64_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

bool are_processors_shared() {
  constexpr double kBusy = 1.5;  // threads that have run or waited for a processor in the last minute
  double load = 0;
  return getloadavg(&load, 1) == 1 && load > kBusy * std::thread::hardware_concurrency();
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    if (std::int64_t kibibytes = 0; name == "MemAvailable:" && file >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) {
    return size.ws_col;
  }
  return 80;
}

void set_up_console() {}

namespace {

std::string folder_of_user(const char* variable, const std::string& below_home) {
  const char* const folder = std::getenv(variable);
  const char* const home = std::getenv("HOME");
  if (folder != nullptr && *folder != '\0') {
    return folder;
  }
  return home != nullptr && *home != '\0' ? home + below_home : "";
}

}  // namespace

std::string state_folder() { return folder_of_user("XDG_STATE_HOME", "/.local/state"); }
std::string cache_folder() { return folder_of_user("XDG_CACHE_HOME", "/.cache"); }

std::vector<std::string> words_of_command(int argc, char** argv) { return {argv, argv + argc}; }

ChildProcess::ChildProcess(std::vector<std::string> command) {
  log_.reset(std::tmpfile());  // NOLINT(cppcoreguidelines-owning-memory)
  if (log_ == nullptr) {
    throw Error(command.front() + ": cannot be started: no temporary file: " + std::strerror(errno));
  }
  fcntl(fileno(log_.get()), F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, fileno(log_.get()), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A group of its own: a Ctrl-C in the terminal is for the window.
  sigset_t interrupt;  // which cancel() sends, even if this process ignores it
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  std::transform(command.begin(), command.end(), std::back_inserter(words),
                 [](std::string& word) { return word.data(); });
  words.push_back(nullptr);
  pid_t number = 0;
  const int failure = posix_spawn(&number, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) {
    throw Error(command.front() + ": cannot be started: " + std::strerror(failure));
  }
  process_ = number;
}

ChildProcess::~ChildProcess() = default;

int ChildProcess::log() const { return fileno(log_.get()); }

void ChildProcess::interrupt() const { kill(static_cast<pid_t>(process_), SIGINT); }

std::optional<int> ChildProcess::poll() {
  int status = 0;
  if (!exit_code_ &&
      waitpid(static_cast<pid_t>(process_), &status, WNOHANG) == static_cast<pid_t>(process_)) {
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  return exit_code_;
}

}  // namespace limpid::app
