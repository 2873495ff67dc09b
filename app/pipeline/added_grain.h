// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/grain/film_grain_table.h"

namespace limpid::app {

/// Adds the grain of a table, whose times are numbers of frames, to the frame. Returns the frame itself if
/// the table has none for it. The result depends only on the table, and on the frame's samples and number.
/// Throws UsageError for formats that cannot have film grain.
Frame with_added_grain(const FilmGrainTable& table, const Frame& frame);

}  // namespace limpid::app
