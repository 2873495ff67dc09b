// SPDX-License-Identifier: MIT
#pragma once

#include "app/options/noise_options.h"
#include "app/pipeline/film_grain.h"

namespace limpid::app {

/// The table of --grain for an output that begins with the first frame of the request; empty if there is no
/// grain. Throws Error for a file that is no table.
FilmGrainTable table_for_output(const GrainOptions& options, const FilmGrainRequest& request, Engine& engine);

/// The table of --add-grain, with numbers of frames as times; empty without the option.
FilmGrainTable table_to_add(const GrainOptions& options, FilmGrainRequest request, Engine& engine);

}  // namespace limpid::app
