// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/base/error.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Keeps the output that `writer` had written before `failure` as NAME.partial.EXT. Returns an error that
/// describes both. Throws the errors of renaming.
Error broken_off(io::Writer& writer, const std::string& failure);

}  // namespace limpid::app
