// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "core/vnlb/vnlb_parameters.h"

namespace limpid {

/// An engine's filter for V-BM4D, with VNLB mixed in if the parameters say so. `make(parameters)` makes a
/// filter of one kind, and `mix(first, second, shares)` combines two; `shares` is a function of the noise.
/// Throws UsageError for illegal parameters.
template <typename Make, typename Mix>
auto make_vbm4d(const Vbm4dParameters& parameters, const Make& make, const Mix& mix) {
  parameters.validate();
  Vbm4dParameters alone = parameters;
  alone.vnlb_share = 0;
  auto filter = make(alone);
  if (parameters.vnlb_share == 0) {
    return filter;
  }
  return mix(std::move(filter), make(mixed_vnlb(parameters)),
             [parameters](const auto& noise) { return vnlb_shares(parameters, noise); });
}

}  // namespace limpid
