// SPDX-License-Identifier: MIT
#include "io/media/filter_graph.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
}

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"

namespace limpid::io {
namespace {

constexpr std::array kHdrData{AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL,
                              AV_FRAME_DATA_DYNAMIC_HDR_PLUS, AV_FRAME_DATA_DOVI_RPU_BUFFER,
                              AV_FRAME_DATA_DOVI_METADATA};

// The links of FFmpeg 7.0 have the color matrix and range.
#define LIMPID_LINKS_HAVE_COLORS (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 16, 100))

/// The filters that turn pictures as they are to be displayed, followed by a comma.
std::string turning(const std::optional<Orientation>& orientation) {
  if (!orientation) {
    return "";
  }
  return std::string(orientation->transposed ? "transpose=cclock_flip," : "") +
         (orientation->mirrored_x ? "hflip," : "") + (orientation->mirrored_y ? "vflip," : "");
}

struct InOutDeleter {
  void operator()(AVFilterInOut* ends) const { avfilter_inout_free(&ends); }
};
using InOutHandle = std::unique_ptr<AVFilterInOut, InOutDeleter>;

InOutHandle make_end(const char* name, AVFilterContext* context) {
  InOutHandle end(avfilter_inout_alloc());
  if (end != nullptr) {
    end->name = av_strdup(name);
    end->filter_ctx = context;
  }
  if (end == nullptr || end->name == nullptr) {
    throw Error("out of memory");
  }
  return end;
}

void inherit(AVFrame& frame, AVFrameSideDataType type, const AVStream& stream,
             AVPacketSideDataType type_of_stream) {
  const AVPacketSideData* const data = find_side_data(stream, type_of_stream);
  if (data == nullptr || av_frame_get_side_data(&frame, type) != nullptr) {
    return;
  }
  AVFrameSideData* const added = allocated(av_frame_new_side_data(&frame, type, data->size));
  std::copy_n(data->data, data->size, added->data);
}

FrameHandle properties_copy(const AVFrame& frame) {
  FrameHandle copy = make_frame();
  check(av_frame_copy_props(copy.get(), &frame), "frame", "can't copy its properties");
  return copy;
}

}  // namespace

FilterGraphHandle make_filter_graph() { return FilterGraphHandle(allocated(avfilter_graph_alloc())); }

FilterGraph::FilterGraph(FilterChain chain, const FilterInput& input)
    : chain_(std::move(chain)),
      input_(input),
      has_memory_(!chain_.first_with_memory().empty()),
      keeps_layout_(chain_.keeps_layout() && input.orientation == Orientation{}) {}

void FilterGraph::send(FrameHandle frame) {
  frame->sample_aspect_ratio =
      input_.sample_aspect_ratio.num > 0 ? input_.sample_aspect_ratio : frame->sample_aspect_ratio;
  if (graph_ == nullptr || frame->width != width_ || frame->height != height_ || frame->format != format_) {
    end_graph();
    set_up(*frame);
  }
  if (first_ == nullptr) {
    first_ = properties_copy(*frame);
  }
  const std::int64_t duration = duration_of(*frame);
  const AVRational rate = input_.frame_rate;
  const bool is_guessed = duration <= 0 && rate.num > 0;
  end_ = frame->pts + (is_guessed ? av_rescale_q(1, av_inv_q(rate), input_.time_base) : duration);
  av_frame_remove_side_data(frame.get(), AV_FRAME_DATA_DISPLAYMATRIX);
  forget_logged_messages();
  check_filtered(av_buffersrc_add_frame(source_, frame.get()));
}

/// Errors before the first result are the chain's.
void FilterGraph::check_filtered(int code) const {
  if (code < 0 && !has_result_) {
    chain_.fail(code);
  }
  check(code, chain_.option(), "can't filter");
}

void FilterGraph::set_up(const AVFrame& first) {
  graph_ = make_filter_graph();
  // The flags are ffmpeg's. Fields of interlaced frames are scaled apart, unless the chain decides on it.
  const bool divides = first.height % 4 == 0 && chain_.text().find("interl") == std::string::npos;
  graph_->scale_sws_opts = av_strdup(divides ? "flags=bicubic:interl=-1" : "flags=bicubic");
  forget_logged_messages();
  link(first);
  width_ = first.width;
  height_ = first.height;
  format_ = first.format;
  const AVRational rate = av_buffersink_get_frame_rate(sink_);
  frame_rate_ = rate.num > 0 && rate.den > 0 ? rate : AVRational{0, 1};
  sample_aspect_ratio_ = av_buffersink_get_sample_aspect_ratio(sink_);
}

void FilterGraph::link(const AVFrame& first) {
  const std::unique_ptr<AVBufferSrcParameters, decltype(&av_free)> parameters(av_buffersrc_parameters_alloc(),
                                                                              &av_free);
  source_ = avfilter_graph_alloc_filter(graph_.get(), avfilter_get_by_name("buffer"), "in");
  sink_ = avfilter_graph_alloc_filter(graph_.get(), avfilter_get_by_name("buffersink"), "out");
  if (parameters == nullptr || source_ == nullptr || sink_ == nullptr) {
    throw Error("out of memory");
  }
  parameters->format = first.format;
  parameters->width = first.width;
  parameters->height = first.height;
  parameters->time_base = input_.time_base;
  parameters->frame_rate = input_.frame_rate;
  parameters->sample_aspect_ratio = first.sample_aspect_ratio;
#if LIMPID_LINKS_HAVE_COLORS
  parameters->color_space = first.colorspace;
  parameters->color_range = first.color_range;
#endif
  const std::string text = turning(input_.orientation) + chain_.text();
  AVFilterInOut* open_inputs = make_end("out", sink_).release();
  AVFilterInOut* open_outputs = make_end("in", source_).release();
  int code = av_buffersrc_parameters_set(source_, parameters.get());
  code = code < 0 ? code : avfilter_init_str(source_, nullptr);
  code = code < 0 ? code : avfilter_init_str(sink_, nullptr);
  code = code < 0
             ? code
             : avfilter_graph_parse_ptr(graph_.get(), text.c_str(), &open_inputs, &open_outputs, nullptr);
  code = code < 0 ? code : avfilter_graph_config(graph_.get(), nullptr);
  const InOutHandle inputs(open_inputs);
  const InOutHandle outputs(open_outputs);
  if (code < 0) {
    chain_.fail(code);
  }
  if (av_buffersink_get_type(sink_) != AVMEDIA_TYPE_VIDEO) {
    throw UsageError(chain_.option() + ": '" + chain_.text() + "' does not end in video");
  }
}

/// Keeps the results of the graph before it is replaced.
void FilterGraph::end_graph() {
  if (graph_ == nullptr) {
    return;
  }
  forget_logged_messages();
  check_filtered(av_buffersrc_close(source_, end_, 0));
  std::deque<FrameHandle> rest;
  while (FrameHandle frame = pull()) {
    rest.push_back(std::move(frame));
  }
  std::ranges::move(rest, std::back_inserter(results_));
}

void FilterGraph::flush() {
  if (!std::exchange(has_ended_, true) && graph_ != nullptr) {
    forget_logged_messages();
    check_filtered(av_buffersrc_close(source_, end_, 0));
  }
}

void FilterGraph::reset() {
  graph_.reset();
  results_.clear();
  held_.reset();
  has_ended_ = false;
}

FrameHandle FilterGraph::pull() {
  if (!results_.empty()) {
    FrameHandle frame = std::move(results_.front());
    results_.pop_front();
    return frame;
  }
  if (graph_ == nullptr) {
    return nullptr;
  }
  FrameHandle frame = make_frame();
  forget_logged_messages();
  const int code = av_buffersink_get_frame(sink_, frame.get());
  if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) {
    return nullptr;
  }
  check_filtered(code);
  describe(*frame);
  return frame;
}

void FilterGraph::describe(AVFrame& frame) const {
  frame.time_base = av_buffersink_get_time_base(sink_);
  const bool keeps_rate = av_cmp_q(frame.time_base, input_.time_base) == 0 &&
                          (frame_rate_.num == 0 || av_cmp_q(frame_rate_, input_.frame_rate) == 0);
  if (!keeps_rate) {
    set_duration(frame, frame_rate_.num > 0 ? av_rescale_q(1, av_inv_q(frame_rate_), frame.time_base) : 0);
  }
  drop_stale_side_data(frame);
}

/// Removes side data that does not describe the result. The filters of libavfilter pass most of it on.
void FilterGraph::drop_stale_side_data(AVFrame& frame) const {
  if (is_hdr(first_->color_trc) && !is_hdr(frame.color_trc)) {
    for (const AVFrameSideDataType type : kHdrData) {
      av_frame_remove_side_data(&frame, type);
    }
  }
  if (!keeps_layout_) {
    for (const AVFrameSideDataType type :
         {AV_FRAME_DATA_STEREO3D, AV_FRAME_DATA_SPHERICAL, AV_FRAME_DATA_AFD, AV_FRAME_DATA_PANSCAN}) {
      av_frame_remove_side_data(&frame, type);
    }
  }
}

void FilterGraph::note_losses(const AVFrame& result) {
  if (!input_.orientation) {
    losses_.push_back("the source's rotation is not kept: its angle is not a multiple of 90 degrees");
  }
  for (int i = 0; i < first_->nb_side_data; ++i) {
    const AVFrameSideDataType type = first_->side_data[i]->type;
    const char* const name = av_frame_side_data_name(type);
    const bool is_converted =
        chain_.option() == kForWeb && std::ranges::find(kHdrData, type) != kHdrData.end();
    if (type != AV_FRAME_DATA_DISPLAYMATRIX && name != nullptr && !is_converted &&
        av_frame_get_side_data(&result, type) == nullptr) {
      losses_.push_back(std::string("the source's side data '") + name +
                        "' is not kept: it does not describe the result of " + chain_.option());
    }
  }
}

FrameHandle FilterGraph::receive() {
  for (;;) {
    FrameHandle next = pull();
    if (next != nullptr && !std::exchange(has_result_, true)) {
      note_losses(*next);
    }
    if (!has_memory_) {
      return next;
    }
    if (next == nullptr) {
      return has_ended_ ? std::move(held_) : nullptr;
    }
    if (FrameHandle ready = std::exchange(held_, std::move(next))) {
      const bool is_later = ready->pts != AV_NOPTS_VALUE && held_->pts > ready->pts;
      set_duration(*ready, is_later ? held_->pts - ready->pts : duration_of(*ready));
      return ready;
    }
  }
}

void inherit_hdr(AVFrame& frame, const AVStream& stream) {
  inherit(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA);
  inherit(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL);
}

void inherit_layout(AVFrame& frame, const AVStream& stream) {
  inherit(frame, AV_FRAME_DATA_STEREO3D, stream, AV_PKT_DATA_STEREO3D);
  inherit(frame, AV_FRAME_DATA_SPHERICAL, stream, AV_PKT_DATA_SPHERICAL);
}

}  // namespace limpid::io
