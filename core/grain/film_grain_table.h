// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/grain/film_grain.h"

namespace limpid {

/// The film grain of a part of a video.
struct FilmGrainEntry {
  std::int64_t start = 0;  ///< in units of 100 ns, from the first frame on
  std::int64_t end = 0;    ///< time of the first frame behind the part
  bool is_applied = true;  ///< false: the part has no grain
  FilmGrain grain;
  bool operator==(const FilmGrainEntry&) const = default;
};

using FilmGrainTable = std::vector<FilmGrainEntry>;

/// Units of a table's times per second.
inline constexpr std::int64_t kGrainTicksPerSecond = 10'000'000;

/// The table in the text form of libaom, "filmgrn1", which encoders of AV1 read.
std::string to_text(const FilmGrainTable& table);

/// Reads the text form. Throws Error, with a sentence that begins with `name` and the line, unless the table
/// has an entry, times that do not overlap and parameters in their ranges.
FilmGrainTable parse_film_grain_table(const std::string& text, const std::string& name);

/// The table for a video that begins at `start`.
FilmGrainTable rebased(const FilmGrainTable& table, std::int64_t start);

/// scaled() for all entries.
FilmGrainTable scaled(FilmGrainTable table, double strength);

}  // namespace limpid
