#pragma once

namespace limpid {

/// How many frames before and after its own a result depends on, at most: 0 and 0 for spatial filters. Any
/// segment of a stream that is given with as many frames of context gives the bits that the whole gives,
/// unless the reach is unbounded.
struct Reach {
  int before = 0;
  int after = 0;
  /// A result depends on all frames before its own since the stream began or was cut. `before` is after how
  /// many frames the results of a stream that begins later are as good; bits are never the same.
  bool unbounded = false;
  bool operator==(const Reach&) const = default;
};

}  // namespace limpid
