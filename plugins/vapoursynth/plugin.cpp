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
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/shared/denoiser.h"

namespace limpid::vapoursynth {
namespace {

// The noise estimate depends on earlier frames. This number of frames before a frame makes it steady, and
// requests may be that much out of order without a restart.
constexpr int kFramesToEstimateFrom = 8;
// Results for other or expected requests.
constexpr std::size_t kMostKept = 64;

// Functions for scripts.
struct Function {
  const char* name;
  const char* filter;  // null: chosen by the user
  bool as_bm3dcuda;    // with the arguments of BM3DCUDA's function of that name
};
constexpr Function kFunctions[] = {{"Denoise", nullptr, false},
                                   {"Bilateral", "bilateral", false},
                                   {"NLM", "nlm", false},
                                   {"BM3Dv2", nullptr, true}};

// Settings have dashes where arguments, which are names in Python, have underscores.
std::string renamed(std::string name, char from, char to) {
  std::replace(name.begin(), name.end(), from, to);
  return name;
}

// Arguments in the syntax of registerFunction().
std::string arguments_of(const Function& function) {
  if (function.as_bm3dcuda) {
    return "clip:vnode;ref:vnode:opt;sigma:float[]:opt;block_step:int[]:opt;bm_range:int[]:opt;"
           "radius:int:opt;ps_num:int[]:opt;ps_range:int[]:opt;chroma:int:opt;device_id:int:opt;"
           "fast:int:opt;extractor_exp:int:opt;";
  }
  std::string arguments =
      "clip:vnode;sigma:float[]:opt;noise:data:opt;strength:float:opt;planes:int[]:opt;engine:data:opt;"
      "threads:int:opt;";
  if (function.filter == nullptr) {
    arguments += "filter:data:opt;profile:data:opt;";
  }
  constexpr const char* kEnds[] = {":int:opt;", ":float:opt;", ":data:opt;"};  // by limpid_kind
  std::set<std::string> names;
  for (std::int32_t f = 0; const limpid_filter_info& filter : plugins::filters()) {
    const bool is_asked_for = function.filter == nullptr || function.filter == std::string_view(filter.name);
    for (std::int32_t p = 0; is_asked_for && p < filter.parameter_count; ++p) {
      auto parameter = plugins::sized<limpid_parameter_info>();
      if (limpid_get_parameter(f, p, &parameter) == LIMPID_OK && names.insert(parameter.name).second) {
        arguments += renamed(parameter.name, '-', '_') + kEnds[parameter.kind];
      }
    }
    ++f;
  }
  return arguments;
}

// The settings of a call.
struct Request {
  plugins::Settings settings;
  bool planes[3]{};  // those that are filtered; the others are passed on
};

// Reads the arguments of a call.
class Call {
 public:
  Call(const VSMap* arguments, const VSVideoInfo& clip, const VSAPI* vs)
      : arguments_(arguments), clip_(clip), vs_(vs) {}

  // Throws std::runtime_error with a sentence for the user.
  Request request(const Function& function) {
    if (function.as_bm3dcuda) {
      take_as_bm3dcuda();
    } else {
      take(function.filter);
    }
    return request_;
  }

 private:
  void take(const char* filter) {
    if (filter != nullptr) {
      settings_["filter"] = filter;
    }
    for (int i = 0; i < vs_->mapNumKeys(arguments_); ++i) {
      const std::string argument = vs_->mapGetKey(arguments_, i);
      if (argument != "clip" && argument != "sigma" && argument != "planes") {
        settings_[renamed(argument, '_', '-')] = text_of(argument.c_str());
      }
    }
    choose_planes();
    if (count_of("sigma") == 0) {
      choose_without_levels();
    } else if (count_of("noise") > 0) {
      throw std::runtime_error("sigma and noise exclude each other");
    } else {
      set_levels(1);
    }
  }

  // BM3DCUDA's first step has no `ref`; where it has, the second is made, too, of whose first step the
  // library has its own.
  void take_as_bm3dcuda() {
    const int radius = whole_or("radius", 0);
    settings_["filter"] = radius > 0 ? "vbm4d" : "bm3d";
    if (radius > 0) {
      settings_["reach"] = std::to_string(radius);
    }
    settings_["steps"] = "1";
    settings_["step"] = std::to_string(whole_or("block_step", 8));
    settings_["search-window"] = std::to_string(2 * whole_or("bm_range", 9) + 1);
    if (count_of("ref") > 0) {
      settings_["steps"] = "2";
      settings_["step-2"] = settings_["step"];
      settings_["search-window-2"] = settings_["search-window"];
    }
    if (count_of("device_id") > 0) {
      settings_["engine"] = "cuda:" + std::to_string(whole_or("device_id", 0));
    }
    // That function takes for noise of sigma what has 3/4 of it.
    constexpr double kScale = 0.75;
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      request_.planes[p] = level_of(p) > 0;
    }
    set_levels(kScale);
  }

  int count_of(const char* argument) const { return std::max(vs_->mapNumElements(arguments_, argument), 0); }

  int whole_or(const char* argument, int otherwise) const {
    return count_of(argument) > 0 ? vs_->mapGetIntSaturated(arguments_, argument, 0, nullptr) : otherwise;
  }

  std::string text_of(const char* argument) const {
    const int type = vs_->mapGetType(arguments_, argument);
    return type == ptInt     ? std::to_string(vs_->mapGetInt(arguments_, argument, 0, nullptr))
           : type == ptFloat ? plugins::text_of(vs_->mapGetFloat(arguments_, argument, 0, nullptr))
                             : vs_->mapGetData(arguments_, argument, 0, nullptr);
  }

  void choose_planes() {
    const int planes = clip_.format.numPlanes;
    std::fill_n(request_.planes, planes, count_of("planes") == 0);
    for (int i = 0; i < count_of("planes"); ++i) {
      const int plane = vs_->mapGetIntSaturated(arguments_, "planes", i, nullptr);
      if (plane < 0 || plane >= planes || std::exchange(request_.planes[plane], true)) {
        throw std::runtime_error("planes: there is no plane " + std::to_string(plane) +
                                 ", or it is named twice");
      }
    }
  }

  // The last value applies to the remaining planes.
  double level_of(int plane) const {
    constexpr double kOfBm3dCuda = 3;
    const int levels = count_of("sigma");
    return levels == 0 ? kOfBm3dCuda
                       : vs_->mapGetFloat(arguments_, "sigma", std::min(plane, levels - 1), nullptr);
  }

  // Planes that aren't chosen have no noise.
  void set_levels(double scale) {
    if (count_of("sigma") > clip_.format.numPlanes) {
      throw std::runtime_error("sigma: there are more levels than planes");
    }
    std::string text;
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      text += (p == 0 ? "" : ",") + plugins::text_of(request_.planes[p] ? scale * level_of(p) : 0);
    }
    settings_["sigma"] = text;
  }

  void choose_without_levels() {
    const bool* const planes = request_.planes;
    if (std::count(planes, planes + clip_.format.numPlanes, true) == clip_.format.numPlanes) {
      return;
    }
    if (clip_.format.colorFamily != cfYUV || planes[1] != planes[2]) {
      throw std::runtime_error("planes: without sigma, [0] or [1, 2] of a clip in YUV, or all");
    }
    settings_["planes"] = planes[0] ? "luma" : "chroma";
  }

  const VSMap* arguments_;
  const VSVideoInfo& clip_;
  const VSAPI* vs_;
  Request request_;
  plugins::Settings& settings_ = request_.settings;
};

// Owners of VapourSynth's objects.
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
  format.sample_type = from.sampleType == stFloat ? from.bytesPerSample == 2 ? LIMPID_FLOAT16 : LIMPID_FLOAT32
                       : from.bytesPerSample == 1 ? LIMPID_UINT8
                                                  : LIMPID_UINT16;
  format.bit_depth = from.bitsPerSample;
  return format;
}

// One call of a function: a stream through a denoiser. It continues while requests are roughly in order, and
// otherwise restarts with context frames, so that results are bit-exact.
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
    request_ = Call(in, clip_, vs).request(function);
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
  int next_result_ = kNone;    // none: the next request restarts the stream
  std::queue<Frame> sources_;  // source frames of the results to come
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
