// SPDX-License-Identifier: MIT
#include "cpu/edge_preserving/edge_preserving.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "cpu/edge_preserving/edge_preserving_kernels.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/planes.h"

namespace limpid::cpu {
namespace {

// Divides `size` samples into parts of at most `most` that are whole vectors and as equal as possible.
std::vector<int> cut(int size, int most) {
  constexpr int kVector = 16;
  const int parts = (size + most - 1) / most;
  const int part = ((size + parts - 1) / parts + kVector - 1) / kVector * kVector;
  std::vector<int> ends = {0};
  while (ends.back() < size) {
    ends.push_back(std::min(ends.back() + part, size));
  }
  return ends;
}

}  // namespace

struct EdgePreserving::Workspace {
  struct Thread {
    AlignedVector<float> row;
    AlignedVector<std::int16_t> matching;
    PatchScratch patches;
  };

  BilateralJob bilateral;
  PatchJob patches;
  AlignedVector<float> out;
  tbb::enumerable_thread_specific<Thread> threads;

  void filter_bilateral(const FrameFormat& format, const Plane& in, const Plane& out_plane) {
    const int radius = bilateral.weights.radius;
    for_each_row(in.height + 2 * radius, [&](int i) {
      const int y = i - radius;
      float* row = bilateral.begin_row(y);
      if (y >= 0 && y < in.height) {
        load_row(format, in.row<std::byte>(y), in.width, row);
        std::for_each_n(row, in.width, [&](float& sample) { sample *= bilateral.scale; });
      }
    });
    for_each_row(in.height, [&](int y) {
      AlignedVector<float>& row = threads.local().row;
      row.resize(in.width + kRowSlack);
      bilateral_row(bilateral, y, row.data());
      store_row(format, row.data(), in.width, out_plane.row<std::byte>(y));
    });
  }

  void filter_patches(const FrameFormat& format, const MatchingScale& scale, const Plane& in,
                      const Plane& out_plane) {
    out.resize(patches.samples.size());
    for_each_row(in.height, [&](int y) {
      AlignedVector<std::int16_t>& matching = threads.local().matching;
      matching.resize(in.width);
      load_row(format, in.row<std::byte>(y), in.width, patches.sample_row(y));
      matching_row(scale, patches.sample_row(y), in.width, matching.data());
      patches.set_matching_row(y, matching.data());
    });
    const std::vector<int> xs = cut(in.width, kPatchTileWidth);
    const std::vector<int> ys = cut(in.height, kPatchTileHeight);
    const int columns = static_cast<int>(xs.size()) - 1;
    const int rows = static_cast<int>(ys.size()) - 1;
    for_each_index(columns * rows, 1, [&](int i) {
      const int x = i % columns;
      const int y = i / columns;
      patch_tile(patches, {xs[x], ys[y], xs[x + 1], ys[y + 1]}, threads.local().patches, out.data());
    });
    for_each_row(in.height, [&](int y) {
      store_row(format, out.data() + y * patches.pitch, in.width, out_plane.row<std::byte>(y));
    });
  }
};

EdgePreserving::EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format)
    : filter_(filter), format_(format), workspace_(std::make_unique<Workspace>()) {
  std::visit([](const auto& parameters) { parameters.validate(); }, filter);
  format.validate("frame");
}

EdgePreserving::~EdgePreserving() = default;

void EdgePreserving::filter(const Frame& in, const NoiseModel& noise, Frame& out) {
  for (const PictureRows& rows : pictures_of(in.interlaced)) {
    const auto in_planes = picture_of(format_, in.planes, rows);
    const auto out_planes = picture_of(format_, out.planes, rows);
    for (int p = 0; p < format_.plane_count(); ++p) {
      const bool filtered = p < format_.color_plane_count() && noise.sigma[p] > 0 && in_planes[p].height > 0;
      if (filtered) {
        filter_plane(in_planes[p], noise.sigma[p], out_planes[p]);
      } else {
        copy_plane(format_, in_planes[p], out_planes[p]);
      }
    }
  }
}

void EdgePreserving::filter_plane(const Plane& in, float sigma, const Plane& out) {
  std::visit(
      [&](const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        if constexpr (std::is_same_v<Parameters, BilateralParameters>) {
          workspace_->bilateral.prepare(make_weights(parameters, sigma), format_, in.width, in.height);
          workspace_->filter_bilateral(format_, in, out);
        } else if constexpr (std::is_same_v<Parameters, AdaptiveBilateralParameters>) {
          workspace_->bilateral.prepare(make_weights(parameters, sigma), in.width, in.height);
          workspace_->filter_bilateral(format_, in, out);
        } else {
          const MatchingScale scale = patch_scale(format_);
          workspace_->patches.prepare(make_weights(parameters, sigma, scale, in.width, in.height), in.width,
                                      in.height);
          workspace_->filter_patches(format_, scale, in, out);
        }
      },
      filter_);
}

}  // namespace limpid::cpu
