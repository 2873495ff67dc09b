#pragma once

#include <cstdint>
#include <string>

#include "io/media/diagnostic.h"

namespace limpid::app {

/// A source that has been read, as sentences name it.
struct ReadSource {
  std::string name;
  std::int64_t frames = 0;    ///< that were read
  std::int64_t expected = 0;  ///< 0 if not known
};

/// What to tell the user of it.
std::string sentence(const io::Diagnostic& diagnostic, const ReadSource& source);

/// Logs as warnings what is known of a source, and of what was made of it, once all has been read.
void warn_of_the_whole(const io::Diagnostics& diagnostics, const ReadSource& source);

/// What --strict stops at, as what a sentence says of the source; empty if there is nothing.
std::string strict_objection(const io::Diagnostics& diagnostics);

}  // namespace limpid::app
