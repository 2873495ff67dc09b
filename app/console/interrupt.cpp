// SPDX-License-Identifier: MIT
#include "app/console/interrupt.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "app/console/exit_codes.h"
#include "core/base/thread.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

constexpr int kWatchedSignals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kWatchedSignals) {
    sigaddset(&signals, signal);
  }
  return signals;
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
void report_interruptibly(const Report& report) {
  const sigset_t signals = watched_signals();
  for (const int signal : kWatchedSignals) {
    std::signal(signal, end_at_once);
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  report();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  io::set_outputs_interrupted(false);
  watch_ends = false;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = start_thread([this](const std::stop_token& end) { run(end); });
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  watch_ends = true;
  pthread_kill(thread_.native_handle(), SIGINT);  // wakes sigwait
}

void InterruptWatch::run(const std::stop_token& end) {
  const sigset_t signals = watched_signals();
  while (!end.stop_requested()) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || end.stop_requested()) {
      return;
    }
    io::set_outputs_interrupted(true);
    if (stop_.request_stop()) {
      report_interruptibly([] {
        spdlog::warn("interrupted: finishing the frames in progress (interrupt again to exit at once)");
      });
      continue;
    }
    end_at_once(signal);
  }
}

}  // namespace limpid::app
