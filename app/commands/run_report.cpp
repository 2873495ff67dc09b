#include "app/commands/run_report.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <variant>

#include "app/console/plane_names.h"

namespace limpid::app {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json optional(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json settings(const Bm3dStep& step) {
  return {{"patch_size", step.patch_size},
          {"step", step.step},
          {"group_size", step.max_group_size},
          {"search_window", step.search_window},
          {"tau", step.max_distance},
          {"kaiser_beta", step.kaiser_beta},
          {"transform_2d", to_string(step.transform_2d)},
          {"transform_1d", to_string(step.transform_1d)}};
}

Json settings(const BilateralParameters& bilateral) {
  return {{"radius", optional(bilateral.radius)},
          {"spatial_sigma", optional(bilateral.spatial_sigma)},
          {"range_sigma", optional(bilateral.range_sigma)}};
}

Json settings(const AdaptiveBilateralParameters& adaptive) {
  return {{"radius", optional(adaptive.radius)},
          {"spatial_sigma", optional(adaptive.spatial_sigma)},
          {"range_sigma", optional(adaptive.range_sigma)},
          {"kappa", optional(adaptive.kappa)},
          {"epsilon", adaptive.epsilon}};
}

Json settings(const NlmParameters& nlm) {
  return {{"patch_size", optional(nlm.patch_size)},
          {"search_window", optional(nlm.search_window)},
          {"h", optional(nlm.h)}};
}

Json settings(const NlmBilateralParameters& nlm) {
  return {{"patch_size", optional(nlm.patch_size)},
          {"search_window", optional(nlm.search_window)},
          {"patch_sigma", optional(nlm.patch_sigma)},
          {"range_sigma", optional(nlm.range_sigma)},
          {"spatial_sigma", optional(nlm.spatial_sigma)}};
}

}  // namespace

Json to_json(const Filter& filter, const NoiseLevel& noise, const FrameFormat& format) {
  Json json;
  json["name"] = to_string(filter);
  std::visit(
      [&](const auto& parameters) {
        if constexpr (std::is_same_v<std::decay_t<decltype(parameters)>, Bm3dParameters>) {
          json["matching"] = to_string(parameters.matching);
          json["transform"] = to_string(parameters.transform);
          json["lambda"] = parameters.lambda;
          json["hard_threshold"] = settings(parameters.hard_threshold);
          json["wiener"] = parameters.wiener ? settings(*parameters.wiener) : Json();
        } else {
          const std::vector<std::string_view> names = color_plane_names(format);
          for (std::size_t plane = 0; plane < names.size(); ++plane) {
            const float sigma = noise.sigma[plane];
            json[std::string(names[plane])] = sigma > 0 ? settings(resolve(parameters, sigma)) : Json();
          }
        }
      },
      filter);
  return json;
}

Json to_json(const NoiseLevel& noise, const FrameFormat& format) {
  Json json;
  const std::vector<std::string_view> names = color_plane_names(format);
  for (std::size_t plane = 0; plane < names.size(); ++plane) {
    json[std::string(names[plane])] = noise.sigma[plane];
  }
  return json;
}

}  // namespace limpid::app
