// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/frame/reach.h"
#include "core/parameters/parameter.h"

namespace limpid {

/// The description of the filter whose parameters are of type `Parameters`.
template <typename Parameters>
struct FilterDescription {
  std::string name;  ///< name in settings: "bilateral"
  std::string help;  ///< title and purpose: "Bilateral filter: the fastest"
  /// Names of presets, from fastest to best; may be empty.
  std::vector<std::string> profiles;
  std::string default_profile;
  /// The parameters of a profile, or the defaults of a filter without profiles. Throws UsageError for an
  /// unknown profile.
  std::function<Parameters(const std::string& profile)> make;
  /// The parameters of a profile for live video, where results wait for no later frame (the parameter "delay"
  /// is 0). Empty if they do not differ.
  std::function<Parameters(const std::string& profile)> make_live;
  /// In the order in which they are set: the first may remove steps that contain later parameters.
  std::vector<Parameter<Parameters>> parameters;
  /// Throws UsageError for combinations of values that are not allowed; may be empty.
  std::function<void(const Parameters&)> check_together;
  /// The parameters for a plane with noise of standard deviation `sigma` (8-bit code values, > 0), which
  /// determines missing ones. Empty if no parameter depends on sigma.
  std::function<Parameters(const Parameters&, float sigma)> resolve;
  /// The neighboring frames that a result depends on; empty if frames are filtered independently.
  std::function<Reach(const Parameters&)> reach;
};

/// Throws a UsageError that names the first illegal parameter and its legal range.
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
