// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/frame/metrics.h"

namespace limpid::io {

/// The PSNR in dB between 8-bit samples in memory.
inline double sample_psnr(const std::string& a, const std::string& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[i]);
    sum += difference * difference;
  }
  return psnr_from_mse(sum / static_cast<double>(a.size()));
}

}  // namespace limpid::io
