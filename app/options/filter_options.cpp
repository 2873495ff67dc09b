#include "app/options/filter_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/base/error.h"

namespace limpid::app {
namespace {

constexpr std::string_view kBm3d = kFilterNames[0];
constexpr std::string_view kBilateral = kFilterNames[1];
constexpr std::string_view kAdaptive = kFilterNames[2];
constexpr std::string_view kNlm = kFilterNames[3];
constexpr std::string_view kNlmBilateral = kFilterNames[4];

template <typename Names>
std::string join(const Names& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace

void FilterOptions::add_to(CommandLine& command) {
  command
      .add_option("--filter", name_,
                  join(kFilterNames) + ": bm3d removes most and costs most, then nlm, then bilateral [bm3d]")
      ->type_name("NAME")
      ->any_case()
      ->group("Denoising");

  const std::vector<Option*> others = command.get_options();
  bm3d_.add_to(command);
  for (Option* option : command.get_options()) {
    if (std::find(others.begin(), others.end(), option) == others.end()) {
      options_.push_back({option, {kBm3d}});
    }
  }
  const auto share = [&](const std::string& name) {
    std::find_if(options_.begin(), options_.end(), [&](const Owned& owned) {
      return owned.option->get_name() == name;
    })->filters = {kBm3d, kNlm, kNlmBilateral};
  };
  share("--patch-size");
  share("--search-window");

  const auto add = [&](const char* name, auto& value, const char* type, const std::string& help,
                       const std::vector<std::string_view>& filters) {
    Option* option = command.add_option(name, value, help + "; " + join(filters));
    option->type_name(type)->group("Edge-preserving filters, in place of what follows from sigma");
    options_.push_back({option, filters});
  };
  add("--radius", radius_, "N", "The window is 2 N + 1 samples wide and high", {kBilateral, kAdaptive});
  add("--range-sigma", range_sigma_, "X", "Deviation of the weight of a difference, in 8-bit code values",
      {kBilateral, kAdaptive, kNlmBilateral});
  add("--spatial-sigma", spatial_sigma_, "X", "Deviation of the weight of a distance, in samples",
      {kBilateral, kAdaptive, kNlmBilateral});
  add("--kappa", kappa_, "X", "Factor of the local deviation that is the second pass's range sigma",
      {kAdaptive});
  add("--epsilon", epsilon_, "X", "What is added to the local variance", {kAdaptive});
  add("--decay", h_, "X", "Decay h of the weight of a patch's distance, in 8-bit code values", {kNlm});
  add("--patch-sigma", patch_sigma_, "X",
      "Deviation of the weight of a patch's distance, in 8-bit code values", {kNlmBilateral});
}

Filter FilterOptions::filter() const {
  try {
    static_cast<void>(parse_filter(name_));
  } catch (const UsageError& error) {
    throw UsageError(std::string("--filter: ") + error.what());
  }
  for (const auto& [option, filters] : options_) {
    if (option->count() > 0 && std::find(filters.begin(), filters.end(), name_) == filters.end()) {
      throw UsageError(fmt::format("{} is no option of the filter {}, but of {}", option->get_name(), name_,
                                   join(filters)));
    }
  }
  return filter(name_, profile());
}

Filter FilterOptions::filter(const std::string& name, Profile profile) const {
  Filter filter = parse_filter(name);
  if (std::holds_alternative<Bm3dParameters>(filter)) {
    return bm3d_.parameters(profile);
  }
  if (auto* bilateral = std::get_if<BilateralParameters>(&filter)) {
    *bilateral = {radius_, spatial_sigma_, range_sigma_};
  } else if (auto* adaptive = std::get_if<AdaptiveBilateralParameters>(&filter)) {
    *adaptive = {radius_, spatial_sigma_, range_sigma_, kappa_, epsilon_.value_or(adaptive->epsilon)};
  } else if (auto* nlm = std::get_if<NlmParameters>(&filter)) {
    *nlm = {bm3d_.patch_size(), bm3d_.search_window(), h_};
  } else if (auto* nlm_bilateral = std::get_if<NlmBilateralParameters>(&filter)) {
    *nlm_bilateral = {bm3d_.patch_size(), bm3d_.search_window(), patch_sigma_, range_sigma_, spatial_sigma_};
  }
  std::visit([](const auto& parameters) { parameters.validate(); }, filter);
  return filter;
}

FilterText::FilterText(const std::string& text)
    : text_(text), command_(std::make_shared<CommandLine>()), options_(std::make_shared<FilterOptions>()) {
  options_->add_to(*command_);
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    arguments.push_back((begin == 0 ? "--filter=" : "--") + part);
    if (begin > 0 && part.find('=') == std::string::npos) {
      throw UsageError(fmt::format("the filter '{}': '{}' is not of the form option=value", text, part));
    }
    begin = end + 1;
  }
  try {
    if (command_->parse(arguments)) {
      throw UsageError("help is no option of a filter");
    }
    static_cast<void>(filter());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("the filter '{}': {}", text, error.what()));
  }
}

std::vector<FilterText> parse_filters(const std::string& texts) {
  std::vector<FilterText> filters;
  for (std::size_t begin = 0; begin <= texts.size();) {
    const std::size_t end = std::min(texts.find(',', begin), texts.size());
    filters.emplace_back(texts.substr(begin, end - begin));
    begin = end + 1;
  }
  return filters;
}

}  // namespace limpid::app
