// SPDX-License-Identifier: MIT
#include "core/filter/filter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace limpid {
namespace {

struct Quality {
  const char* word;
  const char* profile;
};
constexpr std::array<Quality, 4> kQualities{
    {{"fast", "fast"}, {"good", "np"}, {"high", "high"}, {"best", "best"}}};

// Other names of filters, and filters of other programs that the default replaces.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOtherNames{
    {{"nlmeans", "nlm"}, {"nonlocalmeans", "nlm"}, {"knlmeanscl", "nlm"}, {"bilateralfilter", "bilateral"}}};
constexpr std::array<std::string_view, 12> kReplaced{"hqdn3d",    "atadenoise", "vaguedenoiser", "owdenoise",
                                                     "fftdnoiz",  "dctdnoiz",   "removegrain",   "mdegrain",
                                                     "smdegrain", "dfttest",    "bm4d",          "vbm3d"};

// Letters and digits in lower case.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char letter : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      letters += letter;
    }
  }
  return letters;
}

// Throws the UsageError for a name that no filter has.
[[noreturn]] void refuse_filter(const std::string& name, bool is_foreign) {
  std::vector<std::string> names;
  std::string legal;
  for (const FilterType& type : filter_types()) {
    names.push_back(type.name);
    legal += (legal.empty() ? "" : ", ") + type.name;
  }
  const std::string standard(default_filter(false));
  std::string advice = did_you_mean(name, names);
  if (is_foreign) {
    advice =
        "; the default, " + standard + ", replaces it, and strength (light, strong or a factor) adjusts it";
  } else if (std::ranges::find(quality_words(), name) != quality_words().end()) {
    advice = ", but a quality of this name: " + standard + ":quality=" + name;
  }
  throw UsageError("there is no filter \"" + name + "\"" +
                   (advice.empty() ? "; there are " + legal : advice));
}

// Converts the description of one of the variant's filters to a description of Filter.
template <typename Parameters>
FilterType as_filter(const FilterDescription<Parameters>& own) {
  FilterType type;
  type.name = own.name;
  type.help = own.help;
  type.profiles = own.profiles;
  type.default_profile = own.default_profile;
  type.make = [make = own.make, profiles = own.profiles](const std::string& profile) {
    return Filter(make(profile_for(profiles, profile)));
  };
  for (const Parameter<Parameters>& parameter : own.parameters) {
    type.parameters.push_back(
        {parameter.text, parameter.kind, parameter.names,
         [get = parameter.get](const Filter& filter) { return get(std::get<Parameters>(filter)); },
         [set = parameter.set](Filter& filter, const ParameterValue& value) {
           set(std::get<Parameters>(filter), value);
         },
         [check = parameter.check](const Filter& filter) { check(std::get<Parameters>(filter)); }});
  }
  if (own.check_together) {
    type.check_together = [check = own.check_together](const Filter& filter) {
      check(std::get<Parameters>(filter));
    };
  }
  if (own.make_live) {
    type.make_live = [make = own.make_live, profiles = own.profiles](const std::string& profile) {
      return Filter(make(profile_for(profiles, profile)));
    };
  }
  if (own.resolve) {
    type.resolve = [resolve = own.resolve](const Filter& filter, float sigma) {
      return Filter(resolve(std::get<Parameters>(filter), sigma));
    };
  }
  if (own.reach) {
    type.reach = [reach = own.reach](const Filter& filter) { return reach(std::get<Parameters>(filter)); };
  }
  return type;
}

template <std::size_t... kIndices>
std::vector<FilterType> describe_all(std::index_sequence<kIndices...> /*indices*/) {
  return {as_filter(std::variant_alternative_t<kIndices, Filter>::description())...};
}

}  // namespace

const std::vector<FilterType>& filter_types() {
  static const std::vector<FilterType> types =
      describe_all(std::make_index_sequence<std::variant_size_v<Filter>>());
  return types;
}

const FilterType& filter_type(std::string_view name) {
  std::string letters = letters_of(name);
  for (const auto& [other, filter] : kOtherNames) {
    letters = letters == other ? std::string(filter) : letters;
  }
  const std::vector<FilterType>& types = filter_types();
  const auto found =
      std::ranges::find_if(types, [&](const FilterType& type) { return letters_of(type.name) == letters; });
  if (found == types.end()) {
    refuse_filter(std::string(name), std::ranges::find(kReplaced, letters) != kReplaced.end());
  }
  return *found;
}

const std::vector<std::string>& quality_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    std::ranges::transform(kQualities, std::back_inserter(all), &Quality::word);
    return all;
  }();
  return words;
}

std::string profile_for(const std::vector<std::string>& profiles, const std::string& quality) {
  const auto* const found = std::ranges::find(kQualities, quality, &Quality::word);
  if (found == kQualities.end() || profiles.empty()) {
    return quality;
  }
  const bool has_own = std::ranges::find(profiles, found->profile) != profiles.end();
  return has_own ? found->profile : profiles.back();
}

std::string quality_name(const std::string& profile) {
  const auto* const found = std::ranges::find(kQualities, profile, &Quality::profile);
  return found == kQualities.end() ? profile : found->word;
}

const FilterType& type_of(const Filter& filter) { return filter_types()[filter.index()]; }

void validate(const Filter& filter) {
  std::visit([](const auto& parameters) { parameters.validate(); }, filter);
}

std::string_view default_filter(bool frame_by_frame) {
  return frame_by_frame ? Bm3dParameters::description().name : Vbm4dParameters::description().name;
}

Reach reach_of(const Filter& filter) {
  const FilterType& type = type_of(filter);
  return type.reach ? type.reach(filter) : Reach{};
}

void require_bounded_reach(const Filter& filter, std::string_view user) {
  if (reach_of(filter).unbounded) {
    throw UsageError(std::string(user) + " cannot use the filter " + std::string(to_string(filter)) +
                     ", whose results depend on all earlier frames; use vbm4d:delay=0");
  }
}

std::string_view to_string(const Filter& filter) { return type_of(filter).name; }

Filter parse_filter(std::string_view name) {
  const FilterType& type = filter_type(name);
  return type.make(type.default_profile);
}

}  // namespace limpid
