#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

/// The name that was probably meant: the one with the fewest letters added, left out, replaced or swapped
/// with their neighbors, but no more than a third of its letters; or a name that contains `given` ("libx264"
/// for "x264"). Case does not matter. Empty if no name is alike.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean 'libx264'?", or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

}  // namespace limpid
