#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/frame/reach.h"
#include "core/parameters/parameter.h"

namespace limpid {

/// What is known of a filter whose parameters are `Parameters`.
template <typename Parameters>
struct FilterDescription {
  std::string name;  ///< in settings: "bilateral"
  std::string help;  ///< what it is for, in a line
  /// Names of sets of values, from the quickest to the best; none if it has none.
  std::vector<std::string> profiles;
  std::string default_profile;
  /// The parameters of a profile, or without profiles those that hold unless told otherwise. Throws
  /// UsageError for an unknown profile.
  std::function<Parameters(const std::string& profile)> make;
  /// Likewise, for those who watch while the frames come, so that results wait for no later frame (the
  /// parameter "delay" is 0). Empty if they are the same.
  std::function<Parameters(const std::string& profile)> make_live;
  /// In the order in which they are set: the first may leave parts out that later ones are in.
  std::vector<Parameter<Parameters>> parameters;
  /// Throws UsageError for values that are illegal together; may be empty.
  std::function<void(const Parameters&)> check_together;
  /// The parameters for a plane with noise of deviation `sigma` (8-bit code values, > 0), where those that
  /// are left open follow from it; empty if none do.
  std::function<Parameters(const Parameters&, float sigma)> resolve;
  /// The frames around its own that a result depends on; empty if each frame is filtered by itself.
  std::function<Reach(const Parameters&)> reach;
  /// Kept for comparisons; help and hosts may hide it.
  bool is_experimental = false;
};

/// Throws UsageError unless all parameters are legal, naming the first that is not and its legal range.
template <typename Parameters>
void check_parameters(const FilterDescription<Parameters>& description, const Parameters& parameters) {
  for (const Parameter<Parameters>& parameter : description.parameters) {
    parameter.check(parameters);
  }
  if (description.check_together) {
    description.check_together(parameters);
  }
}

}  // namespace limpid
