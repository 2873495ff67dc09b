// SPDX-License-Identifier: MIT
#pragma once

namespace limpid {

/// Maximum numbers of frames before and after a frame on which its result depends; 0 and 0 for spatial
/// filters. Any segment of a stream with as many frames of context is bit-exact with the whole stream, unless
/// the reach is unbounded.
struct Reach {
  int before = 0;
  int after = 0;
  /// A result depends on all earlier frames since the beginning of the stream or the last cut. `before` is
  /// the number of frames after which a stream that begins later has results of equal quality; they are never
  /// bit-exact.
  bool unbounded = false;
  bool operator==(const Reach&) const = default;
};

}  // namespace limpid
