// SPDX-License-Identifier: MIT
#include "io/media/picture_filter.h"

#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "io/media/output_filter.h"
#include "io/media/source.h"

namespace limpid::io {

struct PictureFilter::State {
  State(const FilterChain& chain, const Source& source)
      : filter(chain, source),
        format(filter.result(source).format),
        display(display_of(filter.result(source))) {}

  OutputFilter filter;
  FrameFormat format;
  DisplayProperties display;
};

PictureFilter::PictureFilter(const FilterChain& chain, const Reader& reader)
    : state_(std::make_unique<State>(chain, reader.source())) {
  chain.require_no_memory("a filter of single pictures");
}

PictureFilter::~PictureFilter() = default;

const FrameFormat& PictureFilter::format() const { return state_->format; }

const DisplayProperties& PictureFilter::display() const { return state_->display; }

Frame PictureFilter::filter(const Frame& frame) {
  state_->filter.send(frame);
  std::optional<Frame> result = state_->filter.receive();
  if (!result) {
    throw Error("libavfilter returned no picture for frame " + std::to_string(frame.index));
  }
  result->index = frame.index;
  return std::move(*result);
}

}  // namespace limpid::io
