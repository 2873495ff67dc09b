// SPDX-License-Identifier: MIT
// The VapourSynth plug-in: limpid.Denoise, .Bilateral, .NLM and .BM3Dv2, over the C library.
#include <VSHelper4.h>
#include <VapourSynth4.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/shared/denoiser.h"
#include "plugins/shared/random_access.h"

namespace limpid::vapoursynth {
namespace {

// Results that come before the requested one are kept for other requests: at most this many, and at most this
// part of the memory that the user allows VapourSynth's caches.
constexpr std::size_t kMostKept = 64;
constexpr int kPartOfCaches = 8;

// The noise level of each plane, estimated or given, in 8-bit code values.
constexpr const char* kLevelProperty = "_LimpidSigma";

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

// Arguments in the syntax of registerFunction().
std::string arguments_of(const Function& function) {
  if (function.as_bm3dcuda) {
    return "clip:vnode;ref:vnode:opt;sigma:float[]:opt;block_step:int[]:opt;bm_range:int[]:opt;"
           "radius:int:opt;ps_num:int[]:opt;ps_range:int[]:opt;chroma:int:opt;device_id:int:opt;"
           "fast:int:opt;extractor_exp:int:opt;zero_init:int:opt;bm_error_s:data[]:opt;"
           "transform_2d_s:data[]:opt;transform_1d_s:data[]:opt;engine:data:opt;threads:int:opt;";
  }
  std::string arguments =
      "clip:vnode;sigma:float[]:opt;noise:data:opt;strength:float:opt;mix:float:opt;planes:int[]:opt;repair:"
      "data:opt;engine:data:opt;threads:int:opt;fields:data:opt;live:int:opt;";
  if (function.filter == nullptr) {
    arguments += "settings:data:opt;filter:data:opt;quality:data:opt;profile:data:opt;";
  }
  constexpr const char* kEnds[] = {":int:opt;", ":float:opt;", ":data:opt;"};  // by limpid_kind
  std::set<std::string> names;
  for (std::int32_t f = 0; const limpid_filter_info& filter : plugins::filters()) {
    const bool is_asked_for = function.filter == nullptr || function.filter == std::string_view(filter.name);
    for (std::int32_t p = 0; is_asked_for && p < filter.parameter_count; ++p) {
      auto parameter = plugins::sized<limpid_parameter_info>();
      if (limpid_get_parameter(f, p, &parameter) == LIMPID_OK && names.insert(parameter.name).second) {
        arguments += plugins::with_underscores(parameter.name) + kEnds[parameter.kind];
      }
    }
    ++f;
  }
  return arguments;
}

constexpr int kAllPlanes = -1;

// The settings of a call.
struct Request {
  plugins::Settings settings;
  bool planes[3]{};  // those that are filtered; the others are passed on
};

// First steps by BM3Dv2, which may be the `ref` of a second step.
class FirstSteps {
 public:
  struct Made {
    const VSNode* clip;
    plugins::Settings settings;
  };

  void add(const VSNode* node, Made made) {
    const std::scoped_lock lock(mutex_);
    made_[node] = std::move(made);
  }
  void remove(const VSNode* node) {
    const std::scoped_lock lock(mutex_);
    made_.erase(node);
  }
  // The settings of `ref`; nothing if it is not a first step of `clip`.
  std::optional<plugins::Settings> of(const VSNode* ref, const VSNode* clip) {
    const std::scoped_lock lock(mutex_);
    const auto found = made_.find(ref);
    return found == made_.end() || found->second.clip != clip ? std::nullopt
                                                              : std::optional(found->second.settings);
  }

 private:
  std::mutex mutex_;
  std::map<const VSNode*, Made> made_;
};

FirstSteps& first_steps() {
  static FirstSteps steps;
  return steps;
}

// Reads the arguments of a call.
class Call {
 public:
  // `ref` has the settings of the argument ref if that is a first step of BM3Dv2. `plane` is
  // the only plane that BM3Dv2 filters, with its values of the lists; kAllPlanes: all, with the first values.
  Call(const VSMap* arguments, const VSVideoInfo& clip, const plugins::Settings* ref, int plane,
       const VSAPI* vs)
      : arguments_(arguments), clip_(clip), ref_(ref), plane_(plane), vs_(vs) {}

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
        std::string setting = argument;
        std::replace(setting.begin(), setting.end(), '_', '-');
        settings_[setting] = text_of(argument.c_str());
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

  // BM3DCUDA's first step has no `ref`. The second one has the first, or another guide, as `ref`: the library
  // makes both steps.
  void take_as_bm3dcuda() {
    constexpr int kMostRadius = 8;  // V-BM4D reaches over 16 frames
    const int radius = whole_or("radius", 0);
    if (radius < 0 || radius > kMostRadius) {
      throw std::runtime_error("radius: " + std::to_string(radius) + " is not possible (0 to " +
                               std::to_string(kMostRadius) + ")");
    }
    settings_["filter"] = radius > 0 ? "vbm4d" : "bm3d";
    if (radius > 0) {
      settings_["reach"] = std::to_string(radius);
    }
    if (count_of("device_id") > 0) {
      settings_["engine"] = "cuda:" + std::to_string(whole_or("device_id", 0));
    }
    for (const char* const argument : {"engine", "threads"}) {
      if (count_of(argument) > 0) {
        settings_[argument] = text_of(argument);
      }
    }
    // That function takes for noise of sigma what has 3/4 of it.
    constexpr double kScale = 0.75;
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      request_.planes[p] = level_of(p) > 0;
    }
    set_levels(kScale);
    const bool both = count_of("ref") > 0;
    const std::string step = both ? "-2" : "";
    settings_["steps"] = both ? "2" : "1";
    settings_["step" + step] = std::to_string(whole_or("block_step", 8));
    settings_["search-window" + step] = std::to_string(2 * whole_or("bm_range", 9) + 1);
    take_transform("transform_2d_s", "transform-2d" + step);
    take_transform("transform_1d_s", "transform-1d" + step);
    if (count_of("bm_error_s") > 0 && one_text("bm_error_s") != "ssd") {
      throw std::runtime_error("bm_error_s: only SSD is supported");
    }
    if (ref_ != nullptr) {
      take_first_step();
    }
  }

  void take_first_step() {
    for (const char* const setting : {"filter", "reach", "sigma"}) {
      if (ref_->contains(setting) != settings_.contains(setting) ||
          (ref_->contains(setting) && ref_->at(setting) != settings_[setting])) {
        throw std::runtime_error("ref: the call that made it must have the same sigma and radius");
      }
    }
    for (const char* const setting : {"step", "search-window", "transform-2d", "transform-1d"}) {
      if (const auto first = ref_->find(setting); first != ref_->end()) {
        settings_[setting] = first->second;
      }
    }
  }

  void take_transform(const char* argument, const std::string& setting) {
    if (count_of(argument) == 0) {
      return;
    }
    if (whole_or("radius", 0) > 0) {
      throw std::runtime_error(std::string(argument) +
                               ": with radius above 0 the transforms are fixed; leave it out");
    }
    const std::string name = one_text(argument);
    settings_[setting] = name == "wht" ? "walsh-hadamard" : name;
  }

  // In lower case.
  std::string one_text(const char* argument) const {
    std::string text = vs_->mapGetData(arguments_, argument, index_of(argument), nullptr);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return text;
  }

  int count_of(const char* argument) const { return std::max(vs_->mapNumElements(arguments_, argument), 0); }

  int whole_or(const char* argument, int otherwise) const {
    const int count = count_of(argument);
    return count > 0 ? vs_->mapGetIntSaturated(arguments_, argument, index_of(argument), nullptr) : otherwise;
  }

  // The last value applies to the remaining planes.
  int index_of(const char* argument) const { return std::clamp(plane_, 0, count_of(argument) - 1); }

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

  double level_of(int plane) const {
    constexpr double kOfBm3dCuda = 3;
    const int levels = count_of("sigma");
    return plane_ != kAllPlanes && plane != plane_ ? 0
           : levels == 0                           ? kOfBm3dCuda
                         : vs_->mapGetFloat(arguments_, "sigma", std::min(plane, levels - 1), nullptr);
  }

  // Planes that aren't chosen have no noise.
  void set_levels(double scale) {
    constexpr int kOfBm3dCuda = 3;  // whatever the clip has
    if (count_of("sigma") > (scale == 1 ? clip_.format.numPlanes : kOfBm3dCuda)) {
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
  const plugins::Settings* ref_;
  int plane_;
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

std::size_t most_kept(const VSVideoInfo& clip, VSCore* core, const VSAPI* vs) {
  VSCoreInfo info;
  vs->getCoreInfo(core, &info);
  const std::int64_t samples = std::int64_t{clip.width} * clip.height * clip.format.numPlanes;
  const std::int64_t fit = info.maxFramebufferSize / kPartOfCaches / (samples * clip.format.bytesPerSample);
  return std::clamp<std::size_t>(static_cast<std::size_t>(fit), 1, kMostKept);
}

// Warns of a guide that is not a first step. Throws std::runtime_error if it is not like the clip.
void check_guide(const VSVideoInfo& guide, const VSVideoInfo& clip, VSCore* core, const VSAPI* vs) {
  if (!vsh::isSameVideoFormat(&guide.format, &clip.format) || guide.width != clip.width ||
      guide.height != clip.height || guide.numFrames != clip.numFrames) {
    throw std::runtime_error("ref: the guide must have the format, the size and the length of the clip");
  }
  vs->logMessage(mtWarning,
                 "limpid: BM3Dv2: the guide ref is not used, because it is not a result of BM3Dv2 for this "
                 "clip; both steps of BM3D are computed from the clip",
                 core);
}

Request request_of(const Function& function, const VSMap* in, int plane, const VSNode* node,
                   const VSVideoInfo& clip, VSCore* core, const VSAPI* vs) {
  if (!vsh::isConstantVideoFormat(&clip)) {
    throw std::runtime_error("clips whose size or format changes are not supported");
  }
  if (vs->mapNumElements(in, "ref") < 1) {
    return Call(in, clip, nullptr, plane, vs).request(function);
  }
  const Node ref(vs->mapGetNode(in, "ref", 0, nullptr), vs->freeNode);
  const std::optional<plugins::Settings> first_step = first_steps().of(ref.get(), node);
  if (!first_step) {
    check_guide(*vs->getVideoInfo(ref.get()), clip, core, vs);
  }
  return Call(in, clip, first_step ? &*first_step : nullptr, plane, vs).request(function);
}

// One call of a function: a stream through a denoiser.
class Denoising : plugins::NotCopyable {
 public:
  Denoising(const Function& function, const VSMap* in, int plane, VSCore* core, const VSAPI* vs)
      : vs_(vs),
        node_(vs->mapGetNode(in, "clip", 0, nullptr), vs->freeNode),
        clip_(*vs->getVideoInfo(node_.get())),
        request_(request_of(function, in, plane, node_.get(), clip_, core, vs)),
        denoiser_([vs, core](const char* sentence) {
          vs->logMessage(mtWarning, (std::string("limpid: ") + sentence).c_str(), core);
        }) {
    denoiser_.start(format_of(clip_), request_.settings);
    frames_.emplace(denoiser_, clip_.numFrames, most_kept(clip_, core, vs), "VapourSynth");
  }
  ~Denoising() { first_steps().remove(own_node_); }

  VSNode* node() const { return node_.get(); }
  const VSVideoInfo& clip() const { return clip_; }

  // `own_node` is what this call returned.
  void may_be_ref(const VSNode* own_node) {
    own_node_ = own_node;
    first_steps().add(own_node, {node_.get(), request_.settings});
  }

  // Requests what frame n needs if the stream continues.
  void request(int n, VSFrameContext* context) const {
    request(frames_->first_of(n), frames_->last_of(n), context);
  }
  // Requests what the noise level of frame n is measured from if the stream restarts. Returns false if
  // nothing is missing. One call at a time.
  bool request_for_level(int n, VSFrameContext* context) const {
    return request(frames_->first_needed(n), frames_->first_of(n) - 1, context);
  }

  // The result for frame n, whose frames are there; null, and an error in `context`, if it failed. One call
  // at a time.
  const VSFrame* result(int n, VSFrameContext* context, VSCore* core) {
    try {
      Host host{*this, context, core};
      return frames_->get(n, host).release();
    } catch (const std::exception& error) {
      vs_->setFilterError((std::string("limpid: ") + error.what()).c_str(), context);
      return nullptr;
    }
  }

 private:
  bool request(int first, int last, VSFrameContext* context) const {
    for (int i = first; i <= last; ++i) {
      vs_->requestFrameFilter(i, node_.get(), context);
    }
    return first <= last;
  }

  // VapourSynth's frames, for RandomAccess.
  struct Host {
    Denoising& own;
    VSFrameContext* context;
    VSCore* core;

    Frame source(int n) const {
      return {own.vs_->getFrameFilter(n, own.node_.get(), context), own.vs_->freeFrame};
    }
    limpid_frame frame(const Frame& source) const { return own.sent(source.get()); }
    Frame result(const limpid_frame& result, const Frame& source) const {
      return {own.received(result, source.get(), core), own.vs_->freeFrame};
    }
  };

  limpid_frame sent(const VSFrame* frame) const {
    auto sent = plugins::sized<limpid_frame>();
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      sent.planes[p].data = const_cast<std::uint8_t*>(vs_->getReadPtr(frame, p));
      sent.planes[p].stride = vs_->getStride(frame, p);
    }
    int unset = 0;
    const VSMap* const properties = vs_->getFramePropertiesRO(frame);
    sent.flags = vs_->mapGetInt(properties, "_FieldBased", 0, &unset) > 0 ? LIMPID_INTERLACED : 0;
    return sent;
  }

  const VSFrame* received(const limpid_frame& result, const VSFrame* source, VSCore* core) {
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
    const limpid_noise noise = denoiser_.noise_of_result();
    VSMap* const properties = vs_->getFramePropertiesRW(frame);
    vs_->mapDeleteKey(properties, kLevelProperty);  // of another call
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      vs_->mapSetFloat(properties, kLevelProperty, static_cast<double>(noise.sigma[p]), maAppend);
    }
    return frame;
  }

  const VSAPI* vs_;
  Node node_;
  VSVideoInfo clip_;
  Request request_;
  plugins::Denoiser denoiser_;
  std::optional<plugins::RandomAccess<Frame, Frame>> frames_;
  const VSNode* own_node_ = nullptr;  // of a first step by BM3Dv2
};

// `frame_data`: null until the frames for the level have been requested.
const VSFrame* VS_CC get_frame(int n, int reason, void* instance, void** frame_data, VSFrameContext* context,
                               VSCore* core, const VSAPI* /*vs*/) {
  auto& denoising = *static_cast<Denoising*>(instance);
  if (reason == arInitial) {
    denoising.request(n, context);
  } else if (reason == arAllFramesReady) {
    if (*frame_data == nullptr && denoising.request_for_level(n, context)) {
      *frame_data = instance;
      return nullptr;
    }
    return denoising.result(n, context, core);
  }
  return nullptr;
}

void VS_CC free_instance(void* instance, VSCore* /*core*/, const VSAPI* /*vs*/) {
  const std::unique_ptr<Denoising> ended(static_cast<Denoising*>(instance));
}

VSNode* make_node(const Function& function, const VSMap* in, int plane, VSCore* core, const VSAPI* vs) {
  auto denoising = std::make_unique<Denoising>(function, in, plane, core, vs);
  const VSFilterDependency dependency{denoising->node(), rpGeneral};
  const VSVideoInfo clip = denoising->clip();
  Denoising* const instance = denoising.release();
  VSNode* const made = vs->createVideoFilter2(function.name, &clip, get_frame, free_instance,
                                              fmParallelRequests, &dependency, 1, instance, core);
  if (made == nullptr) {
    throw std::runtime_error("VapourSynth could not make the filter");
  }
  if (function.as_bm3dcuda && vs->mapNumElements(in, "ref") < 1) {
    instance->may_be_ref(made);
  }
  return made;
}

// True if lists have other values for some planes.
bool differs_by_plane(const Function& function, const VSMap* in, const VSVideoInfo& clip, const VSAPI* vs) {
  const auto settings_of = [&](int plane) {
    plugins::Settings settings = Call(in, clip, nullptr, plane, vs).request(function).settings;
    settings.erase("sigma");
    return settings;
  };
  for (int plane = 1; plane < clip.format.numPlanes; ++plane) {
    if (settings_of(plane) != settings_of(0)) {
      return true;
    }
  }
  return false;
}

using Map = std::unique_ptr<VSMap, decltype(VSAPI::freeMap)>;

// A filter for each plane, with the values that the lists have for it.
VSNode* make_by_plane(const Function& function, const VSMap* in, const VSVideoFormat& format, VSCore* core,
                      const VSAPI* vs) {
  const Map shuffle(vs->createMap(), vs->freeMap);
  for (int plane = 0; plane < format.numPlanes; ++plane) {
    vs->mapConsumeNode(shuffle.get(), "clips", make_node(function, in, plane, core, vs), maAppend);
    vs->mapSetInt(shuffle.get(), "planes", plane, maAppend);
  }
  vs->mapSetInt(shuffle.get(), "colorfamily", format.colorFamily, maReplace);
  const Map result(vs->invoke(vs->getPluginByID("com.vapoursynth.std", core), "ShufflePlanes", shuffle.get()),
                   vs->freeMap);
  if (const char* const error = vs->mapGetError(result.get())) {
    throw std::runtime_error(error);
  }
  return vs->mapGetNode(result.get(), "clip", 0, nullptr);
}

void VS_CC create(const VSMap* in, VSMap* out, void* data, VSCore* core, const VSAPI* vs) {
  const Function& function = *static_cast<const Function*>(data);
  try {
    const Node node(vs->mapGetNode(in, "clip", 0, nullptr), vs->freeNode);
    const VSVideoInfo& clip = *vs->getVideoInfo(node.get());
    VSNode* const made = function.as_bm3dcuda && differs_by_plane(function, in, clip, vs)
                             ? make_by_plane(function, in, clip.format, core, vs)
                             : make_node(function, in, kAllPlanes, core, vs);
    vs->mapConsumeNode(out, "clip", made, maAppend);
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
