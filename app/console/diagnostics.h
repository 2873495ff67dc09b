// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "io/media/diagnostic.h"

namespace limpid::app {

/// A source that has been read, for messages.
struct ReadSource {
  std::string name;
  std::int64_t frames = 0;    ///< that were read
  std::int64_t expected = 0;  ///< 0 if not known
};

/// The message for the user about a diagnostic.
std::string sentence(const io::Diagnostic& diagnostic, const ReadSource& source);

/// Logs the diagnostics of a source and its output, after the source has been read: faults as warnings.
void warn_of_the_whole(const io::Diagnostics& diagnostics, const ReadSource& source);

/// Warns that memory ran out when `output` was complete under its name, so that only its report is missing.
void warn_of_missing_report(const std::string& output);

/// A predicate for the first diagnostic that --strict treats as an error, such as "has damaged frames"; empty
/// if there is none.
std::string strict_objection(const io::Diagnostics& diagnostics);

}  // namespace limpid::app
