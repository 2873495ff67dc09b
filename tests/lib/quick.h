// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <limpid.h>

#include <cstdint>
#include <vector>

#include "core/frame/frame.h"
#include "tests/oracle/pictures.h"

// Frames and settings of the library's tests that take little time.

namespace limpid::lib {

inline std::vector<Frame> noisy_frames(const FrameFormat& format, int count, std::uint64_t seed = 1) {
  std::vector<Frame> frames;
  const Frame clean = oracle::draw_picture(format);
  for (int i = 0; i < count; ++i) {
    frames.push_back(oracle::add_noise(clean, 10, seed + static_cast<std::uint64_t>(i)));
    frames.back().index = i;
  }
  return frames;
}

/// Sets a fast filter and a noise level.
inline void set_quick(limpid_denoiser* denoiser) {
  ASSERT_EQ(limpid_set(denoiser, "filter", "bilateral"), LIMPID_OK);
  ASSERT_EQ(limpid_set(denoiser, "sigma", "10"), LIMPID_OK);
}

}  // namespace limpid::lib
