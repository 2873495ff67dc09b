#pragma once

#include <string>

#include "core/base/error.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Keeps the output of `writer` before `failure`, which may have taken hours, as NAME.partial.EXT. Returns an
/// error that describes both; throws the errors of renaming.
Error broken_off(io::Writer& writer, const std::string& failure);

}  // namespace limpid::app
