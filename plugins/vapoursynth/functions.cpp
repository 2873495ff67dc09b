#include "plugins/vapoursynth/functions.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace limpid::vapoursynth {
namespace {

// Settings have dashes where arguments, which are names in Python, have underscores.
std::string renamed(std::string name, char from, char to) {
  std::replace(name.begin(), name.end(), from, to);
  return name;
}

// The arguments of a call, and what they ask for.
class Call {
 public:
  Call(const VSMap* arguments, const VSVideoInfo& clip, const VSAPI* vs)
      : arguments_(arguments), clip_(clip), vs_(vs) {}

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

  // As usual there, the last one is for the planes that have none.
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
    settings_[planes[0] ? "luma-only" : "chroma-only"] = "1";
  }

  const VSMap* arguments_;
  const VSVideoInfo& clip_;
  const VSAPI* vs_;
  Request request_;
  plugins::Settings& settings_ = request_.settings;
};

}  // namespace

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

Request request_of(const Function& function, const VSMap* arguments, const VSVideoInfo& clip,
                   const VSAPI* vs) {
  return Call(arguments, clip, vs).request(function);
}

}  // namespace limpid::vapoursynth
