#include "plugins/vapoursynth/arguments.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace limpid::vapoursynth {
namespace {

// "search-window" as an argument.
std::string argument_of(std::string setting) {
  std::replace(setting.begin(), setting.end(), '-', '_');
  return setting;
}

}  // namespace

std::vector<Parameter> parameters_of(const char* filter_name) {
  std::vector<Parameter> parameters;
  for (std::int32_t f = 0; f < limpid_filter_count(); ++f) {
    auto filter = sized<limpid_filter_info>();
    if (limpid_get_filter(f, &filter) != LIMPID_OK ||
        (filter_name != nullptr && std::strcmp(filter.name, filter_name) != 0)) {
      continue;
    }
    for (std::int32_t p = 0; p < filter.parameter_count; ++p) {
      auto info = sized<limpid_parameter_info>();
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

std::string arguments_of(const char* filter) {
  std::string arguments =
      "clip:vnode;sigma:float[]:opt;noise:data:opt;strength:float:opt;planes:int[]:opt;engine:data:opt;"
      "threads:int:opt;";
  if (filter == nullptr) {
    arguments += "filter:data:opt;profile:data:opt;";
  }
  for (const Parameter& parameter : parameters_of(filter)) {
    arguments += parameter.argument;
    arguments += parameter.kind == LIMPID_INTEGER  ? ":int:opt;"
                 : parameter.kind == LIMPID_NUMBER ? ":float:opt;"
                                                   : ":data:opt;";
  }
  return arguments;
}

}  // namespace limpid::vapoursynth
