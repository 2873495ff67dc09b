// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/grain/film_grain.h"

namespace limpid {

/// Adds film grain to the samples of `frame`, as an AV1 decoder does (AV1 specification, section 7.18.3.5),
/// bit-exact with dav1d. Returns a new frame in host memory. `frame` must be in host memory and have a format
/// of can_have_film_grain().
Frame with_film_grain(const FilmGrain& grain, const Frame& frame);

}  // namespace limpid
