// SPDX-License-Identifier: MIT
#include "app/commands/output_grain.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <cstddef>

#include "core/base/regular_file.h"

namespace limpid::app {
namespace {

FilmGrainTable table_of_file(const std::string& file, double start) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const FilmGrainTable table = parse_film_grain_table(read_regular_file(file, kMostBytes), file);
  FilmGrainTable later = rebased(table, std::llround(start * static_cast<double>(kGrainTicksPerSecond)));
  if (!has_grain(later)) {
    spdlog::warn(fmt::format("{}: has no film grain for this passage", file));
    return {};
  }
  return later;
}

FilmGrainTable estimated_table(const FilmGrainRequest& request, Engine& engine) {
  spdlog::info(fmt::format("estimating film grain from {}", request.input));
  FilmGrainTable table = film_grain_of_video(request, engine);
  if (!has_grain(table)) {
    spdlog::warn(fmt::format("{}: no noise was found, so there is no film grain like it", request.input));
    return {};
  }
  spdlog::info(fmt::format("film grain: {} part{}", table.size(), table.size() == 1 ? "" : "s"));
  return table;
}

}  // namespace

FilmGrainTable table_for_output(const GrainOptions& options, const FilmGrainRequest& request,
                                Engine& engine) {
  if (options.grain.empty()) {
    return {};
  }
  FilmGrainTable table = options.is_kept() ? estimated_table(request, engine)
                                           : table_of_file(options.grain, request.reader.start.value_or(0));
  return scaled(std::move(table), options.strength);
}

FilmGrainTable table_to_add(const GrainOptions& options, FilmGrainRequest request, Engine& engine) {
  request.by_number = true;
  return options.added > 0 ? scaled(estimated_table(request, engine), options.added) : FilmGrainTable();
}

}  // namespace limpid::app
