// SPDX-License-Identifier: MIT
#include "app/console/logging.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

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
    io::exit_without_temporary_files(kExitFailed);
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

namespace {

using Kind = io::Diagnostic::Kind;

/// Diagnostics that a Writer has after its construction are reported then, and a failure ends the run.
bool is_told_before(Kind kind) {
  return kind == Kind::kLoss || kind == Kind::kLostData || kind == Kind::kLeftOut || kind == Kind::kFailure;
}

}  // namespace

std::string sentence(const io::Diagnostic& diagnostic, const ReadSource& source) {
  switch (diagnostic.kind) {
    case Kind::kLoss:
    case Kind::kLostData:
    case Kind::kLeftOut:
    case Kind::kLateLoss:
      return diagnostic.text;
    case Kind::kFailure:
      return fmt::format("{}: can't be read to its end: {}", source.name, diagnostic.text);
    case Kind::kDamage:
      return fmt::format("{}: is damaged and can't be read beyond its first {} frames: {}", source.name,
                         source.frames, diagnostic.text);
    case Kind::kShortfall:
      return fmt::format("{}: isn't whole: {}, with {}{} frames", source.name, diagnostic.text, source.frames,
                         source.expected > 0 ? fmt::format(" of about {}", source.expected) : "");
    case Kind::kMissingFrames:
    case Kind::kIgnoredCropping:
    case Kind::kCropping:
      return fmt::format("{}: {}", source.name, diagnostic.text);
    case Kind::kContainerErrors:
      return fmt::format("{}: its container is damaged in {} {}, and frames may be missing there: {}",
                         source.name, diagnostic.count, diagnostic.count == 1 ? "place" : "places",
                         diagnostic.text);
    case Kind::kDecoderErrors:
      return fmt::format(
          "{}: the decoder reports errors in {} {}, and frames may be damaged or missing there: {}",
          source.name, diagnostic.count, diagnostic.count == 1 ? "packet" : "packets", diagnostic.text);
    case Kind::kDamagedPackets:
      return fmt::format("{}: {} damaged packets were skipped", source.name, diagnostic.count);
    case Kind::kDamagedFrames:
      return fmt::format("{}: {} frames are damaged; the decoder filled in the missing parts", source.name,
                         diagnostic.count);
    case Kind::kWrongChecksums:
      return fmt::format(
          "{}: {} frames do not match the checksum in the stream; they were denoised as they were decoded",
          source.name, diagnostic.count);
    case Kind::kWrongTimes:
      return fmt::format("{}: {} {} wrong times, which were replaced by times between their neighbors'",
                         source.name, diagnostic.count, diagnostic.count == 1 ? "frame has" : "frames have");
    case Kind::kConvertedFrames:
      return fmt::format(
          "{}: {} frames differ from the first in size, pixel format, range or matrix and were converted to "
          "match it",
          source.name, diagnostic.count);
    case Kind::kScanChange:
      return fmt::format("{}: {}, unlike the first frame; all frames are encoded as the first one is",
                         source.name, diagnostic.text);
    case Kind::kAspectChange:
    case Kind::kColorChange:
      return fmt::format("{}: {}; most formats store only the properties of the first frame", source.name,
                         diagnostic.text);
  }
  return {};
}

void warn_of_the_whole(const io::Diagnostics& diagnostics, const ReadSource& source) {
  for (const io::Diagnostic& diagnostic : diagnostics) {
    if (!is_told_before(diagnostic.kind)) {
      const bool is_fault = diagnostic.kind != Kind::kCropping;
      spdlog::log(is_fault ? spdlog::level::warn : spdlog::level::info, sentence(diagnostic, source));
    }
  }
}

void warn_of_missing_report(const std::string& output) {
  spdlog::warn(fmt::format("{}: is complete; there was not enough memory for the report", output));
}

std::string strict_objection(const io::Diagnostics& diagnostics) {
  if (std::string lost = text_of(diagnostics, Kind::kLostData); !lost.empty()) {
    return lost;
  }
  if (std::string missing = text_of(diagnostics, Kind::kMissingFrames); !missing.empty()) {
    return missing;
  }
  if (count_of(diagnostics, Kind::kWrongChecksums) > 0) {
    return "has frames that do not match the checksum in the stream";
  }
  if (count_of(diagnostics, Kind::kWrongTimes) > 0) {
    return "has frames with wrong times";
  }
  for (const Kind kind :
       {Kind::kContainerErrors, Kind::kDecoderErrors, Kind::kDamagedPackets, Kind::kDamagedFrames}) {
    if (count_of(diagnostics, kind) > 0) {
      return "is damaged";
    }
  }
  if (!text_of(diagnostics, Kind::kDamage).empty()) {
    return "is damaged";
  }
  return text_of(diagnostics, Kind::kShortfall);
}

}  // namespace limpid::app
