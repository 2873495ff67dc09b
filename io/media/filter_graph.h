// SPDX-License-Identifier: MIT
#pragma once

// Filtering of libav's frames by a chain of libavfilter. Private to io.

#include <cstdint>

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/media/display_properties.h"
#include "io/media/filter_chain.h"
#include "io/media/libav.h"

namespace limpid::io {

struct FilterGraphDeleter {
  void operator()(AVFilterGraph* graph) const { avfilter_graph_free(&graph); }
};
using FilterGraphHandle = std::unique_ptr<AVFilterGraph, FilterGraphDeleter>;
/// Without filters. Throws Error.
FilterGraphHandle make_filter_graph();

/// Properties of the frames that a graph receives.
struct FilterInput {
  AVRational time_base{1, 25};
  AVRational frame_rate{0, 1};  ///< average; 0/1 if unknown
  AVRational sample_aspect_ratio{0, 1};
  /// The transformation for display. The chain receives upright frames, as in ffmpeg. Nothing for angles that
  /// are not multiples of 90 degrees: these frames are not rotated.
  std::optional<Orientation> orientation = Orientation{};
};

/// A chain of filters in host memory. It is set up with the first frame, and again for frames of another size
/// or pixel format.
class FilterGraph {
 public:
  FilterGraph(FilterChain chain, const FilterInput& input);

  /// Sends the next frame, whose `pts` is in FilterInput::time_base. Throws UsageError if the chain does not
  /// accept such frames.
  void send(FrameHandle frame);
  /// Declares the end of the frames.
  void flush();
  /// The next frame, with its time base and duration. Null if more frames are required first or, after
  /// flush(), at the end.
  FrameHandle receive();
  /// Drops the frames in the graph. The next frame does not continue the previous one.
  void reset();

  // Properties of the resulting frames, known when the first frame has been sent.
  AVRational frame_rate() const { return frame_rate_; }
  AVRational sample_aspect_ratio() const { return sample_aspect_ratio_; }
  /// Sentences about properties that the first frame had and its result does not have, once there is one.
  const std::vector<std::string>& losses() const { return losses_; }
  /// True after flush().
  bool has_ended() const { return has_ended_; }

 private:
  void set_up(const AVFrame& first);
  void link(const AVFrame& first);
  void check_filtered(int code) const;
  void end_graph();
  FrameHandle pull();
  void describe(AVFrame& frame) const;
  void drop_stale_side_data(AVFrame& frame) const;
  void note_losses(const AVFrame& result);

  const FilterChain chain_;
  const FilterInput input_;
  const bool has_memory_;    ///< of the chain
  const bool keeps_layout_;  ///< pixels keep their places, except for scaling
  FilterGraphHandle graph_;
  AVFilterContext* source_ = nullptr;  ///< owned by the graph, as the sink
  AVFilterContext* sink_ = nullptr;
  FrameHandle first_;     ///< properties of the first frame
  std::int64_t end_ = 0;  ///< time of the end of the last frame that has been sent
  int width_ = 0;
  int height_ = 0;
  int format_ = AV_PIX_FMT_NONE;
  AVRational frame_rate_{0, 1};
  AVRational sample_aspect_ratio_{0, 1};
  std::deque<FrameHandle> results_;  ///< of graphs that have ended
  FrameHandle held_;                 ///< result whose duration follows from the next one
  std::vector<std::string> losses_;
  bool has_result_ = false;
  bool has_ended_ = false;
};

/// Both add side data of a whole stream to a frame that lacks it: static HDR metadata; the packing of
/// stereoscopic and the projection of spherical pictures.
void inherit_hdr(AVFrame& frame, const AVStream& stream);
void inherit_layout(AVFrame& frame, const AVStream& stream);

}  // namespace limpid::io
