// SPDX-License-Identifier: MIT

#include "app/console/process.h"

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "app/console/console.h"
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

/// Set before the destructor wakes the thread by a signal.
std::atomic<bool> watch_ends = false;

void end_at_once(int /*signal*/) {
  if (!watch_ends) {
    io::remove_temporary_files();
    std::_Exit(kExitInterrupted);
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

InterruptWatch::InterruptWatch(Interrupts interrupts) : interrupts_(interrupts), signals_(watched_signals()) {
  io::set_outputs_interrupted(false);
  watch_ends = false;
  if (interrupts == Interrupts::kFinish) {
    std::signal(SIGPIPE, SIG_IGN);
  }
  std::signal(SIGXFSZ, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  if (std::ranges::any_of(kWatchedSignals, [this](int signal) { return is_in(signals_, signal); })) {
    thread_ = start_thread([this](const std::stop_token& end) { run(end); });
  }
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  watch_ends = true;
  for (const int signal : kWatchedSignals) {
    if (thread_.joinable() && is_in(signals_, signal)) {
      pthread_kill(thread_.native_handle(), signal);  // wakes it
      break;
    }
  }
}

void InterruptWatch::run(const std::stop_token& end) {
  int signal = 0;
  if (sigwait(&signals_, &signal) != 0 || end.stop_requested()) {
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
  report_interruptibly(signals_, [] {
    spdlog::warn("interrupted: finishing the frames in progress (interrupt again to exit at once)");
  });
  signal = wait_for_signal(signals_, stopped + kPatienceWithWork);
  if (signal == 0 && !end.stop_requested()) {
    abandon_.request_stop();
    sigwait(&signals_, &signal);
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

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    if (std::int64_t kibibytes = 0; name == "MemAvailable:" && file >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

}  // namespace limpid::app
