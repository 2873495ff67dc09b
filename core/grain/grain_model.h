// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/grain/chroma_correlation.h"
#include "core/grain/film_grain.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// The film grain that resembles the noise in frames of this format, which must be one of
/// can_have_film_grain(): of the deviation at each brightness, and of the spectrum as far as an
/// autoregressive filter of lag 3 can express it. Deviations and correlations are those of the synthesized
/// grain, measured over templates of several seeds.
FilmGrain film_grain_of(const NoiseModel& noise, const FrameFormat& format, int seed,
                        const ChromaCorrelations& correlations = {});

}  // namespace limpid
