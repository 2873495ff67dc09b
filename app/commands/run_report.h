// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::app {

/// A filter with all its settings for frames of this format and noise level, as they result from the profile,
/// the options and the noise. Settings of edge-preserving filters are listed for each plane that they filter.
nlohmann::ordered_json to_json(const Filter& filter, const NoiseModel& noise, const FrameFormat& format);

/// The evidence for a noise estimate: its source and certainty (0 to 1).
nlohmann::ordered_json evidence_report(const NoiseEstimate& noise);

/// The noise level of each plane, by the plane's name.
nlohmann::ordered_json to_json(const NoiseModel& noise, const FrameFormat& format);

}  // namespace limpid::app
