// The VapourSynth plug-in: limpid.Denoise, limpid.Bilateral and limpid.NLM, over the C library.
#include <VapourSynth4.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugins/shared/denoiser.h"
#include "plugins/vapoursynth/functions.h"

namespace limpid::vapoursynth {
namespace {

// The noise estimate depends on the frames that it has seen. So many before a frame make it steady, and
// requests may come so much out of order without a new beginning.
constexpr int kFramesToEstimateFrom = 8;
// Results that others have asked for, or soon will.
constexpr std::size_t kMostKept = 64;

// What VapourSynth gives and takes back.
struct FreeFrame {
  const VSAPI* vs;
  void operator()(const VSFrame* frame) const { vs->freeFrame(frame); }
};
using Frame = std::unique_ptr<const VSFrame, FreeFrame>;
struct FreeNode {
  const VSAPI* vs;
  void operator()(VSNode* node) const { vs->freeNode(node); }
};
using Node = std::unique_ptr<VSNode, FreeNode>;

limpid_format format_of(const VSVideoInfo& clip) {
  const VSVideoFormat& from = clip.format;
  auto format = plugins::sized<limpid_format>();
  format.width = clip.width;
  format.height = clip.height;
  format.color_model = from.colorFamily == cfGray  ? LIMPID_GRAY
                       : from.colorFamily == cfYUV ? LIMPID_YUV
                                                   : LIMPID_RGB;
  format.chroma_shift_x = from.subSamplingW;
  format.chroma_shift_y = from.subSamplingH;
  format.sample_type = from.sampleType == stFloat ? LIMPID_FLOAT32
                       : from.bytesPerSample == 1 ? LIMPID_UINT8
                                                  : LIMPID_UINT16;
  format.bit_depth = from.bitsPerSample;
  return format;
}

// One call of a function: a stream through a denoiser, which goes on as long as frames are asked for in about
// their order, and otherwise begins anew, with the frames of context that give the same bits.
class Denoising {
 public:
  Denoising(const Function& function, const VSMap* in, VSCore* core, const VSAPI* vs)
      : vs_(vs),
        node_(vs->mapGetNode(in, "clip", 0, nullptr), {vs}),
        clip_(*vs->getVideoInfo(node_.get())),
        denoiser_([vs, core](const char* sentence) {
          vs->logMessage(mtWarning, (std::string("limpid: ") + sentence).c_str(), core);
        }) {
    set_up(function, in);
  }

  VSNode* node() const { return node_.get(); }
  const VSVideoInfo& clip() const { return clip_; }

  void request(int n, VSFrameContext* context) const {
    for (int i = first_of(n); i <= last_of(n); ++i) {
      vs_->requestFrameFilter(i, node_.get(), context);
    }
  }

  // The result for frame n, whose frames are there. One call at a time.
  const VSFrame* result(int n, VSFrameContext* context, VSCore* core) {
    if (const auto kept = results_.find(n); kept != results_.end()) {
      Frame frame = std::move(kept->second);
      results_.erase(kept);
      return frame.release();
    }
    try {
      if (n < next_result_ || first_of(n) > next_sent_) {
        begin_at(n);
      }
      for (; next_sent_ <= last_of(n); ++next_sent_) {
        send(Frame(vs_->getFrameFilter(next_sent_, node_.get(), context), {vs_}));
      }
      if (next_sent_ == clip_.numFrames) {
        denoiser_.flush();
      }
      for (;;) {
        const int received = next_result_;
        Frame frame = receive(core);
        if (received == n) {
          return frame.release();
        }
        results_.emplace(received, std::move(frame));
        if (results_.size() > kMostKept) {
          results_.erase(results_.begin());
        }
      }
    } catch (...) {
      next_sent_ = clip_.numFrames + 1;  // the next begins anew
      next_result_ = clip_.numFrames + 1;
      throw;
    }
  }

 private:
  void set_up(const Function& function, const VSMap* arguments) {
    if (clip_.width == 0 || clip_.height == 0 || clip_.format.colorFamily == cfUndefined) {
      throw std::runtime_error("clips whose size or format changes are not supported");
    }
    const Request request = request_of(function, arguments, clip_, vs_);
    planes_ = request.planes;
    denoiser_.start(format_of(clip_), request.settings);
    const limpid_stream_info stream = denoiser_.stream();
    const bool estimates = stream.latency > stream.reach_after;
    before_ = stream.reach_before + (estimates ? kFramesToEstimateFrom : 0);
    after_ = denoiser_.frames_ahead();
    next_sent_ = next_result_ = clip_.numFrames + 1;
  }

  // The frames that are requested for frame n.
  int first_of(int n) const { return std::max(n - before_, 0); }
  int last_of(int n) const { return std::min(n + after_, clip_.numFrames - 1); }

  void begin_at(int n) {
    denoiser_.reset();
    sources_.clear();
    next_sent_ = first_of(n);
    next_result_ = first_result_ = n;
  }

  void send(Frame frame) {
    auto sent = plugins::sized<limpid_frame>();
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      sent.planes[p].data = const_cast<std::uint8_t*>(vs_->getReadPtr(frame.get(), p));
      sent.planes[p].stride = vs_->getStride(frame.get(), p);
    }
    int unset = 0;
    const VSMap* const properties = vs_->getFramePropertiesRO(frame.get());
    sent.flags = vs_->mapGetInt(properties, "_FieldBased", 0, &unset) > 0 ? LIMPID_INTERLACED : 0;
    if (next_sent_ < first_result_) {
      sent.flags |= LIMPID_CONTEXT_ONLY;
    }
    denoiser_.send(sent);
    if (next_sent_ >= first_result_) {
      sources_.emplace(next_sent_, std::move(frame));
    }
  }

  // The result that is next.
  Frame receive(VSCore* core) {
    auto result = plugins::sized<limpid_frame>();
    denoiser_.receive(result);
    const auto source = sources_.find(next_result_);
    const VSFrame* planes[3];
    constexpr int kPlanes[] = {0, 1, 2};
    for (int p = 0; p < 3; ++p) {
      planes[p] = planes_[static_cast<std::size_t>(p)] ? nullptr : source->second.get();
    }
    VSFrame* const frame = vs_->newVideoFrame2(&clip_.format, clip_.width, clip_.height, planes, kPlanes,
                                               source->second.get(), core);
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      if (planes_[static_cast<std::size_t>(p)]) {
        copy(result.planes[p], frame, p);
      }
    }
    limpid_release(&result);
    sources_.erase(source);
    ++next_result_;
    return {frame, {vs_}};
  }

  void copy(const limpid_plane& from, VSFrame* frame, int plane) const {
    std::uint8_t* const to = vs_->getWritePtr(frame, plane);
    const std::ptrdiff_t stride = vs_->getStride(frame, plane);
    const auto bytes = static_cast<std::size_t>(vs_->getFrameWidth(frame, plane)) *
                       static_cast<std::size_t>(clip_.format.bytesPerSample);
    for (int y = 0; y < vs_->getFrameHeight(frame, plane); ++y) {
      std::memcpy(to + y * stride, static_cast<const std::uint8_t*>(from.data) + y * from.stride, bytes);
    }
  }

  const VSAPI* vs_;
  Node node_;
  VSVideoInfo clip_;
  plugins::Denoiser denoiser_;
  Planes planes_{};
  int before_ = 0;
  int after_ = 0;
  // The stream.
  int first_result_ = 0;  // frames before it are context
  int next_sent_ = 0;
  int next_result_ = 0;
  std::map<int, Frame> sources_;  // sent, without results yet
  std::map<int, Frame> results_;
};

const VSFrame* VS_CC get_frame(int n, int reason, void* instance, void** /*frame_data*/,
                               VSFrameContext* context, VSCore* core, const VSAPI* vs) {
  auto& denoising = *static_cast<Denoising*>(instance);
  if (reason == arInitial) {
    denoising.request(n, context);
  } else if (reason == arAllFramesReady) {
    try {
      return denoising.result(n, context, core);
    } catch (const std::exception& error) {
      vs->setFilterError((std::string("limpid: ") + error.what()).c_str(), context);
    }
  }
  return nullptr;
}

void VS_CC free_instance(void* instance, VSCore* /*core*/, const VSAPI* /*vs*/) {
  const std::unique_ptr<Denoising> ended(static_cast<Denoising*>(instance));
}

void VS_CC create(const VSMap* in, VSMap* out, void* data, VSCore* core, const VSAPI* vs) {
  const Function& function = *static_cast<const Function*>(data);
  try {
    auto denoising = std::make_unique<Denoising>(function, in, core, vs);
    const VSFilterDependency dependency{denoising->node(), rpGeneral};
    const VSVideoInfo clip = denoising->clip();
    vs->createVideoFilter(out, function.name, &clip, get_frame, free_instance, fmParallelRequests,
                          &dependency, 1, denoising.release(), core);
  } catch (const std::exception& error) {
    vs->mapSetError(out, (std::string(function.name) + ": " + error.what()).c_str());
  }
}

}  // namespace
}  // namespace limpid::vapoursynth

// NOLINTNEXTLINE(readability-identifier-naming): VapourSynth finds it by this name.
VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin* plugin, const VSPLUGINAPI* api) {
  api->configPlugin("org.limpid.limpid", "limpid", "Removes noise from video",
                    VS_MAKE_VERSION(LIMPID_MAJOR, LIMPID_MINOR), VS_MAKE_VERSION(4, 0), 0, plugin);
  for (const auto& function : limpid::vapoursynth::functions()) {
    api->registerFunction(function.name, limpid::vapoursynth::arguments_of(function).c_str(), "clip:vnode;",
                          limpid::vapoursynth::create, const_cast<limpid::vapoursynth::Function*>(&function),
                          plugin);
  }
}
