// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/media/writer.h"

// Sets of options of the writer, for purposes of the output.

namespace limpid::app {

/// Sets the options for a purpose (web, archive or edit), except those that `options` has. Does nothing for
/// an empty purpose. Throws UsageError for an unknown one.
void apply_purpose(const std::string& purpose, io::WriterOptions& options);

/// Throws UsageError if the name of the output requests another container than the purpose.
void require_container_of_purpose(const std::string& purpose, const std::string& output,
                                  const io::WriterOptions& options);

}  // namespace limpid::app
