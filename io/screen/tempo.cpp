// SPDX-License-Identifier: MIT
#include "io/screen/tempo.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>
}

#include <algorithm>
#include <cstdint>
#include <string>

#include "io/media/filter_graph.h"
#include "io/media/libav.h"

namespace limpid::io {
namespace {

constexpr int kStereo = 2;

}  // namespace

struct Tempo::Graph {
  FilterGraphHandle graph{avfilter_graph_alloc()};
  AVFilterContext* source = nullptr;
  AVFilterContext* sink = nullptr;
  std::int64_t next = 0;  ///< time of the next sample

  Graph(int rate, double speed) {
    const std::string samples = std::to_string(rate);
    const std::string input =
        "sample_rate=" + samples + ":sample_fmt=flt:channel_layout=stereo:time_base=1/" + samples;
    source = add("abuffer", input);
    AVFilterContext* const tempo = add("atempo", "tempo=" + std::to_string(speed));
    sink = add("abuffersink", "");
    link(*source, *tempo);
    link(*tempo, *sink);
    check(avfilter_graph_config(graph.get(), nullptr), "sound", "can't change its speed");
  }
  AVFilterContext* add(const char* name, const std::string& options) {
    AVFilterContext* context = nullptr;
    const AVFilter* const filter = avfilter_get_by_name(name);
    const int code = filter == nullptr ? AVERROR_FILTER_NOT_FOUND
                                       : avfilter_graph_create_filter(&context, filter, name, options.c_str(),
                                                                      nullptr, graph.get());
    check(code, "sound", "can't change its speed");
    return context;
  }
  static void link(AVFilterContext& from, AVFilterContext& to) {
    check(avfilter_link(&from, 0, &to, 0), "sound", "can't change its speed");
  }
};

Tempo::Tempo(int rate) : rate_(rate) {}
Tempo::~Tempo() = default;

void Tempo::set_speed(double speed) {
  speed_ = std::clamp(speed, kSlowest, kFastest);
  reset();
}

void Tempo::reset() {
  graph_ = speed_ != 1 ? std::make_unique<Graph>(rate_, speed_) : nullptr;
  taken_ = returned_ = 0;
}

double Tempo::held() const { return std::max(taken_ - returned_, 0.0); }

std::vector<float> Tempo::filter(const float* samples, std::size_t count) {
  if (graph_ == nullptr) {
    return {samples, samples + count};
  }
  const FrameHandle frame = make_frame();
  frame->format = AV_SAMPLE_FMT_FLT;
  frame->sample_rate = rate_;
  frame->nb_samples = static_cast<int>(count / kStereo);
  av_channel_layout_default(&frame->ch_layout, kStereo);
  frame->pts = graph_->next;
  graph_->next += frame->nb_samples;
  taken_ += static_cast<double>(frame->nb_samples) / rate_;
  std::vector<float> result;
  if (frame->nb_samples == 0) {
    return result;
  }
  check(av_frame_get_buffer(frame.get(), 0), "sound", "can't change its speed");
  std::copy_n(samples, count, reinterpret_cast<float*>(frame->data[0]));
  check(av_buffersrc_add_frame(graph_->source, frame.get()), "sound", "can't change its speed");
  for (const FrameHandle made = make_frame(); av_buffersink_get_frame(graph_->sink, made.get()) >= 0;
       av_frame_unref(made.get())) {
    const auto* const first = reinterpret_cast<const float*>(made->data[0]);
    result.insert(result.end(), first, first + std::ptrdiff_t{made->nb_samples} * kStereo);
    returned_ += speed_ * made->nb_samples / rate_;
  }
  return result;
}

}  // namespace limpid::io
