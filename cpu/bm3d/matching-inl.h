// SPDX-License-Identifier: MIT
// Block matching: exact integer distances of patches and the selection of the closest. Compiled once for each
// SIMD target by Highway's foreach_target, hence the toggled include guard.
#if defined(LIMPID_CPU_MATCHING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_MATCHING_INL_H_
#undef LIMPID_CPU_MATCHING_INL_H_
#else
#define LIMPID_CPU_MATCHING_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/bm3d/tile.h"
#include "cpu/runtime/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using IntTag = hn::ScalableTag<std::int32_t>;
using IntVector = hn::Vec<IntTag>;
constexpr int kIntLanes = static_cast<int>(hn::MaxLanes(IntTag()));
constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();

constexpr int kMaxPatch = 16;
constexpr int kMaxReferences = 4;  // references matched at a time, which share the loads of candidates' words
constexpr int kMaxVectors = 3;     // vectors of candidates at a time; 4 x 3 accumulators fit AVX-512's
                                   // registers
constexpr int kMaxWindow = 129;
// Minima are taken over parts of a window: the lanes of this many vectors.
constexpr int kMinimaVectors = kIntLanes >= 8 ? 8 : 64 / kIntLanes;
constexpr int kMinimaLanes = kMinimaVectors / 8 * kIntLanes;

// Distances are computed as |a|^2 + |b|^2 - 2ab. Candidates are ordered by the deviation of this from the
// expected distance (core/bm3d/bm3d_parameters.h), which is called distance below. The products ab of a
// reference patch a with the patches b at consecutive positions x, x + 1, ... lie in consecutive lanes. For
// that, samples are stored as expanded words: word [y][x] holds samples x and x + 1 (as 16-bit values) or x
// to x + 3 (as bytes, if the CPU multiplies bytes), so that any run of lanes is one unaligned load.
#if HWY_TARGET <= HWY_AVX3_DL
constexpr bool kByteProducts = true;

// acc + the products of the unsigned bytes of a with the signed bytes of b, four per lane. In assembly for
// the reason in products-inl.h.
HWY_INLINE IntVector add_byte_products(IntVector acc, IntVector a, IntVector b) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(b.raw));
  return acc;
}
#else
constexpr bool kByteProducts = false;
HWY_INLINE IntVector add_byte_products(IntVector acc, IntVector /*a*/, IntVector /*b*/) { return acc; }
#endif

// The part of the plane that a tile's search windows reach, in the layout that matching uses.
struct MatchingRegion {
  int x0 = 0;  // position of the region in the plane
  int y0 = 0;
  int patch = 0;
  int pitch = 0;  // row length of `words` and `energy`
  bool bytes = false;
  const std::uint32_t* words = nullptr;  // expanded words
  const std::int32_t* energy =
      nullptr;  // |b|^2 of the patch at each position, minus the bias of add_byte_products
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
  // Lanes after the last position are computed and discarded, but the memory they read must exist.
  region.pitch = (width + (kMaxVectors + 1) * kIntLanes + kMaxPatch) / kIntLanes * kIntLanes;
  const std::size_t size = static_cast<std::size_t>(region.pitch) * (height + 1);
  if (scratch.words.size() < size) {
    scratch.words.resize(size);
    scratch.energy.resize(size);
  }
  region.words = scratch.words.data();
  region.energy = scratch.energy.data();
  const int k = region.patch;
  // add_byte_products reads a reference sample a as a + 128 and thus adds 128 b to each product.
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
  // Converts sums along rows to sums over patches, in place from the top: row y needs rows y to y + k - 1.
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

// A reference patch and its search window, clipped to the plane.
struct Reference {
  int x = 0;
  int y = 0;
  int first_x = 0;
  int last_x = 0;
  std::int32_t energy = 0;  // |a|^2 minus the expected distance
  std::array<std::int32_t, kMaxPatch * kMaxPatch / 2>
      words;  // as the candidates' words; zero samples beyond the right edge
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
// x + kVectors vectors of lanes. kPatch is the patch size, or 0 for any size. distances[r] receives those of
// reference r.
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
                                  : add_products_of_pairs(products[r][v], a, candidates[v]);
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

// The distances of a reference patch to all candidates: rows x lanes values, kFar outside the search window.
struct DistanceWindow {
  int x0 = 0;  // plane position of the first candidate
  int y0 = 0;
  int rows = 0;
  int lanes = 0;    // per row, a multiple of kIntLanes
  int vectors = 0;  // in all rows, padded with kFar to a multiple of kMinimaVectors
  std::int32_t* distances = nullptr;
};

// Matches kReferences neighboring reference patches of one grid row against the union of their windows.
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
  const int all = (rows * vectors + kMinimaVectors - 1) / kMinimaVectors * kMinimaVectors;
  const std::size_t size = static_cast<std::size_t>(all) * kIntLanes;
  if (scratch.distances.size() < size * kReferences) {
    scratch.distances.resize(size * kReferences);
  }
  for (int r = 0; r < kReferences; ++r) {
    windows[r] = {first_x, first_y, rows, lanes, all, scratch.distances.data() + r * size};
    std::fill(windows[r].distances + static_cast<std::ptrdiff_t>(rows) * lanes, windows[r].distances + size,
              kFar);
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

// Marks of the window's candidates with distances within a bound: kMarkBits bits for each vector, the lowest
// of which are its lanes.
constexpr int kMarkBytes = std::max(1, kIntLanes / 8);
constexpr int kMarkBits = 8 * kMarkBytes;
struct Marks {
  static constexpr int kMostVectors = kMaxWindow * ((kMaxWindow - 1) / kIntLanes + 1) + kMinimaVectors;
  std::array<std::uint8_t, kMostVectors * kMarkBytes> bytes;
  int words = 0;

  std::uint64_t word(int i) const {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof(word), sizeof(word));
    return word;
  }
};

// Marks the candidates whose distances are at most `bound` and returns their number.
inline HWY_ATTR int mark_within(const DistanceWindow& window, std::int32_t bound, Marks& marks) {
  const IntTag d;
  const IntVector over = hn::Set(d, bound + 1);
  for (int v = 0; v < window.vectors; ++v) {
    const auto within = hn::Lt(hn::LoadU(d, window.distances + v * kIntLanes), over);
    hn::StoreMaskBits(d, within, marks.bytes.data() + v * kMarkBytes);
  }
  marks.words = window.vectors * kMarkBits / 64;
  int count = 0;
  for (int i = 0; i < marks.words; ++i) {
    count += std::popcount(marks.word(i));
  }
  return count;
}

// Some of a window's candidates: their positions in it and their distances.
struct Candidates {
  static constexpr int kMost = 64;  // at least the maximum of a group
  std::array<std::int32_t, kMost> place;
  std::array<std::int32_t, kMost + kIntLanes> distance;  // padded for one more vector load
  int count = 0;

  // Appends the first `wanted` candidates of word `i` of the marks, or all if there are fewer.
  void append(int i, std::uint64_t word, int wanted) {
    const int end = count + std::min(wanted, std::popcount(word));
    while (count < end) {
      const int bit = i * 64 + std::countr_zero(word);
      place[count++] = bit / kMarkBits * kIntLanes + bit % kMarkBits;
      word &= word - 1;
    }
  }
};

// Sorts each lane of eight vectors.
HWY_INLINE void sort_lanes(IntVector* x) {
  constexpr int kNetwork[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                   {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                   {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
  [&]<std::size_t... kPair>(std::index_sequence<kPair...>) HWY_ATTR {
    const auto order = [](IntVector& a, IntVector& b) HWY_ATTR {
      const IntVector less = hn::Min(a, b);
      b = hn::Max(a, b);
      a = less;
    };
    (order(x[kNetwork[kPair][0]], x[kNetwork[kPair][1]]), ...);
  }
  (std::make_index_sequence<19>());
}

// Bounds of the `wanted`-th smallest distance.
struct Bounds {
  std::int32_t low = 0;   // fewer distances are at most this
  std::int32_t high = 0;  // at least `wanted` distances are at most this, or this is the limit
};

// Bounds that contain few distances beyond the `wanted` smallest, found in constant time. They follow from
// the minima over interleaved parts of the window: the `wanted`-th smallest distance cannot exceed the
// `wanted`-th smallest minimum.
inline HWY_ATTR Bounds bound_distances(const DistanceWindow& window, int wanted, std::int32_t greatest) {
  const IntTag d;
  IntVector x[kMinimaVectors];
  for (int i = 0; i < kMinimaVectors; ++i) {
    x[i] = hn::Set(d, kFar);
  }
  for (int v = 0; v < window.vectors; v += kMinimaVectors) {
    for (int i = 0; i < kMinimaVectors; ++i) {
      x[i] = hn::Min(x[i], hn::LoadU(d, window.distances + (v + i) * kIntLanes));
    }
    // Distributes a column's candidates, which vertical edges make similar, among the parts.
    const IntVector first = x[0];
    for (int i = 0; i + 1 < kMinimaVectors; ++i) {
      x[i] = x[i + 1];
    }
    x[kMinimaVectors - 1] = first;
  }
  // The n smallest values of all lanes are at least `wanted` minima, and none exceeds the greatest n-th.
  const int n = (wanted + kMinimaLanes - 1) / kMinimaLanes;
  IntVector least = hn::Set(d, kFar);
  IntVector most = hn::Zero(d);
  for (int i = 0; i < kMinimaVectors; i += 8) {
    sort_lanes(x + i);
    least = hn::Min(least, x[i]);
    most = hn::Max(most, x[i + n - 1]);
  }
  Bounds bounds = {hn::GetLane(hn::MinOfLanes(d, least)) - 1,
                   std::min(greatest, hn::GetLane(hn::MaxOfLanes(d, most)))};
  std::int32_t low = bounds.low;
  constexpr int kRounds = 3;  // more rounds cost more time than they save
  for (int round = 0; round < kRounds; ++round) {
    const std::int32_t middle = low + (bounds.high - low) / 2;
    const IntVector over = hn::Set(d, middle + 1);
    IntVector within = hn::Zero(d);
    for (int i = 0; i < kMinimaVectors; ++i) {
      within = hn::Sub(within, hn::VecFromMask(d, hn::Lt(x[i], over)));
    }
    const bool enough = hn::GetLane(hn::SumOfLanes(d, within)) >= wanted;
    low = enough ? low : middle;
    bounds.high = enough ? middle : bounds.high;
  }
  if (bounds.high < greatest) {
    // Continues at the next minimum, which ends the search if all are equal.
    const IntVector over = hn::Set(d, bounds.high + 1);
    most = hn::Zero(d);
    for (int i = 0; i < kMinimaVectors; ++i) {
      most = hn::Max(most, hn::IfThenElseZero(hn::Lt(x[i], over), x[i]));
    }
    bounds.high = hn::GetLane(hn::MaxOfLanes(d, most));
  }
  return bounds;
}

// Narrows the bounds until at most Candidates::kMost distances are within the upper one or none lies between
// them. Few different distances need few rounds.
inline HWY_ATTR void tighten(const DistanceWindow& window, int wanted, Bounds& bounds) {
  const IntTag d;
  int within = Candidates::kMost + 1;
  while (within > Candidates::kMost && bounds.high - bounds.low > 1) {
    const std::int32_t middle = bounds.low + (bounds.high - bounds.low) / 2;
    const IntVector over = hn::Set(d, middle + 1);
    IntVector counts = hn::Zero(d);
    IntVector below = hn::Set(d, bounds.low);
    IntVector above = hn::Set(d, bounds.high);
    for (int v = 0; v < window.vectors; ++v) {
      const IntVector distance = hn::LoadU(d, window.distances + v * kIntLanes);
      const auto is_within = hn::Lt(distance, over);
      counts = hn::Sub(counts, hn::VecFromMask(d, is_within));
      below = hn::Max(below, hn::IfThenElse(is_within, distance, below));
      above = hn::Min(above, hn::IfThenElse(is_within, above, distance));
    }
    const int count = hn::GetLane(hn::SumOfLanes(d, counts));
    if (count < wanted) {
      bounds.low = hn::GetLane(hn::MinOfLanes(d, above)) - 1;
    } else {
      bounds.high = hn::GetLane(hn::MaxOfLanes(d, below));
      within = count;
    }
  }
}

// ranks[i]: the number of candidates before the i-th, ordered by distance and then by position in the list.
// Writes whole vectors.
inline HWY_ATTR void rank(const Candidates& candidates, std::int32_t* ranks) {
  const IntTag d;
  const int count = candidates.count;
  const std::int32_t* distance = candidates.distance.data();
  for (int first = 0; first < count; first += kIntLanes) {
    const IntVector own = hn::LoadU(d, distance + first);
    const IntVector own_or_same = hn::Add(own, hn::Set(d, 1));
    IntVector before = hn::Zero(d);
    const auto add = [&](int i, IntVector over) HWY_ATTR {
      before = hn::Sub(before, hn::VecFromMask(d, hn::Lt(hn::Set(d, distance[i]), over)));
    };
    for (int i = 0; i < first; ++i) {
      add(i, own_or_same);
    }
    const int end = std::min(first + kIntLanes, count);
    for (int i = first; i < end; ++i) {
      add(i, hn::IfThenElse(hn::Gt(hn::Iota(d, first), hn::Set(d, i)), own_or_same, own));
    }
    for (int i = end; i < count; ++i) {
      add(i, own);
    }
    hn::StoreU(before, d, ranks + first);
  }
}

// Selects the closest candidates of a window, at most `wanted`: their positions, sorted by distance and
// raster order. Returns their number. The time hardly depends on the distances, which vary widely between
// pictures and are all equal in flat ones.
inline HWY_ATTR int select_closest(const DistanceWindow& window, int wanted, std::int32_t greatest,
                                   std::array<std::int32_t, Candidates::kMost>& places) {
  if (wanted == 0) {
    return 0;
  }
  Bounds bounds = bound_distances(window, wanted, greatest);
  Marks marks;
  int within = mark_within(window, bounds.high, marks);
  if (within > Candidates::kMost) {
    tighten(window, wanted, bounds);
    within = mark_within(window, bounds.high, marks);
  }
  Candidates candidates;
  if (within <= Candidates::kMost) {
    for (int i = 0; i < marks.words; ++i) {
      candidates.append(i, marks.word(i), within);
    }
  } else {
    // Too many candidates are at the upper bound: takes those below it and the first of the others.
    Marks closer;
    mark_within(window, bounds.low, closer);
    for (int i = 0; i < marks.words; ++i) {
      candidates.append(i, closer.word(i), wanted);
    }
    for (int i = 0; i < marks.words && candidates.count < wanted; ++i) {
      candidates.append(i, marks.word(i) & ~closer.word(i), wanted - candidates.count);
    }
  }
  for (int i = 0; i < candidates.count; ++i) {
    candidates.distance[i] = window.distances[candidates.place[i]];
  }
  std::array<std::int32_t, Candidates::kMost + kIntLanes> ranks;
  rank(candidates, ranks.data());
  for (int i = 0; i < candidates.count; ++i) {
    places[ranks[i]] = candidates.place[i];
  }
  return std::min(candidates.count, wanted);
}

// Finds the groups of the reference patches at (xs[0..count), y), with the reference first, of at most
// `most_of(i)` patches. Calls `use(positions, size)` for each one; sizes are not rounded.
template <int kPatch, bool kBytes, class MostOf, class Use>
HWY_ATTR void match_row(const StepJob& job, const MatchingRegion& region, const int* xs, int count, int y,
                        TileScratch& scratch, const MostOf& most_of, const Use& use) {
  const Bm3dStep& step = job.tables->step;
  const int radius = step.search_window / 2;
  std::array<Reference, kMaxReferences> references;
  std::array<DistanceWindow, kMaxReferences> windows;
  std::array<Position, 64> group;
  std::array<std::int32_t, Candidates::kMost> places;
  // Neighbors share loads, which helps if the union of their windows needs no more vectors than one window.
  const auto vectors = [&](int references_at_once) {
    return (2 * radius + (references_at_once - 1) * step.spacing) / kIntLanes + 1;
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
      const int found = select_closest(window, most_of(first + r) - 1, job.distances.greatest, places);
      group[0] = {x, y};
      for (int i = 0; i < found; ++i) {
        group[i + 1] = {window.x0 + places[i] % window.lanes, window.y0 + places[i] / window.lanes};
      }
      use(group.data(), found + 1);
    }
    first += n;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
