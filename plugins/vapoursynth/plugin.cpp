// The VapourSynth plug-in: limpid.Denoise, .Bilateral, .NLM and .BM3Dv2, over the C library.
#include <VSHelper4.h>
#include <VapourSynth4.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

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
using Frame = std::unique_ptr<const VSFrame, decltype(VSAPI::freeFrame)>;
using Node = std::unique_ptr<VSNode, decltype(VSAPI::freeNode)>;

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
        node_(vs->mapGetNode(in, "clip", 0, nullptr), vs->freeNode),
        clip_(*vs->getVideoInfo(node_.get())),
        denoiser_([vs, core](const char* sentence) {
          vs->logMessage(mtWarning, (std::string("limpid: ") + sentence).c_str(), core);
        }) {
    if (!vsh::isConstantVideoFormat(&clip_)) {
      throw std::runtime_error("clips whose size or format changes are not supported");
    }
    request_ = request_of(function, in, clip_, vs);
    denoiser_.start(format_of(clip_), request_.settings);
    const limpid_stream_info stream = denoiser_.stream();
    const bool estimates = stream.latency > stream.reach_after;
    before_ = stream.reach_before + (estimates ? kFramesToEstimateFrom : 0);
    after_ = denoiser_.frames_ahead();
  }

  VSNode* node() const { return node_.get(); }
  const VSVideoInfo& clip() const { return clip_; }

  void request(int n, VSFrameContext* context) const {
    for (int i = first_of(n); i <= last_of(n); ++i) {
      vs_->requestFrameFilter(i, node_.get(), context);
    }
  }

  // The result for frame n, whose frames are there; null, and an error in `context`, if it failed. One call
  // at a time.
  const VSFrame* result(int n, VSFrameContext* context, VSCore* core) {
    try {
      if (!results_.contains(n)) {
        go_on_to(n, context, core);
      }
      return results_.extract(n).mapped().release();
    } catch (const std::exception& error) {
      next_result_ = kNone;
      vs_->setFilterError((std::string("limpid: ") + error.what()).c_str(), context);
      return nullptr;
    }
  }

 private:
  static constexpr int kNone = std::numeric_limits<int>::max();

  // The frames that are requested for frame n.
  int first_of(int n) const { return std::max(n - before_, 0); }
  int last_of(int n) const { return std::min(n + after_, clip_.numFrames - 1); }

  void go_on_to(int n, VSFrameContext* context, VSCore* core) {
    if (n < next_result_ || first_of(n) > next_sent_) {
      denoiser_.reset();
      sources_ = {};
      next_sent_ = first_of(n);
      next_result_ = n;
    }
    for (; next_sent_ <= last_of(n); ++next_sent_) {
      send(Frame(vs_->getFrameFilter(next_sent_, node_.get(), context), vs_->freeFrame));
    }
    if (next_sent_ == clip_.numFrames) {
      denoiser_.flush();
    }
    for (; next_result_ <= n; ++next_result_) {
      Frame frame = receive(core);
      if (results_.size() > kMostKept) {
        results_.erase(results_.begin());
      }
      results_.emplace(next_result_, std::move(frame));
    }
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
    const bool is_context = next_sent_ < next_result_;
    sent.flags |= is_context ? LIMPID_CONTEXT_ONLY : 0;
    denoiser_.send(sent);
    if (!is_context) {
      sources_.push(std::move(frame));
    }
  }

  // The result that is next.
  Frame receive(VSCore* core) {
    auto result = plugins::sized<limpid_frame>();
    denoiser_.receive(result);
    const VSFrame* const source = sources_.front().get();
    const VSFrame* passed_on[3];
    constexpr int kPlanes[] = {0, 1, 2};
    for (const int p : kPlanes) {
      passed_on[p] = request_.planes[p] ? nullptr : source;
    }
    VSFrame* const frame =
        vs_->newVideoFrame2(&clip_.format, clip_.width, clip_.height, passed_on, kPlanes, source, core);
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      if (request_.planes[p]) {
        vsh::bitblt(vs_->getWritePtr(frame, p), vs_->getStride(frame, p), result.planes[p].data,
                    result.planes[p].stride, vs_->getFrameWidth(frame, p) * clip_.format.bytesPerSample,
                    vs_->getFrameHeight(frame, p));
      }
    }
    limpid_release(&result);
    sources_.pop();
    return {frame, vs_->freeFrame};
  }

  const VSAPI* vs_;
  Node node_;
  VSVideoInfo clip_;
  plugins::Denoiser denoiser_;
  Request request_;
  int before_ = 0;
  int after_ = 0;
  // The stream. Frames that are sent before the next result's own are context.
  int next_sent_ = 0;
  int next_result_ = kNone;    // none: the next request begins anew
  std::queue<Frame> sources_;  // of results that are to come
  std::map<int, Frame> results_;
};

const VSFrame* VS_CC get_frame(int n, int reason, void* instance, void** /*frame_data*/,
                               VSFrameContext* context, VSCore* core, const VSAPI* /*vs*/) {
  auto& denoising = *static_cast<Denoising*>(instance);
  if (reason == arInitial) {
    denoising.request(n, context);
  }
  return reason == arAllFramesReady ? denoising.result(n, context, core) : nullptr;
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
  for (const auto& function : limpid::vapoursynth::kFunctions) {
    api->registerFunction(function.name, limpid::vapoursynth::arguments_of(function).c_str(), "clip:vnode;",
                          limpid::vapoursynth::create, const_cast<limpid::vapoursynth::Function*>(&function),
                          plugin);
  }
}
