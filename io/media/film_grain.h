// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "core/frame/frame.h"
#include "core/grain/film_grain.h"

struct AVFrame;

namespace limpid::io {

/// The film grain that the source of a decoded frame describes and that ReaderOptions::without_film_grain has
/// left out of its samples. Nothing if there is none.
std::optional<FilmGrain> film_grain_of(const AVFrame& frame);
std::optional<FilmGrain> film_grain_of(const Frame& frame);

/// Throws UsageError unless libavcodec passes a film grain table to this encoder.
void require_film_grain_encoder(const std::string& name);

}  // namespace limpid::io
