#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

/// The name that was probably meant: the one with the fewest letters added, left out, replaced or swapped
/// with their neighbours, at most a third of its own, whatever the case; or one that `given` is a part of
/// ("x264" of "libx264"). Empty if none is alike.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean 'libx264'?", or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

}  // namespace limpid
