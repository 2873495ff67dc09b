// SPDX-License-Identifier: MIT
#pragma once

// Filtering of pictures for display.

#include <memory>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/media/filter_chain.h"
#include "io/media/reader.h"

namespace limpid::io {

/// Filters frames of a source, or results made of them, one by one: in any order, as often as needed. Not
/// for use by two threads at once.
class PictureFilter : NotCopyable {
 public:
  /// Throws UsageError if the chain has memory or does not accept the frames of `reader`, which need not
  /// outlive this object.
  PictureFilter(const FilterChain& chain, const Reader& reader);
  ~PictureFilter();

  /// Properties of the results.
  const FrameFormat& format() const;
  const DisplayProperties& display() const;

  /// The result for a frame in host memory.
  Frame filter(const Frame& frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
