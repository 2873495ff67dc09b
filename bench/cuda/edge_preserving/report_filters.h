// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// The filters of Indurkhya and Vallabhu, "Efficient implementation of edge-preserving denoising filters on
// GPU" (2023), rebuilt from its description, to repeat its table on other hardware. Limpid's kernels are
// compared with them; they are not part of Limpid.

namespace limpid::report {

/// The report's optimizations of its basic kernels, which compute all weights and read all samples from
/// global memory.
struct Variant {
  const char* name = "";
  bool tables = false;  ///< tables of range and spatial weights, which each block copies to shared memory
  bool tile = false;    ///< a block's samples and their margin in shared memory
};

inline constexpr Variant kVariants[] = {
    {"plain", false, false}, {"tables", true, false}, {"tile", false, true}, {"both", true, true}};

/// 8-bit samples in device memory, rows `width` bytes long.
struct Image {
  std::uint8_t* data = nullptr;
  int width = 0;
  int height = 0;
};

struct Weights {
  int radius = 0;
  float spatial_sigma = 0;
  float range_sigma = 0;
  /// In device memory: 256 range weights and the (2 radius + 1)^2 spatial ones.
  const float* tables = nullptr;
};

void bilateral(const Variant& variant, const Image& in, const Weights& weights, const Image& out,
               cudaStream_t stream);
void adaptive_bilateral(const Variant& variant, const Image& in, const Weights& weights, const Image& out,
                        cudaStream_t stream);
/// Patches of 7x7, weighted by `patch_sigma`; the search window has weights.radius, without spatial weights.
void nlm_bilateral(const Variant& variant, const Image& in, const Weights& weights, float patch_sigma,
                   const Image& out, cudaStream_t stream);

}  // namespace limpid::report
