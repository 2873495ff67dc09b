// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "core/frame/frame.h"

namespace limpid::benchmarks {

/// The first picture of a file. Throws Error if there is none.
Frame read_picture(const std::filesystem::path& file);

/// The picture with float samples, for noise that is neither rounded nor clipped.
Frame to_float(const Frame& frame);

/// One color plane as a gray frame that shares its samples.
Frame plane_as_gray(const Frame& frame, int plane);

/// 10 log10(255^2 / mean squared error over all color planes), in dB.
double psnr(const Frame& reference, const Frame& test);

}  // namespace limpid::benchmarks
