// SPDX-License-Identifier: MIT
#pragma once

#include <spdlog/spdlog.h>

#include <memory>

#include "app/console/console.h"
#include "app/console/logging.h"

namespace limpid::app {

/// Silences the program's logging during its lifetime.
class SilentLogging {
 public:
  SilentLogging() { set_up_logging(console_, {.level = "off", .file = ""}); }
  SilentLogging(const SilentLogging&) = delete;
  SilentLogging& operator=(const SilentLogging&) = delete;
  SilentLogging(SilentLogging&&) = delete;
  SilentLogging& operator=(SilentLogging&&) = delete;
  ~SilentLogging() { spdlog::set_default_logger(before_); }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  Console console_;
};

}  // namespace limpid::app
