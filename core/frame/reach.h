#pragma once

namespace limpid {

/// How many frames before and after its own a result depends on, at most: 0 and 0 for spatial filters. Any
/// segment of a stream that is given with as many frames of context gives the bits that the whole gives.
struct Reach {
  int before = 0;
  int after = 0;
  bool operator==(const Reach&) const = default;
};

}  // namespace limpid
