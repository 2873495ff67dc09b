#include "app/console/interrupt.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdlib>

#include "app/console/exit_codes.h"
#include "core/base/thread.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = start_thread([this](const std::stop_token& end) { run(end); });
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), SIGINT);  // wakes sigwait
}

void InterruptWatch::run(const std::stop_token& end) {
  const sigset_t signals = watched_signals();
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || end.stop_requested()) {
      return;
    }
    if (stop_.request_stop()) {
      spdlog::warn("interrupted: finishing the frames under way (again to exit at once)");
      continue;
    }
    io::remove_temporary_files();
    std::_Exit(kExitInterrupted);
  }
}

}  // namespace limpid::app
