// SPDX-License-Identifier: MIT
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Bound by latency on the coarse levels, which have few blocks, and by the loads of windows on the finest
// level. A warp processes a block: lane 4 r + q has the eight samples of column of cells q (of three; the
// fourth completes unaligned loads) in rows r, r + 8 and r + 16 of the window, one row of each cell. All
// lanes have the best candidate so far.

namespace limpid::cuda {
namespace {

using motion::kBlock;

constexpr int kPyramidThreads = 128;
constexpr int kRowsPerThread = 4;
constexpr int kWord = 4;  // samples that a thread writes at a time

// The guide's samples before smoothing.
template <typename Sample, bool kRgb>
struct Guide {
  SamplePlane planes[3];
  int bit_depth;

  __device__ int at(int plane, int x, int y) const {
    const auto* row = reinterpret_cast<const Sample*>(planes[plane].data + y * planes[plane].stride);
    return motion::guide_value(row[x], bit_depth);
  }
  __device__ int at(int x, int y) const {
    if constexpr (kRgb) {
      return motion::guide_value_of_rgb(at(0, x, y), at(1, x, y), at(2, x, y));
    } else {
      return at(0, x, y);
    }
  }
};

// Writes a word of a level's row y, and of the margin above or below if the row is the outermost.
__device__ void store_word(const motion::Level& level, std::uint8_t* first, int x, int y, unsigned word) {
  const auto store = [&](int row) {
    *reinterpret_cast<unsigned*>(first + static_cast<std::ptrdiff_t>(row) * level.stride + x) = word;
  };
  store(y);
  if (y == 0) {
    for (int i = 1; i <= motion::kMarginRows; ++i) {
      store(-i);
    }
  }
  if (y == level.height - 1) {
    for (int i = 1; i <= motion::kMarginRows; ++i) {
      store(y + i);
    }
  }
}

// Each thread makes a word of four rows, from top to bottom, in the margins too.
template <typename Sample, bool kRgb>
__global__ void __launch_bounds__(kPyramidThreads)
    smooth_kernel(Guide<Sample, kRgb> guide, motion::Level level, std::uint8_t* first) {
  follow_stream();
  const int x = (blockIdx.x * kPyramidThreads + threadIdx.x) * kWord - motion::kMarginColumns;
  if (x + motion::kMarginColumns >= level.stride) {
    return;
  }
  const int begin = blockIdx.y * kRowsPerThread;
  const auto smoothed_row = [&](int y, int(&out)[kWord]) {
    const int row = min(max(y, 0), level.height - 1);
#pragma unroll
    for (int i = 0; i < kWord; ++i) {
      const int column = min(max(x + i, 0), level.width - 1);
      out[i] = motion::smoothed(guide.at(max(column - 1, 0), row), guide.at(column, row),
                                guide.at(min(column + 1, level.width - 1), row));
    }
  };
  int above[kWord];
  int middle[kWord];
  smoothed_row(begin - 1, above);
  smoothed_row(begin, middle);
  for (int y = begin; y < min(begin + kRowsPerThread, level.height); ++y) {
    int below[kWord];
    smoothed_row(y + 1, below);
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < kWord; ++i) {
      word |= static_cast<unsigned>(motion::smoothed_in_both(motion::smoothed(above[i], middle[i], below[i])))
              << 8 * i;
      above[i] = middle[i];
      middle[i] = below[i];
    }
    store_word(level, first, x, y, word);
  }
}

// Each thread makes a word of one row. The finer level's margin repeats its last row and column.
__global__ void __launch_bounds__(kPyramidThreads)
    halve_kernel(motion::Level finer, const std::uint8_t* finer_first, motion::Level level,
                 std::uint8_t* first) {
  follow_stream();
  const int x = (blockIdx.x * kPyramidThreads + threadIdx.x) * kWord - motion::kMarginColumns;
  if (x + motion::kMarginColumns >= level.stride) {
    return;
  }
  const int y = blockIdx.y;
  const std::uint8_t* above = finer_first + static_cast<std::ptrdiff_t>(2 * y) * finer.stride;
  const std::uint8_t* below = above + finer.stride;
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < kWord; ++i) {
    const int column = 2 * min(max(x + i, 0), level.width - 1);
    word |= static_cast<unsigned>(
                motion::halved(above[column], above[column + 1], below[column], below[column + 1]))
            << 8 * i;
  }
  store_word(level, first, x, y, word);
}

// A level of two pictures' pyramids, and the output of a search or a sweep there.
struct MotionLevel {
  const std::uint8_t* current;
  const std::uint8_t* reference;
  const MotionVector* coarser;
  const MotionVector* before;
  MotionVector* vectors;
  std::int32_t* differences;
  std::int32_t* textures;
  QuarterSamples* quarters;
  std::int32_t* lost;
  std::int32_t noise;
};

// A level of one field, or of two in opposite directions; blockIdx.y selects the field.
struct MotionLevels {
  motion::Level shape;
  motion::Level coarser_shape;
  MotionLevel of[2];

  __device__ const MotionLevel& own() const { return of[blockIdx.y]; }
};

// The window around one block, in a warp's registers.
class Window {
 public:
  __device__ Window(const MotionLevels& levels, int column, int row)
      : shape_(levels.shape), reference_(levels.own().reference), column_(column), row_(row) {
    const int lane = threadIdx.x % kWarp;
    const int r = lane / 4;
    rows_[0] = motion::window_row(kBlock / 2 + r);
    rows_[1] = motion::window_row(r < kBlock / 2 ? r : r + kBlock);
    x_ = (column - 1) * kBlock + lane % 4 * kBlock;
    y_ = row * kBlock;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      samples_[i] = load(levels.own().current, x_, y_ + rows_[i]);
    }
  }

  /// The vector, limited for this block.
  __device__ MotionVector limited(int x, int y) const { return motion::limited(shape_, column_, row_, x, y); }

  /// The difference along a vector.
  __device__ int difference(const MotionVector& vector) const {
    const int x = x_ + vector.x;
    const unsigned unaligned = static_cast<unsigned>(x) % kBlock;
    uint2 words[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      words[i] = load(reference_, x - static_cast<int>(unaligned), y_ + rows_[i] + vector.y);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      words[i] = shifted(words[i], unaligned);
    }
    return sum_of_differences(words[0], words[1]);
  }

  /// The difference of the window and its mean.
  __device__ int texture() const {
    const unsigned mean = motion::mean_of_window(sum_of_differences({0, 0}, {0, 0}));
    const uint2 means = {mean * 0x01010101U, mean * 0x01010101U};
    return sum_of_differences(means, means);
  }

 private:
  __device__ uint2 load(const std::uint8_t* first, int x, int y) const {
    return *reinterpret_cast<const uint2*>(first + static_cast<std::ptrdiff_t>(y) * shape_.stride + x);
  }
  // The weighted sum of the window's differences from the lanes' other samples.
  __device__ int sum_of_differences(const uint2& first, const uint2& second) const {
    const unsigned sum = __vsadu4(first.x, samples_[0].x) + __vsadu4(first.y, samples_[0].y) +
                         __vsadu4(second.x, samples_[1].x) + __vsadu4(second.y, samples_[1].y);
    static_assert(motion::kColumnWeights == std::array{1, 2, 1});
    const int columns = threadIdx.x % 4;
    return static_cast<int>(sum_over_warp(columns == 3 ? 0U : columns == 1 ? 2 * sum : sum));
  }
  // The eight samples at a distance of `samples` after the lane's first; those after its last are in the next
  // lane.
  __device__ static uint2 shifted(const uint2& own, unsigned samples) {
    const unsigned next = __shfl_down_sync(kAllLanes, own.x, 1);
    const unsigned last = __shfl_down_sync(kAllLanes, own.y, 1);
    const bool within = samples < kWord;
    const unsigned words[] = {within ? own.x : own.y, within ? own.y : next, within ? next : last};
    const unsigned bits = samples % kWord * 8;
    return {__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits)};
  }

  const motion::Level& shape_;
  const std::uint8_t* reference_;
  int column_;
  int row_;
  int x_;  // of the lane's samples
  int y_;  // of the block
  int rows_[2];
  uint2 samples_[2];
};

__device__ unsigned bits_of(const MotionVector& vector) {
  return static_cast<std::uint16_t>(vector.x) | static_cast<unsigned>(static_cast<std::uint16_t>(vector.y))
                                                    << 16;
}

__device__ MotionVector vector_of(unsigned bits) {
  return {static_cast<std::int16_t>(bits & 0xFFFF), static_cast<std::int16_t>(bits >> 16)};
}

// The lanes whose vector does not occur in an earlier lane.
__device__ unsigned distinct(unsigned bits) {
  const unsigned same = __match_any_sync(kAllLanes, bits);
  return __ballot_sync(kAllLanes, __ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x % kWarp));
}

// Calls function(bits of a vector) for each lane in `lanes`, in order.
template <typename Function>
__device__ void for_each_lane(unsigned lanes, unsigned bits, const Function& function) {
  while (lanes != 0) {
    function(__shfl_sync(kAllLanes, bits, __ffs(static_cast<int>(lanes)) - 1));
    lanes &= lanes - 1;
  }
}

constexpr int kCoarsestRows = 2 * motion::kRadius + 1;  // of vectors

// A block of threads processes a block of samples; each warp tries the vectors of one row.
__global__ void __launch_bounds__(kWarp* kCoarsestRows)
    search_coarsest_kernel(const __grid_constant__ MotionLevels level) {
  follow_stream();
  const MotionLevel& own = level.own();
  const int block = blockIdx.x;
  if (block == 0 && threadIdx.x == 0) {
    *own.lost = 0;
  }
  const Window window(level, block % level.shape.columns, block / level.shape.columns);
  const int row = threadIdx.x / kWarp;
  // Costs followed by the candidates' numbers, so that the first of equally cheap ones is the least.
  unsigned long long least = ~0ULL;
  MotionVector best;
  int best_difference = 0;
  const auto consider = [&](int x, int y, int number) {
    const MotionVector vector = window.limited(x, y);
    const int difference = window.difference(vector);
    const auto cost = static_cast<unsigned long long>(motion::coarsest_cost(vector, difference));
    const unsigned long long key = cost << 32 | static_cast<unsigned>(number);
    if (key < least) {
      least = key;
      best = vector;
      best_difference = difference;
    }
  };
  if (row == 0) {
    consider(0, 0, 0);
  }
#pragma unroll 4
  for (int i = 0; i < kCoarsestRows; ++i) {
    consider(i - motion::kRadius, row - motion::kRadius, 1 + row * kCoarsestRows + i);
  }
  __shared__ unsigned long long least_of_row[kCoarsestRows];
  if (threadIdx.x % kWarp == 0) {
    least_of_row[row] = least;
  }
  __syncthreads();
  unsigned long long least_of_all = least;
  for (const unsigned long long other : least_of_row) {
    least_of_all = min(least_of_all, other);
  }
  if (threadIdx.x % kWarp == 0 && least == least_of_all) {
    own.vectors[block] = best;
    own.differences[block] = best_difference;
  }
  if (level.shape.finest && row == 0) {
    const int texture = window.texture();
    if (threadIdx.x == 0) {
      own.textures[block] = texture;
    }
  }
}

constexpr int kSearchWarps = 8;

__device__ int block_of_warp() { return blockIdx.x * kSearchWarps + threadIdx.x / kWarp; }

// Each lane has one of the predictions.
__global__ void __launch_bounds__(kWarp* kSearchWarps)
    search_kernel(const __grid_constant__ MotionLevels level) {
  follow_stream();
  const MotionLevel& own = level.own();
  const int block = block_of_warp();
  if (block >= level.shape.columns * level.shape.rows) {
    return;
  }
  const int column = block % level.shape.columns;
  const int row = block / level.shape.columns;
  const int lane = threadIdx.x % kWarp;
  const Window window(level, column, row);
  motion::Choice best;
  const unsigned predicted = bits_of(
      motion::prediction(min(lane, motion::kPredictions - 1), column, row, level.coarser_shape, own.coarser));
  for_each_lane(distinct(predicted), predicted, [&](unsigned bits) {
    const MotionVector vector = window.limited(vector_of(bits).x, vector_of(bits).y);
    const int difference = window.difference(vector);
    best.consider(vector, difference, motion::prediction_cost(vector, difference));
  });
  const MotionVector center = best.vector;
#pragma unroll 4
  for (int i = 0; i < motion::kNeighbors; ++i) {
    const MotionVector vector =
        window.limited(center.x + motion::neighbor_x(i), center.y + motion::neighbor_y(i));
    const int difference = window.difference(vector);
    best.consider(vector, difference, motion::refinement_cost(vector, difference));
  }
  const int texture = level.shape.finest ? window.texture() : 0;
  if (lane == 0) {
    own.vectors[block] = best.vector;
    own.differences[block] = best.difference;
    if (level.shape.finest) {
      own.textures[block] = texture;
    }
  }
}

// Each lane has one of the neighbors.
__global__ void __launch_bounds__(kWarp* kSearchWarps)
    sweep_kernel(const __grid_constant__ MotionLevels level) {
  follow_stream();
  const MotionLevel& its = level.own();
  const int block = block_of_warp();
  if (block >= level.shape.columns * level.shape.rows) {
    return;
  }
  const int column = block % level.shape.columns;
  const int row = block / level.shape.columns;
  const int lane = threadIdx.x % kWarp;
  const bool knows_one = lane < motion::kNeighbors;
  const MotionVector own = its.before[block];
  const MotionVector neighbor =
      knows_one ? motion::neighbor(lane, level.shape, column, row, its.before) : own;
  const unsigned known = bits_of(neighbor);
  const unsigned untried = distinct(known) & __ballot_sync(kAllLanes, known != bits_of(own));
  if (untried == 0) {
    if (lane == 0) {
      its.vectors[block] = own;
    }
    return;
  }
  const Window window(level, column, row);
  const int own_difference = its.differences[block];
  motion::Choice best;
  const auto consider = [&](const MotionVector& vector, int difference) {
    const int disagreements = sum_over_warp(knows_one ? motion::disagreement(vector, neighbor) : 0);
    best.consider(vector, difference, motion::sweep_cost(vector, difference, own_difference, disagreements));
  };
  consider(own, own_difference);
  for_each_lane(untried, known, [&](unsigned bits) {
    const MotionVector vector = window.limited(vector_of(bits).x, vector_of(bits).y);
    consider(vector, window.difference(vector));
  });
  if (lane == 0) {
    its.vectors[block] = best.vector;
    its.differences[block] = best.difference;
  }
}

__global__ void __launch_bounds__(kWarp* kSearchWarps)
    quarter_kernel(const __grid_constant__ MotionLevels level) {
  follow_stream();
  const MotionLevel& own = level.own();
  const int block = block_of_warp();
  if (block >= level.shape.columns * level.shape.rows) {
    return;
  }
  const Window window(level, block % level.shape.columns, block / level.shape.columns);
  const MotionVector vector = own.vectors[block];
  const int difference = own.differences[block];
  const auto along = [&](int x, int y) {
    const MotionVector before = window.limited(vector.x - x, vector.y - y);
    const MotionVector after = window.limited(vector.x + x, vector.y + y);
    return before == vector || after == vector
               ? 0
               : motion::quarters_to_least(window.difference(before), difference, window.difference(after));
  };
  const QuarterSamples found = {static_cast<std::int8_t>(along(1, 0)), static_cast<std::int8_t>(along(0, 1))};
  if (threadIdx.x % kWarp == 0) {
    own.quarters[block] = found;
  }
}

constexpr int kCountThreads = 256;

__global__ void __launch_bounds__(kCountThreads)
    count_lost_kernel(const __grid_constant__ MotionLevels level) {
  follow_stream();
  const MotionLevel& own = level.own();
  const int block = blockIdx.x * kCountThreads + threadIdx.x;
  const bool is_lost = block < level.shape.columns * level.shape.rows &&
                       !motion::is_followed(own.differences[block], own.textures[block], own.noise);
  const int lost = __syncthreads_count(is_lost ? 1 : 0);
  if (threadIdx.x == 0 && lost > 0) {
    atomicAdd(own.lost, lost);
  }
}

template <typename Sample, bool kRgb>
void smooth(const FrameFormat& format, const std::array<SamplePlane, kMaxPlanes>& planes,
            const motion::Level& level, std::uint8_t* first, cudaStream_t stream) {
  const Guide<Sample, kRgb> guide = {{planes[0], planes[1], planes[2]}, format.bit_depth};
  const dim3 grid(blocks_for(level.stride / kWord, kPyramidThreads),
                  blocks_for(level.height, kRowsPerThread));
  launch(smooth_kernel<Sample, kRgb>, grid, kPyramidThreads, 0, stream, guide, level, first);
}

template <typename Sample>
void smooth(const FrameFormat& format, const std::array<SamplePlane, kMaxPlanes>& planes,
            const motion::Level& level, std::uint8_t* first, cudaStream_t stream) {
  if (format.color_model == ColorModel::kRgb) {
    smooth<Sample, true>(format, planes, level, first, stream);
  } else {
    smooth<Sample, false>(format, planes, level, first, stream);
  }
}

}  // namespace

MotionPyramid::MotionPyramid(int width, int height)
    : width_(width), height_(height), layout_(motion::pyramid_of(width, height)), memory_(layout_.bytes) {}

void MotionPyramid::enqueue(const FrameFormat& format, const std::array<SamplePlane, kMaxPlanes>& planes,
                            cudaStream_t stream) {
  if (layout_.count == 0) {
    return;
  }
  const motion::Level& finest = layout_.levels[0];
  visit_samples(format,
                [&]<typename Sample>(Sample) { smooth<Sample>(format, planes, finest, samples(0), stream); });
  for (int i = 1; i < layout_.count; ++i) {
    const motion::Level& level = layout_.levels[i];
    const dim3 grid(blocks_for(level.stride / kWord, kPyramidThreads), level.height);
    launch(halve_kernel, grid, kPyramidThreads, 0, stream, layout_.levels[i - 1], samples(i - 1), level,
           samples(i));
  }
}

DeviceMotionField::DeviceMotionField(int width, int height) {
  const motion::Pyramid layout = motion::pyramid_of(width, height);
  columns_ = layout.levels[0].columns;
  rows_ = layout.levels[0].rows;
  const std::size_t blocks = static_cast<std::size_t>(columns_) * rows_;
  vectors_ = DeviceMemory(blocks * sizeof(MotionVector));
  differences_ = DeviceMemory(blocks * sizeof(std::int32_t));
  textures_ = DeviceMemory(blocks * sizeof(std::int32_t));
  quarters_ = DeviceMemory(blocks * sizeof(QuarterSamples));
  lost_ = DeviceMemory(sizeof(std::int32_t));
}

MotionField DeviceMotionField::download(cudaStream_t stream) const {
  const std::size_t blocks = static_cast<std::size_t>(columns_) * rows_;
  MotionField field = {columns_,
                       rows_,
                       std::vector<MotionVector>(blocks),
                       std::vector<std::int32_t>(blocks),
                       std::vector<std::int32_t>(blocks),
                       std::vector<QuarterSamples>(has_quarters_ ? blocks : 0)};
  if (blocks > 0) {
    const auto copy = [&](void* to, const DeviceMemory& from) {
      check(cudaMemcpyAsync(to, from.as(), from.bytes(), cudaMemcpyDeviceToHost, stream));
    };
    copy(field.vectors.data(), vectors_);
    copy(field.differences.data(), differences_);
    copy(field.textures.data(), textures_);
    if (has_quarters_) {
      copy(field.quarters.data(), quarters_);
    }
    check(cudaStreamSynchronize(stream));
  }
  return field;
}

MotionEstimator::MotionEstimator(int width, int height)
    : columns_(motion::pyramid_of(width, height).levels[0].columns),
      rows_(motion::pyramid_of(width, height).levels[0].rows) {
  const std::size_t bytes = static_cast<std::size_t>(columns_) * rows_ * sizeof(MotionVector);
  for (Working& working : working_) {
    working = {DeviceMemory(bytes), DeviceMemory(bytes)};
  }
}

std::size_t MotionEstimator::memory() const {
  std::size_t bytes = 0;
  for (const Working& working : working_) {
    bytes += working.coarser.bytes() + working.before.bytes();
  }
  return bytes;
}

void MotionEstimator::enqueue(const MotionPyramid& reference, const MotionPyramid& current,
                              DeviceMotionField& field, cudaStream_t stream,
                              const MotionParameters& parameters) {
  const Search search = {&reference, &current, &field, {}};
  enqueue(std::span(&search, 1), stream, parameters);
}

void MotionEstimator::enqueue_both(const MotionPyramid& before, const MotionPyramid& after,
                                   const Sought& ahead, const Sought& back, cudaStream_t stream) {
  const Search searches[] = {{&after, &before, &ahead.field, ahead.noise},
                             {&before, &after, &back.field, back.noise}};
  enqueue(searches, stream, {});
}

void MotionEstimator::enqueue(std::span<const Search> searches, cudaStream_t stream,
                              const MotionParameters& parameters) {
  const motion::Pyramid& layout = searches[0].current->layout();
  for (const auto& [reference, current, field, noise] : searches) {
    if (reference->width() != current->width() || reference->height() != current->height() ||
        layout.levels[0].columns != columns_ || layout.levels[0].rows != rows_ ||
        field->columns() != columns_ || field->rows() != rows_) {
      throw Error("motion cannot be estimated between pictures of different sizes");
    }
    field->has_quarters_ = parameters.quarters;
  }
  const auto count = static_cast<unsigned>(searches.size());
  MotionLevels levels{};
  MotionVector* spare[] = {working_[0].before.as<MotionVector>(), working_[1].before.as<MotionVector>()};
  for (int number = layout.count - 1; number >= 0; --number) {
    levels.shape = layout.levels[number];
    for (unsigned i = 0; i < count; ++i) {
      const auto& [reference, current, field, noise] = searches[i];
      MotionLevel& level = levels.of[i];
      level.current = current->samples(number);
      level.reference = reference->samples(number);
      level.coarser = level.vectors;
      // Levels alternate between two arrays so that the finest level's vectors are the field's.
      level.vectors = number % 2 == 0 ? field->vectors() : working_[i].coarser.as<MotionVector>();
      level.differences = field->differences();
      level.textures = field->textures();
      level.quarters = field->quarters();
      level.lost = field->lost();
      level.noise = noise.value_or(0);
    }
    const int blocks = levels.shape.columns * levels.shape.rows;
    const dim3 groups(blocks_for(blocks, kSearchWarps), count);
    if (levels.of[0].coarser == nullptr) {
      launch(search_coarsest_kernel, dim3(blocks, count), kWarp * kCoarsestRows, 0, stream, levels);
    } else {
      launch(search_kernel, groups, kWarp * kSearchWarps, 0, stream, levels);
    }
    static_assert(motion::kSweeps % 2 == 0);
    for (int sweep = 0; sweep < motion::kSweeps; ++sweep) {
      for (unsigned i = 0; i < count; ++i) {
        MotionLevel& level = levels.of[i];
        std::swap(level.vectors, spare[i]);
        level.before = spare[i];
      }
      launch(sweep_kernel, groups, kWarp * kSearchWarps, 0, stream, levels);
    }
    if (levels.shape.finest && parameters.quarters) {
      launch(quarter_kernel, groups, kWarp * kSearchWarps, 0, stream, levels);
    }
    if (levels.shape.finest && searches[0].noise) {
      launch(count_lost_kernel, dim3(blocks_for(blocks, kCountThreads), count), kCountThreads, 0, stream,
             levels);
    }
    levels.coarser_shape = levels.shape;
  }
}

}  // namespace limpid::cuda
