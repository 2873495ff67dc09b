// Block matching: exact integer distances of patches and the selection of the closest. Compiled once for each
// SIMD target by Highway's foreach_target, hence the toggled include guard.
#if defined(LIMPID_CORE_CPU_MATCHING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CORE_CPU_MATCHING_INL_H_
#undef LIMPID_CORE_CPU_MATCHING_INL_H_
#else
#define LIMPID_CORE_CPU_MATCHING_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/cpu/tile.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using IntTag = hn::ScalableTag<std::int32_t>;
using IntVector = hn::Vec<IntTag>;
constexpr int kIntLanes = static_cast<int>(hn::MaxLanes(IntTag()));
constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();

constexpr int kMaxPatch = 16;
constexpr int kMaxReferences = 4;  // matched at a time, sharing the loads of the candidates' words
constexpr int kMaxVectors = 3;     // of candidates at a time; 4 x 3 accumulators fit AVX-512's registers

// Distances are computed as |a|^2 + |b|^2 - 2ab; what candidates are ordered by, and what is called their
// distance from there on, is its deviation from the expected distance (core/matching.h). The products ab of a
// reference patch a with the patches b at consecutive positions x, x + 1, ... lie in consecutive lanes. For
// that, samples are stored as expanded words: word [y][x] holds samples x and x + 1 (as 16-bit values) or x
// to x + 3 (as bytes, where the CPU multiplies bytes), so that any run of lanes is one unaligned load.
#if HWY_TARGET <= HWY_AVX3_DL
constexpr bool kByteProducts = true;
// The two VNNI instructions stand here as assembly because Highway 1.0.3 checks for AVX512_VNNI when it
// selects this target but does not enable it for the compiler.

// acc + the products of the unsigned bytes of a with the signed bytes of b, four to a lane.
HWY_INLINE IntVector add_byte_products(IntVector acc, IntVector a, IntVector b) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(b.raw));
  return acc;
}
// acc + the products of 16-bit values, two to a lane.
HWY_INLINE IntVector add_pair_products(IntVector acc, IntVector a, IntVector b) {
  asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(b.raw));
  return acc;
}
#else
constexpr bool kByteProducts = false;
HWY_INLINE IntVector add_byte_products(IntVector acc, IntVector /*a*/, IntVector /*b*/) { return acc; }
HWY_INLINE IntVector add_pair_products(IntVector acc, IntVector a, IntVector b) {
  const hn::RepartitionToNarrow<IntTag> d16;
  IntVector odd = hn::Zero(IntTag());
  acc = hn::ReorderWidenMulAccumulate(IntTag(), hn::BitCast(d16, a), hn::BitCast(d16, b), acc, odd);
  return hn::Add(acc, odd);
}
#endif

// The part of the plane that a tile's search windows reach, in the form that matching needs.
struct MatchingRegion {
  int x0 = 0;  // of the region in the plane
  int y0 = 0;
  int patch = 0;
  int pitch = 0;  // of `words` and `energy`
  bool bytes = false;
  const std::uint32_t* words = nullptr;  // expanded words
  const std::int32_t* energy =
      nullptr;  // |b|^2 of the patch at each position, less what add_byte_products adds
};

template <int kSamplesPerWord>
HWY_ATTR void expand_row(const std::int16_t* HWY_RESTRICT in, int width, std::uint32_t* HWY_RESTRICT out) {
  constexpr int kBits = 32 / kSamplesPerWord;
  constexpr std::uint32_t kMask = (1U << kBits) - 1;
  const int whole = std::max(0, width - kSamplesPerWord + 1);
  for (int x = 0; x < whole; ++x) {
    std::uint32_t word = 0;
    for (int i = 0; i < kSamplesPerWord; ++i) {
      word |= (static_cast<std::uint32_t>(in[x + i]) & kMask) << (i * kBits);
    }
    out[x] = word;
  }
  for (int x = whole; x < width; ++x) {
    out[x] = 0;
    for (int i = 0; x + i < width; ++i) {
      out[x] |= (static_cast<std::uint32_t>(in[x + i]) & kMask) << (i * kBits);
    }
  }
}

// Prepares samples [x0, x1) x [y0, y1) of the plane.
inline HWY_ATTR MatchingRegion prepare_region(const StepJob& job, int x0, int y0, int x1, int y1,
                                              TileScratch& scratch) {
  MatchingRegion region;
  region.x0 = x0;
  region.y0 = y0;
  region.patch = job.tables->step.patch_size;
  region.bytes = job.scale.bytes && kByteProducts;
  const int width = x1 - x0;
  const int height = y1 - y0;
  // Lanes after the last position are computed and thrown away, but what they read must exist.
  region.pitch = (width + (kMaxVectors + 1) * kIntLanes + kMaxPatch) / kIntLanes * kIntLanes;
  const std::size_t size = static_cast<std::size_t>(region.pitch) * (height + 1);
  if (scratch.words.size() < size) {
    scratch.words.resize(size);
    scratch.energy.resize(size);
  }
  region.words = scratch.words.data();
  region.energy = scratch.energy.data();
  const int k = region.patch;
  // add_byte_products takes a reference sample a as a + 128 and so adds 128 b to each product.
  const int bias = region.bytes ? 256 : 0;
  for (int y = 0; y < height; ++y) {
    const std::int16_t* HWY_RESTRICT in = job.matching + static_cast<std::ptrdiff_t>(y0 + y) * job.width + x0;
    std::uint32_t* words = scratch.words.data() + static_cast<std::ptrdiff_t>(y) * region.pitch;
    if (region.bytes) {
      expand_row<4>(in, width, words);
    } else {
      expand_row<2>(in, width, words);
    }
    std::int32_t* HWY_RESTRICT energy = scratch.energy.data() + static_cast<std::ptrdiff_t>(y) * region.pitch;
    std::fill_n(energy, width, 0);
    for (int i = 0; i < k; ++i) {
      for (int x = 0; x <= width - k; ++x) {
        const int b = in[x + i];
        energy[x] += b * b + bias * b;
      }
    }
  }
  // From sums along rows to sums over patches, in place from the top: row y needs rows y to y + k - 1.
  for (int y = 0; y <= height - k; ++y) {
    std::int32_t* HWY_RESTRICT energy = scratch.energy.data() + static_cast<std::ptrdiff_t>(y) * region.pitch;
    for (int i = 1; i < k; ++i) {
      const std::int32_t* HWY_RESTRICT below = energy + static_cast<std::ptrdiff_t>(i) * region.pitch;
      for (int x = 0; x <= width - k; ++x) {
        energy[x] += below[x];
      }
    }
  }
  return region;
}

// A reference patch with its search window, clipped to the plane.
struct Reference {
  int x = 0;
  int y = 0;
  int first_x = 0;
  int last_x = 0;
  std::int32_t energy = 0;  // |a|^2, less the expected distance
  std::array<std::int32_t, kMaxPatch * kMaxPatch / 2>
      words;  // as the candidates'; zero samples over the right edge
};

inline HWY_ATTR void prepare_reference(const StepJob& job, const MatchingRegion& region, int x, int y,
                                       Reference& reference) {
  const int k = region.patch;
  const int radius = job.tables->step.search_window / 2;
  reference.x = x;
  reference.y = y;
  reference.first_x = std::max(x - radius, 0);
  reference.last_x = std::min(x + radius, job.width - k);
  reference.energy = -job.distances.expected;
  const int n = region.bytes ? 4 : 2;
  const int bits = 32 / n;
  const int bias = region.bytes ? 128 : 0;
  const std::uint32_t mask = region.bytes ? 0xFF : 0xFFFF;
  std::int32_t* out = reference.words.data();
  for (int row = 0; row < k; ++row) {
    const std::int16_t* in = job.matching + static_cast<std::ptrdiff_t>(y + row) * job.width + x;
    for (int column = 0; column < k; column += n) {
      std::uint32_t word = 0;
      for (int i = 0; i < std::min(n, k - column); ++i) {
        const int a = in[column + i];
        reference.energy += a * a;
        word |= (static_cast<std::uint32_t>(a + bias) & mask) << (i * bits);
      }
      *out++ = static_cast<std::int32_t>(word);
    }
  }
}

// Distances of kReferences reference patches to the patches of one row of candidates, at region columns x to
// x + kVectors lanes. kPatch is the patch size, or 0 for any other. distances[r] takes those of reference r.
template <int kPatch, bool kBytes, int kReferences, int kVectors>
HWY_INLINE void row_distances(const MatchingRegion& region, const Reference* references, int x, int y,
                              std::int32_t* const* distances) {
  const IntTag d;
  const int k = kPatch != 0 ? kPatch : region.patch;
  constexpr int kSamples = kBytes ? 4 : 2;
  const int words_per_row = (k + kSamples - 1) / kSamples;
  const std::int32_t* words =
      reinterpret_cast<const std::int32_t*>(region.words) + static_cast<std::ptrdiff_t>(y) * region.pitch + x;
  IntVector products[kReferences][kVectors];
  for (int r = 0; r < kReferences; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      products[r][v] = hn::Zero(d);
    }
  }
  for (int row = 0; row < k; ++row) {
    for (int w = 0; w < words_per_row; ++w) {
      IntVector candidates[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        candidates[v] = hn::LoadU(
            d, words + static_cast<std::ptrdiff_t>(row) * region.pitch + w * kSamples + v * kIntLanes);
      }
      for (int r = 0; r < kReferences; ++r) {
        const IntVector a = hn::Set(d, references[r].words[row * words_per_row + w]);
        for (int v = 0; v < kVectors; ++v) {
          products[r][v] = kBytes ? add_byte_products(products[r][v], a, candidates[v])
                                  : add_pair_products(products[r][v], a, candidates[v]);
        }
      }
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    const int column = x + v * kIntLanes;
    const IntVector energy =
        hn::LoadU(d, region.energy + static_cast<std::ptrdiff_t>(y) * region.pitch + column);
    const IntVector plane_x = hn::Iota(d, column + region.x0);
    for (int r = 0; r < kReferences; ++r) {
      const IntVector sum = hn::Add(energy, hn::Set(d, references[r].energy));
      const IntVector distance = hn::Abs(hn::Sub(sum, hn::Add(products[r][v], products[r][v])));
      const auto outside = hn::Or(hn::Lt(plane_x, hn::Set(d, references[r].first_x)),
                                  hn::Gt(plane_x, hn::Set(d, references[r].last_x)));
      hn::StoreU(hn::IfThenElse(outside, hn::Set(d, kFar), distance), d, distances[r] + v * kIntLanes);
    }
  }
}

template <int kPatch, bool kBytes, int kReferences>
HWY_INLINE void window_row_distances(const MatchingRegion& region, const Reference* references, int x, int y,
                                     int vectors, std::int32_t* const* distances) {
  std::int32_t* out[kReferences];
  for (int v = 0; v < vectors; v += kMaxVectors) {
    for (int r = 0; r < kReferences; ++r) {
      out[r] = distances[r] + v * kIntLanes;
    }
    const int column = x + v * kIntLanes;
    switch (vectors - v) {
      case 1:
        row_distances<kPatch, kBytes, kReferences, 1>(region, references, column, y, out);
        break;
      case 2:
        row_distances<kPatch, kBytes, kReferences, 2>(region, references, column, y, out);
        break;
      default:
        row_distances<kPatch, kBytes, kReferences, 3>(region, references, column, y, out);
    }
  }
}

// The distances of a reference patch to all candidates: rows x lanes values, kFar outside of the search
// window.
struct DistanceWindow {
  int x0 = 0;  // plane position of the first
  int y0 = 0;
  int rows = 0;
  int lanes = 0;  // per row, a multiple of kIntLanes
  std::int32_t* distances = nullptr;
};

// kReferences neighbouring reference patches of one grid row against their windows' union.
template <int kPatch, bool kBytes, int kReferences>
HWY_ATTR void compute_distances(const StepJob& job, const MatchingRegion& region, const Reference* references,
                                DistanceWindow* windows, TileScratch& scratch) {
  const int radius = job.tables->step.search_window / 2;
  const int first_y = std::max(references[0].y - radius, 0);
  const int last_y = std::min(references[0].y + radius, job.height - region.patch);
  const int first_x = references[0].first_x;
  const int rows = last_y - first_y + 1;
  const int vectors = (references[kReferences - 1].last_x - first_x) / kIntLanes + 1;
  const int lanes = vectors * kIntLanes;
  const std::size_t size = static_cast<std::size_t>(rows) * lanes;
  if (scratch.distances.size() < size * kReferences) {
    scratch.distances.resize(size * kReferences);
  }
  for (int r = 0; r < kReferences; ++r) {
    windows[r] = {first_x, first_y, rows, lanes, scratch.distances.data() + r * size};
  }
  for (int row = 0; row < rows; ++row) {
    std::int32_t* out[kReferences];
    for (int r = 0; r < kReferences; ++r) {
      out[r] = windows[r].distances + static_cast<std::ptrdiff_t>(row) * lanes;
    }
    window_row_distances<kPatch, kBytes, kReferences>(region, references, first_x - region.x0,
                                                      first_y - region.y0 + row, vectors, out);
  }
}

// Candidates that may be among the closest: their distances and places in the DistanceWindow, in raster
// order.
struct Candidates {
  static constexpr int kCapacity = 256;
  std::array<std::int32_t, kCapacity + 64> distance;  // room for one more vector store
  std::array<std::int32_t, kCapacity + 64> place;     // row << 16 | lane
  int count = 0;
};

// How many of `count` distances, padded with kFar to whole vectors, are at most `bound`.
HWY_INLINE int count_within(const std::int32_t* distances, int count, std::int32_t bound) {
  const IntTag d;
  std::size_t within = 0;
  for (int i = 0; i < count; i += kIntLanes) {
    within += hn::CountTrue(d, hn::Lt(hn::LoadU(d, distances + i), hn::Set(d, bound + 1)));
  }
  return static_cast<int>(within);
}

// The least bound, by bisection, that at least `wanted` distances are within, or a greater one that at most
// `enough` are within. None is over `high`, which at least `wanted` must be within.
HWY_INLINE std::int32_t bisect(const std::int32_t* distances, int count, int wanted, int enough,
                               std::int32_t high) {
  std::int32_t low = -1;
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    const int within = count_within(distances, count, middle);
    if (within < wanted) {
      low = middle;
      continue;
    }
    high = middle;
    if (within <= enough) {
      break;
    }
  }
  return high;
}

// Keeps the `wanted` closest candidates, sorted by distance and raster order. No distance exceeds `greatest`.
inline HWY_ATTR void keep_closest(Candidates& candidates, int wanted, std::int32_t greatest) {
  const IntTag d;
  hn::StoreU(hn::Set(d, kFar), d, candidates.distance.data() + candidates.count);
  if (candidates.count > wanted) {
    // Those under the wanted-th distance, then the first of those at it.
    const std::int32_t limit =
        bisect(candidates.distance.data(), candidates.count, wanted, wanted - 1, greatest);
    Candidates kept;
    const auto append = [&](auto is_kept) HWY_ATTR {
      for (int i = 0; i < candidates.count && kept.count < wanted; i += kIntLanes) {
        const IntVector distance = hn::LoadU(d, candidates.distance.data() + i);
        const auto mask = is_kept(distance);
        hn::CompressStore(distance, mask, d, kept.distance.data() + kept.count);
        kept.count += static_cast<int>(hn::CompressStore(hn::LoadU(d, candidates.place.data() + i), mask, d,
                                                         kept.place.data() + kept.count));
      }
    };
    append([&](IntVector distance) HWY_ATTR { return hn::Lt(distance, hn::Set(d, limit)); });
    append([&](IntVector distance) HWY_ATTR { return hn::Eq(distance, hn::Set(d, limit)); });
    candidates.count = wanted;
    std::copy_n(kept.distance.begin(), wanted, candidates.distance.begin());
    std::copy_n(kept.place.begin(), wanted, candidates.place.begin());
    hn::StoreU(hn::Set(d, kFar), d, candidates.distance.data() + wanted);
  }
  // Sorts by rank. Candidates are in raster order but for those at the limit, which come last and are in
  // raster order among themselves, so that of equal distances the one that stands first has the smaller rank.
  const int count = candidates.count;
  std::array<std::int32_t, 64> distance;
  std::array<std::int32_t, 64> place;
  for (int i = 0; i < count; ++i) {
    const IntVector own = hn::Set(d, candidates.distance[i]);
    std::size_t rank = 0;
    for (int j = 0; j < count; j += kIntLanes) {
      const IntVector other = hn::LoadU(d, candidates.distance.data() + j);
      const IntVector before = hn::VecFromMask(d, hn::Lt(hn::Iota(d, j), hn::Set(d, i)));  // -1 or 0
      rank += hn::CountTrue(d, hn::Lt(hn::Add(other, before), own));
    }
    distance[rank] = candidates.distance[i];
    place[rank] = candidates.place[i];
  }
  std::copy_n(distance.begin(), count, candidates.distance.begin());
  std::copy_n(place.begin(), count, candidates.place.begin());
}

// An upper bound of the `wanted`-th smallest distance that few others pass: the `wanted`-th smallest (or one
// soon after) of the minima over 64 interleaved parts of the window, which no bound of the whole can exceed.
// At most `max_distance`.
inline HWY_ATTR std::int32_t bound_distance(const DistanceWindow& window, int wanted,
                                            std::int32_t max_distance) {
  const IntTag d;
  constexpr int kMinima = 64;  // 16 columns x 4 rows
  constexpr int kVectorsOf16 = 16 / kIntLanes;
  HWY_ALIGN std::int32_t minima[kMinima];
  for (int i = 0; i < kMinima; i += kIntLanes) {
    hn::Store(hn::Set(d, kFar), d, minima + i);
  }
  const int vectors = window.lanes / kIntLanes;
  for (int row = 0; row < window.rows; ++row) {
    const std::int32_t* in = window.distances + static_cast<std::ptrdiff_t>(row) * window.lanes;
    std::int32_t* part = minima + (row % 4) * 16;
    for (int v = 0; v < vectors; ++v) {
      std::int32_t* minimum = part + (v % kVectorsOf16) * kIntLanes;
      hn::Store(hn::Min(hn::Load(d, minimum), hn::LoadU(d, in + v * kIntLanes)), d, minimum);
    }
  }
  if (count_within(minima, kMinima, max_distance) < wanted) {
    return max_distance;
  }
  return bisect(minima, kMinima, wanted, wanted + wanted / 8, max_distance);
}

// The closest candidates of a window, at most `wanted`, sorted by distance and raster order.
inline HWY_ATTR void select_closest(const DistanceWindow& window, int wanted, std::int32_t max_distance,
                                    Candidates& candidates) {
  const IntTag d;
  candidates.count = 0;
  if (wanted == 0) {
    return;
  }
  std::int32_t bound = bound_distance(window, wanted, max_distance);
  for (int row = 0; row < window.rows; ++row) {
    const std::int32_t* in = window.distances + static_cast<std::ptrdiff_t>(row) * window.lanes;
    for (int lane = 0; lane < window.lanes; lane += kIntLanes) {
      const IntVector distance = hn::LoadU(d, in + lane);
      const auto close = hn::Lt(distance, hn::Set(d, bound + 1));
      if (hn::AllFalse(d, close)) {
        continue;
      }
      hn::CompressStore(distance, close, d, candidates.distance.data() + candidates.count);
      candidates.count += static_cast<int>(hn::CompressStore(hn::Iota(d, row << 16 | lane), close, d,
                                                             candidates.place.data() + candidates.count));
      if (candidates.count > Candidates::kCapacity - kIntLanes) {
        // Many alike (flat content). Later candidates must be closer than the last one kept, whose distance
        // may exceed the new bound by one.
        keep_closest(candidates, wanted, bound + 1);
        bound = candidates.distance[wanted - 1] - 1;
      }
    }
  }
  keep_closest(candidates, wanted, bound + 1);
}

// Groups of the reference patches at (xs[0..count), y), the reference first. `use(x, y, positions, size)`
// takes them one by one; sizes are not rounded.
template <int kPatch, bool kBytes, class Use>
HWY_ATTR void match_row(const StepJob& job, const MatchingRegion& region, const int* xs, int count, int y,
                        TileScratch& scratch, const Use& use) {
  const Bm3dStep& step = job.tables->step;
  const int radius = step.search_window / 2;
  std::array<Reference, kMaxReferences> references;
  std::array<DistanceWindow, kMaxReferences> windows;
  std::array<Position, 64> group;
  Candidates candidates;
  // Neighbours share loads; that pays where the union of their windows needs no more vectors than one window.
  const auto vectors = [&](int references_at_once) {
    return (2 * radius + (references_at_once - 1) * step.step) / kIntLanes + 1;
  };
  const int at_once = vectors(4) == vectors(1) ? 4 : vectors(2) == vectors(1) ? 2 : 1;
  for (int first = 0; first < count;) {
    const int left = count - first;
    const int n = at_once <= left ? at_once : (at_once > 2 && left >= 2 ? 2 : 1);
    for (int r = 0; r < n; ++r) {
      prepare_reference(job, region, xs[first + r], y, references[r]);
    }
    if (n == 4) {
      compute_distances<kPatch, kBytes, 4>(job, region, references.data(), windows.data(), scratch);
    } else if (n == 2) {
      compute_distances<kPatch, kBytes, 2>(job, region, references.data(), windows.data(), scratch);
    } else {
      compute_distances<kPatch, kBytes, 1>(job, region, references.data(), windows.data(), scratch);
    }
    for (int r = 0; r < n; ++r) {
      const DistanceWindow& window = windows[r];
      const int x = references[r].x;
      window.distances[static_cast<std::ptrdiff_t>(y - window.y0) * window.lanes + x - window.x0] = kFar;
      select_closest(window, step.max_group_size - 1, job.distances.greatest, candidates);
      group[0] = {x, y};
      for (int i = 0; i < candidates.count; ++i) {
        group[i + 1] = {window.x0 + (candidates.place[i] & 0xFFFF), window.y0 + (candidates.place[i] >> 16)};
      }
      use(group.data(), candidates.count + 1);
    }
    first += n;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
