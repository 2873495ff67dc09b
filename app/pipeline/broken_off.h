#pragma once

#include <string>

#include "core/base/error.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Keeps what `writer` has written before `failure`, which may have taken hours, under a name that nobody
/// takes for the whole. Returns the error that tells both; throws what keeping it throws.
Error broken_off(io::Writer& writer, const std::string& failure);

}  // namespace limpid::app
