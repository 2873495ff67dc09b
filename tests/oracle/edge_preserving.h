// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "tests/oracle/bm3d.h"

namespace limpid::oracle {

/// The edge-preserving filters from their formulas (core/edge_preserving/edge_preserving_parameters.h), in
/// double precision and the simplest possible code. `filter` is any but BM3D and V-BM4D. Returns the color
/// planes of the result, not rounded; planes with sigma 0 are unchanged.
std::vector<Picture> filter_planes(const Frame& frame, const Filter& filter, const NoiseModel& noise);

}  // namespace limpid::oracle
