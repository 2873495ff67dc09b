// SPDX-License-Identifier: MIT
#include "core/edge_preserving/edge_preserving_parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/parameters/parameter.h"

namespace limpid {
namespace {

// The defaults that follow from sigma maximize the PSNR of six pictures at sigma 5, 10, 15, 25, 35 and 50
// (bench/results.md).

// Limits a default to the legal range.
float deviation(float value) { return std::clamp(value, 0.01F, 1000.0F); }

// Strong noise requires more samples in the mean. A given radius determines the spatial sigma.
float resolve_spatial_sigma(const std::optional<int>& radius, const std::optional<float>& spatial_sigma,
                            float sigma) {
  return spatial_sigma.value_or(radius ? static_cast<float>(*radius) / 2.5F : 1.25F + 0.005F * sigma);
}

int resolve_radius(const std::optional<int>& radius, float spatial_sigma) {
  return radius.value_or(std::clamp(static_cast<int>(std::lround(2.5F * spatial_sigma)), 1, 64));
}

constexpr const char* kGroup = "Parameters";

// Describes a filter and its parameters.
template <typename Parameters>
class Describer {
 public:
  Describer(const std::string& name, const std::string& help) {
    description_.name = name;
    description_.help = help;
    description_.make = [](const std::string& /*profile*/) { return Parameters(); };
    description_.resolve = [](const Parameters& parameters, float sigma) {
      return resolve(parameters, sigma);
    };
  }

  template <typename Member, typename Legal>
  Describer& add(const std::string& option, const std::string& name, const std::string& title, Member member,
                 const std::string& range, const std::string& help, const Legal& legal) {
    description_.parameters.push_back(number_parameter<Parameters>(
        ParameterText{option, "", name, description_.name, title, range, help, kGroup},
        [member](auto& parameters) { return &(parameters.*member); }, legal));
    return *this;
  }
  template <typename Member>
  Describer& number(const std::string& option, const std::string& name, const std::string& title,
                    Member member, const std::string& range, float least, float greatest,
                    const std::string& help) {
    return add(option, name, title, member, range, help,
               [=](float value) { return value >= least && value <= greatest; });
  }
  template <typename Member>
  Describer& deviation(const std::string& option, const std::string& name, const std::string& title,
                       Member member, const std::string& help) {
    return number(option, name, title, member, "0.01 to 1000 code values", 0.01F, 1000, help);
  }

  Describer& radius() {
    return add("radius", "radius", "a radius", &Parameters::radius, "1 to 64",
               "Radius of the window, in samples", [](int radius) { return radius >= 1 && radius <= 64; });
  }
  Describer& spatial_sigma() {
    return number("spatial-sigma", "spatial_sigma", "a spatial sigma", &Parameters::spatial_sigma,
                  "0.1 to 1000", 0.1F, 1000, "Standard deviation of the spatial weight, in samples");
  }
  Describer& range_sigma() {
    return deviation("range-sigma", "range_sigma", "a range sigma", &Parameters::range_sigma,
                     "Standard deviation of the range weight");
  }
  Describer& patch_size() {
    return add("patch-size", "patch_size", "a patch size", &Parameters::patch_size, "odd, 1 to 21",
               "Side of a patch, in samples",
               [](int side) { return side >= 1 && side <= 21 && side % 2 == 1; });
  }
  Describer& search_window(bool or_whole_plane) {
    return add("search-window", "search_window", "a search window", &Parameters::search_window,
               or_whole_plane ? "odd, 1 to 257, or 0 for the whole plane" : "odd, 1 to 257",
               "Side of the search window, in samples", [or_whole_plane](int side) {
                 return (or_whole_plane && side == 0) || (side >= 1 && side <= 257 && side % 2 == 1);
               });
  }

  FilterDescription<Parameters> description() const { return description_; }

 private:
  FilterDescription<Parameters> description_;
};

}  // namespace

const FilterDescription<BilateralParameters>& BilateralParameters::description() {
  static const auto all = Describer<BilateralParameters>("bilateral", "Bilateral filter: the fastest")
                              .radius()
                              .spatial_sigma()
                              .range_sigma()
                              .description();
  return all;
}

const FilterDescription<AdaptiveBilateralParameters>& AdaptiveBilateralParameters::description() {
  using P = AdaptiveBilateralParameters;
  static const auto all =
      Describer<P>("adaptive-bilateral", "Adaptive bilateral filter: weaker in detailed areas")
          .radius()
          .spatial_sigma()
          .range_sigma()
          .number("kappa", "kappa", "a kappa", &P::kappa, "0.01 to 100", 0.01F, 100,
                  "Range sigma of the second pass, as a multiple of the local standard deviation")
          .number("epsilon", "epsilon", "an epsilon", &P::epsilon, "0.0001 to 10000", 0.0001F, 10000,
                  "Constant added to the local variance")
          .description();
  return all;
}

const FilterDescription<NlmParameters>& NlmParameters::description() {
  static const auto all =
      Describer<NlmParameters>("nlm", "Non-local means: mean of samples with similar neighborhoods")
          .patch_size()
          .search_window(false)
          .deviation("decay", "h", "an h", &NlmParameters::h, "Decay h of the patch weight")
          .description();
  return all;
}

const FilterDescription<NlmBilateralParameters>& NlmBilateralParameters::description() {
  static const auto all =
      Describer<NlmBilateralParameters>("nlm-bilateral", "Non-local means with bilateral weights")
          .patch_size()
          .search_window(true)
          .deviation("patch-sigma", "patch_sigma", "a patch sigma", &NlmBilateralParameters::patch_sigma,
                     "Standard deviation of the patch weight")
          .range_sigma()
          .spatial_sigma()
          .description();
  return all;
}

void BilateralParameters::validate() const { check_parameters(description(), *this); }
void AdaptiveBilateralParameters::validate() const { check_parameters(description(), *this); }
void NlmParameters::validate() const { check_parameters(description(), *this); }
void NlmBilateralParameters::validate() const { check_parameters(description(), *this); }

BilateralParameters resolve(const BilateralParameters& parameters, float sigma) {
  const float spatial_sigma = resolve_spatial_sigma(parameters.radius, parameters.spatial_sigma, sigma);
  return {.radius = resolve_radius(parameters.radius, spatial_sigma),
          .spatial_sigma = spatial_sigma,
          .range_sigma = parameters.range_sigma.value_or(deviation((2.1F + 0.03F * sigma) * sigma))};
}

AdaptiveBilateralParameters resolve(const AdaptiveBilateralParameters& parameters, float sigma) {
  const float spatial_sigma = resolve_spatial_sigma(parameters.radius, parameters.spatial_sigma, sigma);
  return {.radius = resolve_radius(parameters.radius, spatial_sigma),
          .spatial_sigma = spatial_sigma,
          .range_sigma = parameters.range_sigma.value_or(deviation(1.5F * sigma)),
          .kappa = parameters.kappa.value_or(1.4F + 0.035F * sigma),
          .epsilon = parameters.epsilon};
}

// For means of samples, these settings give better results in half the time of those of Buades, Coll and
// Morel (IPOL 2011), which are for means of patches.
NlmParameters resolve(const NlmParameters& parameters, float sigma) {
  const NlmParameters found = sigma <= 20   ? NlmParameters{3, 15, 0.8F * sigma}
                              : sigma <= 40 ? NlmParameters{5, 15, 0.6F * sigma}
                                            : NlmParameters{7, 15, 0.4F * sigma};
  return {.patch_size = parameters.patch_size.value_or(*found.patch_size),
          .search_window = parameters.search_window.value_or(*found.search_window),
          .h = std::max(parameters.h.value_or(deviation(*found.h)), sigma / 64)};
}

NlmBilateralParameters resolve(const NlmBilateralParameters& parameters, float sigma) {
  return {.patch_size = parameters.patch_size.value_or(sigma <= 30 ? 3 : 5),
          .search_window = parameters.search_window.value_or(15),
          .patch_sigma = parameters.patch_sigma.value_or(deviation((sigma <= 30 ? 0.8F : 0.65F) * sigma)),
          .range_sigma = parameters.range_sigma.value_or(deviation(8 * sigma)),
          .spatial_sigma = parameters.spatial_sigma};
}

namespace {

// exp(-x / divisor) = 2^-(exponent(divisor) x).
float exponent(double divisor) { return static_cast<float>(std::numbers::log2e / divisor); }

// exp(-x^2 / (2 sigma^2)) = 2^-(gaussian(sigma) x^2).
float gaussian(float sigma) { return exponent(2 * static_cast<double>(sigma) * static_cast<double>(sigma)); }

PatchWeights patch_geometry(int patch_size, int search_window, int width, int height) {
  PatchWeights weights;
  weights.patch_radius = patch_size / 2;
  weights.search_radius_x = std::min(search_window / 2, width - 1);
  weights.search_radius_y = std::min(search_window / 2, height - 1);
  return weights;
}

}  // namespace

BilateralWeights make_weights(const BilateralParameters& parameters, float sigma) {
  const BilateralParameters resolved = resolve(parameters, sigma);
  return {*resolved.radius, gaussian(*resolved.spatial_sigma), gaussian(*resolved.range_sigma)};
}

AdaptiveBilateralWeights make_weights(const AdaptiveBilateralParameters& parameters, float sigma) {
  const AdaptiveBilateralParameters resolved = resolve(parameters, sigma);
  return {{*resolved.radius, gaussian(*resolved.spatial_sigma), gaussian(*resolved.range_sigma)},
          gaussian(*resolved.kappa),
          resolved.epsilon};
}

PatchWeights make_weights(const NlmParameters& parameters, float sigma, const MatchingScale& scale, int width,
                          int height) {
  const NlmParameters resolved = resolve(parameters, sigma);
  PatchWeights weights = patch_geometry(*resolved.patch_size, *resolved.search_window, width, height);
  const auto h = static_cast<double>(*resolved.h);
  const auto s = static_cast<double>(sigma);
  weights.patch = exponent(h * h * scale.scale * scale.scale);
  weights.offset = exponent(h * h / (2 * s * s));
  return weights;
}

PatchWeights make_weights(const NlmBilateralParameters& parameters, float sigma, const MatchingScale& scale,
                          int width, int height) {
  const NlmBilateralParameters resolved = resolve(parameters, sigma);
  const bool whole_plane = *resolved.search_window == 0;
  PatchWeights weights =
      patch_geometry(*resolved.patch_size,
                     whole_plane ? 2 * std::max(width, height) : *resolved.search_window, width, height);
  weights.patch = gaussian(*resolved.patch_sigma * static_cast<float>(scale.scale));
  weights.range = gaussian(*resolved.range_sigma);
  weights.spatial = resolved.spatial_sigma ? gaussian(*resolved.spatial_sigma) : 0;
  return weights;
}

}  // namespace limpid
