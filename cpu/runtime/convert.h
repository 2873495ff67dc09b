// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bm3d/bm3d_parameters.h"
#include "core/frame/frame.h"

// Row-wise conversions between the samples of frames and filters' float planes, in 8-bit code values. Every
// function processes one row of `count` samples.

namespace limpid::cpu {

/// out = samples / format.code_value(); float samples are clamped to +-4096 code values, NaN becomes 0.
void load_row(const FrameFormat& format, const std::byte* samples, int count, float* out);

/// samples = in * format.code_value(), rounded to nearest (halves up) and clamped to the depth; floats are
/// not clamped.
void store_row(const FrameFormat& format, const float* in, int count, std::byte* samples);

/// Copies the float samples of the color planes that filters cannot use (is_usable_sample()) to `out`, the
/// result for `in`. Does nothing for other sample types. For calls in a task arena.
void pass_unusable_samples(const Frame& in, Frame& out);

/// Smooths a row of the guide with the kernel of core/bm3d/bm3d_parameters.h; `above` and `below` are the
/// adjacent rows, mirrored at the border. `count` >= 2.
void smooth_row(const float* above, const float* row, const float* below, int count, float* out);

/// Values for matching: (in - 128) * scale, rounded to nearest (halves to even) and clamped.
void matching_row(const MatchingScale& scale, const float* in, int count, std::int16_t* out);

/// R, G, B to the opponent channels Y = (R + G + B) / 3, U = (R - B) / 2, V = (R - 2 G + B) / 4, in place
/// ([Dabov 2007], section V, and the authors' software).
void rgb_to_opponent_row(float* r_to_y, float* g_to_u, float* b_to_v, int count);
void opponent_to_rgb_row(float* y_to_r, float* u_to_g, float* v_to_b, int count);

/// Averages the luma samples under chroma samples: out[i] is the mean of the samples in[0 .. in_count) that
/// lie under chroma sample i, over 2^shift_x columns and `rows` rows.
void subsample_row(const float* const* rows, int row_count, int shift_x, int in_count, int out_count,
                   float* out);

}  // namespace limpid::cpu
