#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace limpid::io {

enum class LogSeverity : std::uint8_t { kError, kWarning, kInfo, kDebug };

/// Receives one line of libav's messages, without line break, with the name of the codec or format at its
/// head: "[h264] error while decoding MB 3 4". Called on any thread, several at once.
using LogSink = std::function<void(LogSeverity severity, const std::string& line)>;

/// Sends libav's own messages to `sink`; an empty one (the state at the start) drops them. Nothing is ever
/// printed by this library.
void set_log_sink(LogSink sink);

}  // namespace limpid::io
