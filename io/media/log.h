#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace limpid::io {

enum class LogSeverity : std::uint8_t {
  kPanic,  ///< libav calls abort() next: a condition that it counts on does not hold, as where memory runs
           ///< out
  kError,
  kWarning,
  kInfo,
  kDebug
};

/// Receives one line of libav's messages, without line break, with the name of the codec or format at its
/// head: "[h264] error while decoding MB 3 4". Called on any thread, several at once.
using LogSink = std::function<void(LogSeverity severity, const std::string& line)>;

/// Has libav's messages come here instead of on standard error, and keeps SVT-AV1 from printing there. Both
/// are the process's: for a program to call at its start, while it has one thread. Without this sentences of
/// errors lack libav's reasons, what libav refuses of such lists as x264-params is not an error, and Readers
/// do not notice damage that libav only logs.
void take_over_logs();

/// Sends what take_over_logs() has come to `sink`; an empty one (the state at the start) drops it.
void set_log_sink(LogSink sink);

}  // namespace limpid::io
