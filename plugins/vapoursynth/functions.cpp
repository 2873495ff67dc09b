#include "plugins/vapoursynth/functions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace limpid::vapoursynth {
namespace {

struct Parameter {
  std::string setting;   // "search-window"
  std::string argument;  // "search_window"
  limpid_kind kind;
};

std::string argument_of(std::string setting) {
  std::replace(setting.begin(), setting.end(), '-', '_');
  return setting;
}

// Of one filter or, null, of all.
std::vector<Parameter> parameters_of(const char* filter_name) {
  std::vector<Parameter> parameters;
  for (std::int32_t f = 0; f < limpid_filter_count(); ++f) {
    auto filter = plugins::sized<limpid_filter_info>();
    if (limpid_get_filter(f, &filter) != LIMPID_OK ||
        (filter_name != nullptr && std::strcmp(filter.name, filter_name) != 0)) {
      continue;
    }
    for (std::int32_t p = 0; p < filter.parameter_count; ++p) {
      auto info = plugins::sized<limpid_parameter_info>();
      const bool is_new = limpid_get_parameter(f, p, &info) == LIMPID_OK &&
                          std::none_of(parameters.begin(), parameters.end(),
                                       [&](const Parameter& other) { return other.setting == info.name; });
      if (is_new) {
        parameters.push_back({info.name, argument_of(info.name), static_cast<limpid_kind>(info.kind)});
      }
    }
  }
  return parameters;
}

// The arguments of a call, and the settings that they become.
class Call {
 public:
  Call(const VSMap* arguments, const VSVideoInfo& clip, const VSAPI* vs)
      : arguments_(arguments), clip_(clip), vs_(vs) {}

  Request request(const Function& function) {
    if (function.filter != nullptr) {
      set("filter", function.filter);
    }
    for (const char* name : {"filter", "profile", "engine", "noise"}) {
      set_if_given({name, name, LIMPID_NAME});
    }
    set_if_given({"strength", "strength", LIMPID_NUMBER});
    set_if_given({"threads", "threads", LIMPID_INTEGER});
    for (const Parameter& parameter : parameters_of(function.filter)) {
      set_if_given(parameter);
    }
    const Planes planes = chosen_planes();
    if (count_of("sigma") == 0) {
      choose_without_levels(planes);
    } else if (count_of("noise") > 0) {
      throw std::runtime_error("sigma and noise exclude each other");
    } else {
      set_levels(planes, 1);
    }
    return {settings_, planes};
  }

  // BM3DCUDA's first step has no `ref`; where it has, the second is made, too, of whose first step the
  // library has its own.
  Request request_as_bm3dcuda() {
    const int radius = whole_or("radius", 0, 0);
    set("filter", radius > 0 ? "vbm4d" : "bm3d");
    if (radius > 0) {
      set("reach", std::to_string(radius));
    }
    const int steps = count_of("ref") > 0 ? 2 : 1;
    set("steps", std::to_string(steps));
    for (const char* const step : {"", "-2"}) {
      if (*step == '\0' || steps == 2) {
        set(std::string("step") + step, std::to_string(whole_or("block_step", 0, 8)));
        set(std::string("search-window") + step, std::to_string(2 * whole_or("bm_range", 0, 9) + 1));
      }
    }
    if (count_of("device_id") > 0) {
      set("engine", "cuda:" + std::to_string(whole_or("device_id", 0, 0)));
    }
    // That function takes for noise of sigma what has 3/4 of it.
    constexpr double kScale = 0.75;
    Planes planes{};
    for (int p = 0; p < clip_.format.numPlanes; ++p) {
      planes[static_cast<std::size_t>(p)] = level_of(p) > 0;
    }
    set_levels(planes, kScale);
    return {settings_, planes};
  }

 private:
  void set(const std::string& name, const std::string& value) { settings_[name] = value; }

  int count_of(const char* argument) const { return std::max(vs_->mapNumElements(arguments_, argument), 0); }

  int whole_or(const char* argument, int index, int otherwise) const {
    return count_of(argument) > index ? vs_->mapGetIntSaturated(arguments_, argument, index, nullptr)
                                      : otherwise;
  }

  void set_if_given(const Parameter& parameter) {
    const char* const argument = parameter.argument.c_str();
    if (count_of(argument) == 0) {
      return;
    }
    switch (parameter.kind) {
      case LIMPID_INTEGER:
        return set(parameter.setting, std::to_string(vs_->mapGetInt(arguments_, argument, 0, nullptr)));
      case LIMPID_NUMBER:
        return set(parameter.setting, plugins::text_of(vs_->mapGetFloat(arguments_, argument, 0, nullptr)));
      case LIMPID_NAME:
        return set(parameter.setting,
                   {vs_->mapGetData(arguments_, argument, 0, nullptr),
                    static_cast<std::size_t>(vs_->mapGetDataSize(arguments_, argument, 0, nullptr))});
    }
  }

  Planes chosen_planes() const {
    const int planes = clip_.format.numPlanes;
    Planes chosen{};
    std::fill_n(chosen.begin(), planes, count_of("planes") == 0);
    for (int i = 0; i < count_of("planes"); ++i) {
      const int plane = whole_or("planes", i, 0);
      if (plane < 0 || plane >= planes || chosen[static_cast<std::size_t>(plane)]) {
        throw std::runtime_error("planes: there is no plane " + std::to_string(plane) +
                                 ", or it is named twice");
      }
      chosen[static_cast<std::size_t>(plane)] = true;
    }
    return chosen;
  }

  // As usual there, the last one is for the planes that have none.
  double level_of(int plane) const {
    constexpr double kOfBm3dCuda = 3;
    const int levels = count_of("sigma");
    return levels == 0 ? kOfBm3dCuda
                       : vs_->mapGetFloat(arguments_, "sigma", std::min(plane, levels - 1), nullptr);
  }

  // Planes that aren't chosen have no noise.
  void set_levels(const Planes& planes, double scale) {
    if (count_of("sigma") > clip_.format.numPlanes) {
      throw std::runtime_error("sigma: there are more levels than planes");
    }
    std::string text;
    for (int p = 0; p < 3; ++p) {
      const bool filtered = p >= clip_.format.numPlanes || planes[static_cast<std::size_t>(p)];
      text += (p == 0 ? "" : ",") + plugins::text_of(filtered ? scale * level_of(p) : 0);
    }
    set("sigma", text);
  }

  void choose_without_levels(const Planes& planes) {
    if (std::all_of(planes.begin(), planes.begin() + clip_.format.numPlanes,
                    [](bool chosen) { return chosen; })) {
      return;
    }
    const bool luma = planes == Planes{true, false, false};
    if (clip_.format.colorFamily != cfYUV || !(luma || planes == Planes{false, true, true})) {
      throw std::runtime_error("planes: without sigma, [0] or [1, 2] of a clip in YUV, or all");
    }
    set(luma ? "luma-only" : "chroma-only", "1");
  }

  const VSMap* arguments_;
  const VSVideoInfo& clip_;
  const VSAPI* vs_;
  plugins::Settings settings_;
};

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> all{{"Denoise", nullptr, false},
                                         {"Bilateral", "bilateral", false},
                                         {"NLM", "nlm", false},
                                         {"BM3Dv2", nullptr, true}};
  return all;
}

std::string arguments_of(const Function& function) {
  if (function.as_bm3dcuda) {
    return "clip:vnode;ref:vnode:opt;sigma:float[]:opt;block_step:int[]:opt;bm_range:int[]:opt;radius:int:"
           "opt;"
           "ps_num:int[]:opt;ps_range:int[]:opt;chroma:int:opt;device_id:int:opt;fast:int:opt;extractor_exp:"
           "int:opt;";
  }
  std::string arguments =
      "clip:vnode;sigma:float[]:opt;noise:data:opt;strength:float:opt;planes:int[]:opt;engine:data:opt;"
      "threads:int:opt;";
  if (function.filter == nullptr) {
    arguments += "filter:data:opt;profile:data:opt;";
  }
  for (const Parameter& parameter : parameters_of(function.filter)) {
    arguments += parameter.argument;
    arguments += parameter.kind == LIMPID_INTEGER  ? ":int:opt;"
                 : parameter.kind == LIMPID_NUMBER ? ":float:opt;"
                                                   : ":data:opt;";
  }
  return arguments;
}

Request request_of(const Function& function, const VSMap* arguments, const VSVideoInfo& clip,
                   const VSAPI* vs) {
  Call call(arguments, clip, vs);
  return function.as_bm3dcuda ? call.request_as_bm3dcuda() : call.request(function);
}

}  // namespace limpid::vapoursynth
