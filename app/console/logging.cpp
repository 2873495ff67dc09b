// SPDX-License-Identifier: MIT
#include "app/console/logging.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/console/console.h"
#include "core/base/error.h"
#include "io/media/libav_setup.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

class ConsoleSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit ConsoleSink(Console& console) : console_(console) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    console_.print_line(prefix(message.level) + printable({message.payload.data(), message.payload.size()}));
  }
  void flush_() override {}

 private:
  static std::string prefix(spdlog::level::level_enum level) {
    switch (level) {
      case spdlog::level::trace:
        return "trace: ";
      case spdlog::level::debug:
        return "debug: ";
      case spdlog::level::warn:
        return "limpid: warning: ";
      case spdlog::level::err:
      case spdlog::level::critical:
        return "limpid: ";
      default:
        return "";
    }
  }

  Console& console_;
};

/// A message as a terminal shows it: names of files may hold line breaks and commands to terminals.
class PrintableMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& to) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    to.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableMessage>();
  }
};

/// Forwards warnings to WarningRecorders. The logger's own list of sinks has no lock, and InterruptWatch may
/// log at any moment.
const std::shared_ptr<spdlog::sinks::dist_sink_mt>& recorders() {
  static const auto sinks = std::make_shared<spdlog::sinks::dist_sink_mt>();
  return sinks;
}

void log_ffmpeg_message(io::LogSeverity severity, const std::string& line) {
  if (severity == io::LogSeverity::kPanic) {
    spdlog::error("FFmpeg cannot continue (" + line + "); memory may be exhausted");
    io::remove_temporary_files();
    std::_Exit(kExitFailed);
  }
  const bool trouble = severity == io::LogSeverity::kError || severity == io::LogSeverity::kWarning;
  spdlog::log(trouble ? spdlog::level::debug : spdlog::level::trace, "ffmpeg: " + line);
}

spdlog::level::level_enum parse_level(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, spdlog::level::level_enum>, 6> kLevels{{
      {"trace", spdlog::level::trace},
      {"debug", spdlog::level::debug},
      {"info", spdlog::level::info},
      {"warning", spdlog::level::warn},
      {"error", spdlog::level::err},
      {"off", spdlog::level::off},
  }};
  for (const auto& [level_name, level] : kLevels) {
    if (name == level_name) {
      return level;
    }
  }
  throw UsageError("--log-level: '" + name + "' is not one of trace, debug, info, warning, error, off");
}

}  // namespace

void set_up_logging(Console& console, const LoggingOptions& options) {
  const spdlog::level::level_enum level = parse_level(options.level);
  auto console_sink = std::make_shared<ConsoleSink>(console);
  console_sink->set_level(level);
  auto logger =
      std::make_shared<spdlog::logger>("limpid", spdlog::sinks_init_list{console_sink, recorders()});
  logger->set_level(std::min(level, spdlog::level::warn));  // for WarningRecorder
  if (!options.file.empty()) {
    // spdlog would make the folders of a name that is mistyped.
    const std::filesystem::path folder = std::filesystem::path(options.file).parent_path();
    if (std::error_code ignored; !folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
      throw Error("--log-file: can't write to '" + options.file + "': there is no folder " + folder.string());
    }
    try {
      auto file_sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file, true);
      auto formatter = std::make_unique<spdlog::pattern_formatter>();
      formatter->add_flag<PrintableMessage>('*').set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%l] %*");
      file_sink->set_formatter(std::move(formatter));
      logger->sinks().push_back(std::move(file_sink));
    } catch (const spdlog::spdlog_ex&) {
      throw Error("--log-file: can't write to '" + options.file + "'");
    }
    logger->set_level(std::min(level, spdlog::level::debug));
    logger->flush_on(spdlog::level::info);
  }
  spdlog::set_default_logger(std::move(logger));
  io::set_log_sink(log_ffmpeg_message);
}

class WarningRecorder::Sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> warnings() {
    const std::scoped_lock lock(mutex_);
    return warnings_;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level == spdlog::level::warn) {
      warnings_.emplace_back(message.payload.data(), message.payload.size());
    }
  }
  void flush_() override {}

 private:
  std::vector<std::string> warnings_;
};

WarningRecorder::WarningRecorder() : sink_(std::make_shared<Sink>()) { recorders()->add_sink(sink_); }

WarningRecorder::~WarningRecorder() { recorders()->remove_sink(sink_); }

std::vector<std::string> WarningRecorder::warnings() const { return sink_->warnings(); }

void log_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    spdlog::warn(warning);
  }
}

}  // namespace limpid::app
