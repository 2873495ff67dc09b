// SPDX-License-Identifier: MIT
// Filters between the denoiser and the encoder, and those that convert colors. Private to io.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/filter_graph.h"
#include "io/media/libav.h"
#include "io/media/reader/frame_converter.h"
#include "io/media/samples.h"
#include "io/media/source.h"

namespace limpid::io {

/// The chain of filters that converts the frames of `source` to BT.709 with limited range, and tags them.
/// Colors without tags count as BT.601 below 720 lines. Throws UsageError for HDR.
std::string chain_to_bt709(const Source& source);

/// Filters the frames of a source by a chain. The properties of the results are known before the first frame:
/// blank frames with the source's properties are filtered first.
class OutputFilter {
 public:
  /// Throws UsageError if the chain does not accept the frames of the source.
  OutputFilter(const FilterChain& chain, const Source& source);

  /// The source as the encoder sees it through the filters. Valid during the lifetime of this object.
  Source result(const Source& source) const;
  /// Sends a frame of the source.
  void send(const Frame& frame);
  /// Declares the end of the frames.
  void flush() { graph_.flush(); }
  /// The next frame. Nothing if more frames are required first or, after flush(), at the end.
  std::optional<Frame> receive();

  /// Number of copies and conversions of samples outside of libavfilter.
  std::int64_t copies() const { return copies_ + converter_->copies(); }

 private:
  void probe(const FilterChain& chain, const Source& source);
  FrameHandle blank(const Source& source) const;
  void add_inherited(AVFrame& frame) const;
  FrameHandle to_libav(const Frame& frame);

  AVPixelFormat source_format_;
  FrameHandle inherited_;  ///< side data of the source's stream
  FilterGraph graph_;
  FrameHandle first_;  ///< properties of the first result
  AVRational frame_rate_{0, 1};
  AVRational sample_aspect_ratio_{0, 1};
  std::optional<FrameConverter> converter_;
  LibavFramePool packed_pool_;
  std::vector<std::string> losses_;  ///< Source::filter_losses of the result
  std::int64_t sent_ = 0;
  std::int64_t received_ = 0;
  std::int64_t first_index_ = 0;  ///< index of the first frame
  std::int64_t copies_ = 0;
};

}  // namespace limpid::io
