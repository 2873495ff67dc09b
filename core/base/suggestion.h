// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

/// The name most similar to `given`: the one with the fewest letters added, omitted, replaced or swapped with
/// their neighbors, at most a third of its letters; or a name that contains `given` ("libx264" for "x264").
/// Ignores case. Empty if no name is similar.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean 'libx264'?", or empty without a similar name.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

}  // namespace limpid
