// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/frame/mixing.h"
#include "core/frame/region.h"

namespace limpid::cpu {

/// Mixes the noisy samples into the color planes of `out`, the estimate of `noisy` (core/frame/mixing.h), on
/// the threads of the caller's arena.
void mix_in(const Frame& noisy, const PlaneMixes& mixes, Frame& out);

/// Copies the noisy samples outside `area` into the color planes of `out`.
void pass_outside(const Frame& noisy, const Region& area, Frame& out);

}  // namespace limpid::cpu
