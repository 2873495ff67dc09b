// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace limpid::io {

enum class LogSeverity : std::uint8_t {
  kPanic,  ///< libav calls abort() next because an internal condition is violated, as after a failed
           ///< allocation
  kError,
  kWarning,
  kInfo,
  kDebug
};

/// Receives one line of libav's messages, without line break, preceded by the name of the codec or format:
/// "[h264] error while decoding MB 3 4". Called on any thread, possibly on several at once.
using LogSink = std::function<void(LogSeverity severity, const std::string& line)>;

/// Redirects libav's messages from standard error to this module, and prevents SVT-AV1 from printing there.
/// Both are process-wide: to be called at the start of a program, while it has one thread. Without this call,
/// errors lack libav's reasons, invalid entries of lists such as x264-params are not errors, and Readers do
/// not detect damage that libav only logs.
void take_over_logs();

/// Sends the messages to `sink`; an empty one (the initial state) drops them.
void set_log_sink(LogSink sink);

/// Limits the threads that libav's decoders and encoders start by default to `processors`. libav itself
/// counts the processors of the affinity mask, without the quotas of control groups. Process-wide.
void limit_libav_threads(int processors);

/// The version of the FFmpeg libraries in use, which may differ from the version of the build: "5.1.9
/// (libavformat 59.27.100, libavcodec 59.37.100, libavutil 57.28.100)".
std::string ffmpeg_version();

}  // namespace limpid::io
