// SPDX-License-Identifier: MIT
// Every kernel compared with plain host code.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/transforms.h"
#include "core/frame/frame.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/matching.h"
#include "cuda/runtime/convert.h"
#include "tests/cuda/cuda_test.h"

namespace limpid::cuda {
namespace {

// A plane on host and device. The device's rows have padding.
struct TestPlane {
  int width;
  int height;
  std::vector<float> samples;
  DeviceMemory memory;
  FloatPlane plane;

  TestPlane(int w, int h, const std::vector<float>& values) : width(w), height(h), samples(values) {
    const int pitch = w + 5;
    std::vector<float> rows(static_cast<std::size_t>(pitch) * h, -1e9F);
    for (int y = 0; y < h; ++y) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(y) * w, w,
                  rows.begin() + static_cast<std::ptrdiff_t>(y) * pitch);
    }
    memory = DeviceMemory::copy_of(rows);
    plane = {memory.as<float>(), w, h, pitch};
  }

  std::vector<float> download() const {
    const auto rows = to_host<float>(memory, static_cast<std::size_t>(plane.pitch) * height);
    std::vector<float> values;
    for (int y = 0; y < height; ++y) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(y) * plane.pitch;
      values.insert(values.end(), row, row + width);
    }
    return values;
  }
  float at(int x, int y) const { return samples[static_cast<std::size_t>(y) * width + x]; }
};

// Patterns with many equal distances.
enum Tie { kFlat = 0, kRows = -1, kColumns = -2, kDither = -3, kLetterbox = -4, kDiagonals = -5 };

// A texture with `levels` levels, or a Tie.
std::vector<float> noise_texture(int width, int height, int levels, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto tie = [&](int x, int y) {
    switch (levels) {
      case kRows:
        return y % 6 < 3 ? 60 : 190;
      case kColumns:
        return x % 7 < 4 ? 60 : 190;
      case kDither:
        return 120 + (x + y) % 2;
      case kDiagonals:
        return (x + y) / 3 % 2 == 0 ? 50 : 80;
      default:
        return 77;
    }
  };
  std::vector<float> values;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double wave = 60 * std::sin(0.35 * x + 0.1 * y) + 30 * std::sin(0.5 * y);
      const bool in_letterbox = levels == kLetterbox && y >= height / 3 && y < height * 2 / 3;
      if (levels <= 0 && !in_letterbox) {
        values.push_back(static_cast<float>(tie(x, y)));
        continue;
      }
      const double value = 128 + wave + static_cast<double>(random() % 40) - 20;
      const double step = 255.0 / std::max(levels - 1, 1);
      // Integers, which float arithmetic smooths exactly.
      values.push_back(
          static_cast<float>(std::clamp(std::round(std::round(value / step) * step), 0.0, 255.0)));
    }
  }
  return values;
}

struct PlainGroup {
  std::vector<std::pair<int, int>> offsets;
};

// Matching from its definition.
std::vector<PlainGroup> plain_groups(const TestPlane& guide, bool smooth, const ReferenceGrid& grid,
                                     const Bm3dStep& step, const MatchingScale& scale,
                                     const MatchingDistances& distances) {
  std::vector<int> values;
  const auto mirrored = [](int i, int size) { return i < 0 ? -i : i >= size ? 2 * size - 2 - i : i; };
  for (int y = 0; y < guide.height; ++y) {
    for (int x = 0; x < guide.width; ++x) {
      double value = static_cast<double>(guide.at(x, y));
      if (smooth) {
        value = 0;
        for (int v = -1; v <= 1; ++v) {
          for (int u = -1; u <= 1; ++u) {
            const int weight = (u == 0 ? kGuideKernelCenter : kGuideKernelSide) *
                               (v == 0 ? kGuideKernelCenter : kGuideKernelSide);
            value += weight * static_cast<double>(
                                  guide.at(mirrored(x + u, guide.width), mirrored(y + v, guide.height)));
          }
        }
        value /= kGuideKernelSum * kGuideKernelSum;
      }
      const double limit = scale.limit;
      values.push_back(static_cast<int>(std::nearbyint(
          std::clamp((value - 128) * scale.scale + static_cast<double>(kMatchingBias), -limit, limit))));
    }
  }
  const int k = step.patch_size;
  const int radius = step.search_window / 2;
  std::vector<PlainGroup> groups;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const int rx = grid.x(column);
      const int ry = grid.y(row);
      std::vector<std::tuple<long long, int, int>> found;
      for (int y = std::max(ry - radius, 0); y <= std::min(ry + radius, grid.height - k); ++y) {
        for (int x = std::max(rx - radius, 0); x <= std::min(rx + radius, grid.width - k); ++x) {
          long long distance = 0;
          for (int v = 0; v < k; ++v) {
            for (int u = 0; u < k; ++u) {
              const int difference =
                  values[(ry + v) * guide.width + rx + u] - values[(y + v) * guide.width + x + u];
              distance += difference * difference;
            }
          }
          const bool self = x == rx && y == ry;
          const long long deviation = std::abs(distance - distances.expected);
          if (deviation <= distances.greatest || self) {
            found.emplace_back(self ? -1 : deviation, y - ry, x - rx);
          }
        }
      }
      std::sort(found.begin(), found.end());
      const std::size_t size = std::bit_floor(
          std::min(found.size(),
                   static_cast<std::size_t>(std::bit_floor(static_cast<unsigned>(step.max_group_size)))));
      PlainGroup group;
      for (std::size_t i = 0; i < size; ++i) {
        group.offsets.emplace_back(std::get<2>(found[i]), std::get<1>(found[i]));
      }
      groups.push_back(group);
    }
  }
  return groups;
}

struct DeviceGroups {
  DeviceMemory members;
  Groups groups;

  DeviceGroups(const ReferenceGrid& grid, int capacity)
      : members(static_cast<std::size_t>(grid.columns) * grid.rows * capacity * sizeof(std::int16_t)),
        groups{members.as<std::int16_t>(), capacity, 0, grid.rows} {
    check(cudaMemset(members.as(), 0x7F, members.bytes()));
  }

  // Other groups need not be found.
  void want_every(std::size_t every, std::size_t count) {
    std::vector<std::int16_t> sizes(count * groups.capacity);
    for (std::size_t i = 0; i < count; i += every) {
      sizes[i * groups.capacity] = 1;
    }
    check(cudaMemcpy(members.as(), sizes.data(), members.bytes(), cudaMemcpyHostToDevice));
    groups.selective = true;
  }

  std::vector<PlainGroup> download(const ReferenceGrid& grid) const {
    const std::size_t count = static_cast<std::size_t>(grid.columns) * grid.rows;
    const auto all = to_host<std::int16_t>(members, count * groups.capacity);
    std::vector<PlainGroup> result(count);
    for (std::size_t i = 0; i < count; ++i) {
      result[i].offsets.emplace_back(0, 0);
      for (int j = 1; j < all[i * groups.capacity]; ++j) {
        const std::int16_t member = all[i * groups.capacity + j];
        result[i].offsets.emplace_back(offset_x(member), offset_y(member));
      }
    }
    return result;
  }
};

class BlockMatching : public CudaTest {
 protected:
  // Every variant that supports the step. Returns true if variants other than the reference support it.
  bool check_matching(const Bm3dStep& step, bool bytes, int levels, int width, int height) {
    check_matching(step, bytes, levels, width, height, limpid::Matching::kNearest);
    return check_matching(step, bytes, levels, width, height, limpid::Matching::kStatistical);
  }

  bool check_matching(const Bm3dStep& step, bool bytes, int levels, int width, int height,
                      limpid::Matching kind) {
    SCOPED_TRACE("k " + std::to_string(step.patch_size) + ", spacing " + std::to_string(step.spacing) +
                 ", window " + std::to_string(step.search_window) + ", N " +
                 std::to_string(step.max_group_size) + (bytes ? ", bytes, " : ", words, ") +
                 std::string(to_string(kind)) + ", levels " + std::to_string(levels));
    // The fast kernels rank distances of up to 2^20 exactly, that is, 1024 squared code values per sample. A
    // group of 32 needs greater ones if few candidates are available in noise of all levels.
    constexpr int kExactLevels = 60;
    const TestPlane guide(width, height,
                          noise_texture(width, height, bytes ? levels : std::min(levels, kExactLevels), 7));
    MatchingPlane plane;
    plane.width = width;
    plane.height = height;
    plane.pitch = MatchingPlane::pitch_of(width);
    plane.scale = matching_scale(bytes);
    const std::size_t positions = static_cast<std::size_t>(plane.pitch) * MatchingPlane::rows_of(height);
    const DeviceMemory samples(positions * 2);
    plane.samples = samples.as<std::int16_t>();
    const bool statistical = kind == limpid::Matching::kStatistical;
    prepare_matching(guide.plane, statistical, plane, nullptr);
    const MatchingDistances distances = matching_distances(kind, false, step, plane.scale, 12);

    const ReferenceGrid grid = make_grid(width, height, step.patch_size, step.spacing);
    const std::vector<PlainGroup> expected =
        plain_groups(guide, statistical, grid, step, plane.scale, distances);
    const int capacity = static_cast<int>(std::bit_floor(static_cast<unsigned>(step.max_group_size)));
    const auto expect_equal = [&](const DeviceGroups& groups, const char* kernel, std::size_t every) {
      const std::vector<PlainGroup> found = groups.download(grid);
      int wrong = 0;
      for (std::size_t i = 0; i < expected.size(); i += every) {
        if (found[i].offsets != expected[i].offsets && wrong++ == 0) {
          std::string text;
          for (const auto& groups_of : {found[i], expected[i]}) {
            for (const auto& [x, y] : groups_of.offsets) {
              text += " " + std::to_string(x) + "," + std::to_string(y);
            }
            text += " |";
          }
          ADD_FAILURE() << kernel << ": reference " << i % grid.columns << ", " << i / grid.columns << ":"
                        << text;
        }
      }
      EXPECT_EQ(wrong, 0) << kernel << ": of " << expected.size() << " groups";
    };
    for (const MatchingVariant& variant : matching_variants()) {
      if (variant.can(step, device_limits())) {
        DeviceGroups found(grid, capacity);
        variant.run(plane, grid, step, distances, found.groups, nullptr);
        expect_equal(found, variant.name, 1);
        constexpr std::size_t kEvery = 37;
        DeviceGroups selected(grid, capacity);
        selected.want_every(kEvery, expected.size());
        variant.run(plane, grid, step, distances, selected.groups, nullptr);
        expect_equal(selected, variant.name, kEvery);
      }
    }
    return &choose(matching_variants(), step, device_limits()) != &matching_variants().back();
  }
};

Bm3dStep make_step(int k, int spacing, int group_size, int window, float tau) {
  return {.patch_size = k,
          .spacing = spacing,
          .max_group_size = group_size,
          .search_window = window,
          .max_distance = tau,
          .kaiser_beta = 2,
          .transform_2d = Transform2d::kDct,
          .transform_1d = Transform1d::kHaar};
}

TEST_F(BlockMatching, FindsTheClosestOfEveryProfilesWindow) {
  for (const bool bytes : {true, false}) {
    EXPECT_TRUE(check_matching(make_step(8, 3, 16, 39, 3000), bytes, 256, 131, 90));
    EXPECT_TRUE(check_matching(make_step(8, 3, 32, 39, 400), bytes, 256, 96, 75));
    EXPECT_TRUE(check_matching(make_step(8, 8, 8, 19, 3000), bytes, 256, 150, 101));
    EXPECT_TRUE(check_matching(make_step(8, 7, 8, 19, 400), bytes, 256, 77, 64));
    EXPECT_TRUE(check_matching(make_step(8, 6, 16, 25, 3000), bytes, 256, 90, 71));
    EXPECT_TRUE(check_matching(make_step(8, 5, 16, 25, 400), bytes, 256, 91, 70));
    EXPECT_TRUE(check_matching(make_step(8, 4, 32, 39, 25000), bytes, 256, 83, 66));
    EXPECT_TRUE(check_matching(make_step(8, 2, 32, 39, 3000), bytes, 256, 61, 58));
    EXPECT_TRUE(check_matching(make_step(8, 6, 32, 39, 3500), bytes, 256, 80, 59));
  }
}

TEST_F(BlockMatching, FindsTheClosestInWideWindows) {
  EXPECT_TRUE(check_matching(make_step(8, 4, 8, 65, 3000), true, 256, 131, 90));
  EXPECT_TRUE(check_matching(make_step(8, 4, 8, 65, 400), false, 256, 75, 96));
  EXPECT_TRUE(check_matching(make_step(8, 5, 32, 65, 25000), false, 256, 83, 66));
  EXPECT_TRUE(check_matching(make_step(8, 3, 16, 61, 3000), true, 256, 61, 78));
  EXPECT_TRUE(check_matching(make_step(8, 2, 16, 63, 3000), true, 256, 40, 53));
  EXPECT_TRUE(check_matching(make_step(8, 1, 8, 65, 3000), true, 256, 39, 33));
  EXPECT_TRUE(check_matching(make_step(8, 4, 8, 65, 3000), true, 0, 90, 70));
  EXPECT_FALSE(check_matching(make_step(8, 6, 8, 65, 3000), true, 256, 50, 40));
}

TEST_F(BlockMatching, FindsTheFirstWhereDistancesTie) {
  for (const bool bytes : {true, false}) {
    for (const int tie : {kFlat, kRows, kColumns, kDither, kLetterbox, kDiagonals}) {
      // One warp per tile, two per tile, keys of 64 bits, narrow windows of both kinds.
      EXPECT_TRUE(check_matching(make_step(8, 3, 16, 39, 3000), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 3, 32, 39, 400), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 2, 32, 39, 3000), bytes, tie, 61, 58));
      EXPECT_TRUE(check_matching(make_step(8, 6, 32, 39, 3500), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 4, 8, 65, 3000), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 5, 32, 65, 25000), bytes, tie, 83, 66));
      EXPECT_TRUE(check_matching(make_step(8, 8, 8, 19, 3000), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 5, 16, 25, 400), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 4, 32, 25, 3000), bytes, tie, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 3, 1, 39, 3000), bytes, tie, 50, 41));
    }
    for (const int levels : {2, 3, 4}) {
      EXPECT_TRUE(check_matching(make_step(8, 3, 32, 39, 3000), bytes, levels, 90, 70));
      EXPECT_TRUE(check_matching(make_step(8, 4, 8, 19, 3000), bytes, levels, 90, 70));
    }
  }
}

TEST_F(BlockMatching, FindsTheClosestInManyBlocks) {
  for (const bool bytes : {true, false}) {
    EXPECT_TRUE(check_matching(make_step(8, 4, 8, 19, 3000), bytes, 256, 643, 481));
    EXPECT_TRUE(check_matching(make_step(8, 5, 16, 25, 400), bytes, 256, 601, 443));
    EXPECT_TRUE(check_matching(make_step(8, 3, 32, 13, 3000), bytes, 256, 397, 301));
  }
}

TEST_F(BlockMatching, FindsTheClosestForAnySizeAndParameters) {
  std::mt19937_64 random(5);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 24; ++i) {
    const int k = i % 2 == 0 ? 8 : draw(2, 16);
    check_matching(
        make_step(k, draw(1, k), draw(1, 64), 2 * draw(0, 16) + 1, static_cast<float>(draw(0, 6000))),
        i % 3 == 0, draw(2, 256), draw(std::max(k, 2), 60), draw(std::max(k, 2), 50));
  }
}

// Compute capability 9.0, for which most measured speeds are, and 8.6 and 7.5 with less memory.
constexpr DeviceLimits limits(int compute_capability, int multiprocessors, std::size_t block_kib,
                              std::size_t multiprocessor_kib, std::size_t reserved_kib) {
  return {compute_capability, multiprocessors, (block_kib << 10) - DeviceLimits::kStaticSharedMemory,
          multiprocessor_kib << 10, reserved_kib << 10};
}
constexpr DeviceLimits kHopper = limits(90, 132, 227, 228, 1);
constexpr DeviceLimits kAmpere = limits(86, 84, 99, 100, 1);
constexpr DeviceLimits kTuring = limits(75, 40, 64, 64, 0);

TEST(DeviceLimits, BlocksShareTheMemoryOfAMultiprocessor) {
  EXPECT_EQ(kHopper.shared_memory_of(1), std::size_t{225} << 10);
  EXPECT_EQ(kHopper.shared_memory_of(2), std::size_t{111} << 10);
  EXPECT_EQ(kHopper.shared_memory_of(4), std::size_t{54} << 10);
  EXPECT_EQ(kAmpere.shared_memory_of(1), std::size_t{97} << 10);
  EXPECT_EQ(kAmpere.shared_memory_of(2), std::size_t{47} << 10);
  EXPECT_EQ(kTuring.shared_memory_of(1), std::size_t{62} << 10);
  EXPECT_EQ(kTuring.shared_memory_of(64), 0U);
}

std::string matching_of(const Bm3dStep& step, const DeviceLimits& device) {
  return choose(matching_variants(), step, device).name;
}
std::string filter_of(const Bm3dStep& step, const DeviceLimits& device) {
  return choose(filter_variants(), step, device).name;
}

TEST(BlockMatchingVariants, AreChosenByStepAndDevice) {
  for (const DeviceLimits& device : {kHopper, kAmpere}) {
    EXPECT_EQ(matching_of(make_step(8, 8, 8, 19, 3000), device), "narrow");
    EXPECT_EQ(matching_of(make_step(8, 6, 16, 25, 3000), device), "narrow");
    EXPECT_EQ(matching_of(make_step(8, 8, 16, 25, 3000), device), "fast") << "windows too far apart";
    EXPECT_EQ(matching_of(make_step(8, 3, 16, 39, 3000), device), "fast");
    EXPECT_EQ(matching_of(make_step(7, 3, 16, 39, 3000), device), "any") << "no patches of 8x8";
    EXPECT_EQ(matching_of(make_step(8, 3, 64, 39, 3000), device), "any") << "groups of 64";
    EXPECT_EQ(matching_of(make_step(8, 6, 8, 65, 3000), device), "any") << "windows too far apart";
  }
  EXPECT_EQ(matching_of(make_step(8, 4, 8, 65, 3000), kHopper), "fast");
  EXPECT_EQ(matching_of(make_step(8, 4, 8, 65, 3000), kAmpere), "any") << "too little shared memory";
  EXPECT_EQ(matching_of(make_step(8, 3, 16, 39, 3000), kTuring), "any") << "other tensor cores";
}

TEST(FilterVariants, AreChosenByStepAndDevice) {
  for (const DeviceLimits& device : {kHopper, kAmpere, kTuring}) {
    EXPECT_EQ(filter_of(make_step(8, 3, 32, 39, 3000), device), "fast");
    EXPECT_EQ(filter_of(make_step(7, 3, 16, 39, 3000), device), "any") << "no patches of 8x8";
    EXPECT_EQ(filter_of(make_step(8, 3, 64, 39, 3000), device), "any") << "groups of 64";
  }
  EXPECT_EQ(filter_of(make_step(8, 3, 32, 65, 3000), kHopper), "fast");
  EXPECT_EQ(filter_of(make_step(8, 3, 32, 65, 3000), kTuring), "any") << "too little shared memory";
}

class GroupFilter : public CudaTest {
 protected:
  // Every variant and both steps compared with doubles, including aggregation and division. Samples reach
  // `brightness` times 255.
  void check_filter(const Bm3dStep& step, bool wiener, float brightness = 1) {
    const int samples = step.patch_size * step.patch_size;
    check_filter(step, wiener, brightness, std::vector<float>(samples, 1.0F));
    // The least possible variances, and more in one direction than in the other.
    std::vector<float> variances;
    for (int i = 0; i < samples; ++i) {
      const int u = i % step.patch_size;
      const int v = i / step.patch_size;
      variances.push_back(std::max(0.001F, 6 * std::exp(-0.5F * static_cast<float>(u + 2 * v))));
    }
    check_filter(step, wiener, brightness, variances);
    NoiseShape::Curve curve;
    for (std::size_t i = 0; i < curve.size(); ++i) {
      curve[i] = 0.5F + 0.01F * static_cast<float>(i * i);
    }
    check_filter(step, wiener, brightness, variances, curve);
  }

  void check_filter(const Bm3dStep& step, bool wiener, float brightness, const std::vector<float>& variances,
                    const std::optional<NoiseShape::Curve>& curve = std::nullopt) {
    SCOPED_TRACE("k " + std::to_string(step.patch_size) + ", N " + std::to_string(step.max_group_size) +
                 ", " + std::string(to_string(step.transform_2d)) + " and " +
                 std::string(to_string(step.transform_1d)) + (wiener ? ", step 2" : ", step 1") +
                 (variances.back() == 1 ? "" : ", not white") + (curve ? ", by brightness" : ""));
    const int width = 71;
    const int height = 57;
    const auto texture = [&](int levels, int seed) {
      std::vector<float> samples = noise_texture(width, height, levels, seed);
      for (float& sample : samples) {
        sample *= brightness;
      }
      return samples;
    };
    const TestPlane noisy(width, height, texture(256, 3));
    const TestPlane basic(width, height, texture(32, 4));
    const ReferenceGrid grid = make_grid(width, height, step.patch_size, step.spacing);
    const MatchingScale scale = matching_scale(false);
    std::vector<PlainGroup> plain =
        plain_groups(basic, false, grid, step, scale,
                     matching_distances(limpid::Matching::kNearest, true, step, scale, 12));
    // All sizes of groups.
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::size_t size = std::size_t{1} << i % 7;
      plain[i].offsets.resize(std::min(plain[i].offsets.size(), size));
    }
    const int capacity = static_cast<int>(std::bit_floor(static_cast<unsigned>(step.max_group_size)));
    std::vector<std::int16_t> members(plain.size() * capacity, pack_offset(100, 100));
    for (std::size_t i = 0; i < plain.size(); ++i) {
      members[i * capacity] = static_cast<std::int16_t>(plain[i].offsets.size());
      for (std::size_t j = 1; j < plain[i].offsets.size(); ++j) {
        members[i * capacity + j] = pack_offset(plain[i].offsets[j].first, plain[i].offsets[j].second);
      }
    }
    const DeviceMemory device_members = DeviceMemory::copy_of(members);

    FilterJob job;
    job.step = step;
    job.lambda = 2.7F;
    job.sigma = 11.3F * brightness;
    job.variances = variances;
    job.curve = curve;
    job.grid = grid;
    job.groups = {device_members.as<std::int16_t>(), capacity, 0, grid.rows};
    job.noisy = noisy.plane;
    job.basic = wiener ? basic.plane : FloatPlane{};
    const std::vector<double> expected = plain_filter(job, noisy, basic, plain, wiener);

    const DeviceMemory range(sizeof(float));
    check(cudaMemset(range.as(), 0, range.bytes()));
    measure_range(noisy.plane, 128, range.as<float>(), nullptr);
    const DeviceMemory numerator(expected.size() * sizeof(long long));
    const DeviceMemory weight(expected.size() * sizeof(int));
    const TestPlane out(width, height, std::vector<float>(expected.size(), -5));
    for (const FilterVariant& variant : filter_variants()) {
      if (!variant.can(step, device_limits())) {
        continue;
      }
      const FixedPoint bits =
          choose_fixed_point(step, wiener, variant.tile_sums ? 128 : 128 * 2 * brightness, variant.tile_sums);
      job.sums = {numerator.as<long long>(),
                  weight.as<int>(),
                  bits.numerator_scale,
                  bits.weight_bits,
                  128,
                  variant.tile_sums ? range.as<float>() : nullptr};
      job.fixed_point = bits;
      const FilterTables tables = make_filter_tables(step);
      job.tables = &tables;
      clear_sums(job.sums, width, height, nullptr);
      const TransformMatrices matrices = transform_matrices(step.transform_2d, step.patch_size);
      const std::vector<double> window =
          kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
      const auto floats = [](const std::vector<double>& values) {
        return DeviceMemory::copy_of(std::vector<float>(values.begin(), values.end()));
      };
      const DeviceMemory forward = floats(matrices.forward);
      const DeviceMemory inverse = floats(matrices.inverse);
      const DeviceMemory device_window = floats(window);
      const DeviceMemory scratch(GeneralFilter::scratch_floats(step, capacity) * sizeof(float));
      job.general = {forward.as<float>(), inverse.as<float>(), device_window.as<float>(),
                     scratch.as<float>()};
      variant.run(job, nullptr);
      finish(job.sums, step.patch_size, tables, out.plane, nullptr);
      const std::vector<float> result = out.download();
      std::vector<double> differences;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        differences.push_back(std::abs(static_cast<double>(result[i]) - expected[i]));
      }
      std::sort(differences.begin(), differences.end());
      // With a curve, a group's standard deviation has single precision, and a coefficient at its threshold
      // may be on either side.
      const double greatest = curve ? differences[differences.size() * 97 / 100] : differences.back();
      EXPECT_LE(differences.back(), 3 * static_cast<double>(std::max(brightness, 1.0F))) << variant.name;
      // The fast variant's second step has the precision of half floats, for samples relative to mid-gray.
      const bool reference = &variant == &filter_variants().back();
      // Errors grow with the noise, which the curve multiplies by 3.
      const double tolerance = (!reference && wiener ? 0.3 : 0.05) * (curve ? 3 : 1);
      EXPECT_LE(greatest, tolerance * static_cast<double>(std::max(brightness, 1.0F))) << variant.name;
    }
  }

  static std::vector<double> plain_filter(const FilterJob& job, const TestPlane& noisy,
                                          const TestPlane& basic, const std::vector<PlainGroup>& groups,
                                          bool wiener) {
    const int k = job.step.patch_size;
    const TransformMatrices patch = transform_matrices(job.step.transform_2d, k);
    const std::vector<double> window = kaiser_window(k, static_cast<double>(job.step.kaiser_beta));
    std::vector<double> numerator(noisy.samples.size(), 0.0);
    std::vector<double> denominator(noisy.samples.size(), 0.0);
    const auto multiply = [k](const std::vector<double>& matrix, std::vector<double> block) {
      for (int pass = 0; pass < 2; ++pass) {  // each pass transforms columns and transposes
        std::vector<double> result(block.size(), 0.0);
        for (int r = 0; r < k; ++r) {
          for (int c = 0; c < k; ++c) {
            for (int i = 0; i < k; ++i) {
              result[c * k + r] += matrix[r * k + i] * block[i * k + c];
            }
          }
        }
        block = result;
      }
      return block;
    };
    const auto across = [](const std::vector<double>& matrix,
                           const std::vector<std::vector<double>>& blocks) {
      std::vector<std::vector<double>> result(blocks.size(), std::vector<double>(blocks[0].size(), 0.0));
      for (std::size_t r = 0; r < blocks.size(); ++r) {
        for (std::size_t p = 0; p < blocks.size(); ++p) {
          for (std::size_t i = 0; i < blocks[0].size(); ++i) {
            result[r][i] += matrix[r * blocks.size() + p] * blocks[p][i];
          }
        }
      }
      return result;
    };
    for (std::size_t number = 0; number < groups.size(); ++number) {
      const int rx = job.grid.x(static_cast<int>(number) % job.grid.columns);
      const int ry = job.grid.y(static_cast<int>(number) / job.grid.columns);
      const auto& offsets = groups[number].offsets;
      const TransformMatrices group =
          transform_matrices(job.step.transform_1d, static_cast<int>(offsets.size()));
      const auto spectrum = [&](const TestPlane& plane) {
        std::vector<std::vector<double>> blocks;
        for (const auto& [dx, dy] : offsets) {
          std::vector<double> block;
          for (int y = 0; y < k; ++y) {
            for (int x = 0; x < k; ++x) {
              block.push_back(static_cast<double>(plane.at(rx + dx + x, ry + dy + y)));
            }
          }
          blocks.push_back(multiply(patch.forward, block));
        }
        return across(group.forward, blocks);
      };
      auto blocks = spectrum(noisy);
      double weight = 0;
      double mean = 0;
      for (const auto& [dx, dy] : offsets) {
        for (int i = 0; i < k * k; ++i) {
          mean += static_cast<double>((wiener ? basic : noisy).at(rx + dx + i % k, ry + dy + i / k));
        }
      }
      mean /= static_cast<double>(offsets.size() * k * k);
      const double deviation =
          job.curve ? static_cast<double>(deviation_at(*job.curve, static_cast<float>(mean))) : 1;
      const double sigma = static_cast<double>(job.sigma) * deviation;
      const double threshold = static_cast<double>(coefficient_threshold(job.lambda, job.sigma)) * deviation;
      if (wiener) {
        const auto signal = spectrum(basic);
        for (std::size_t p = 0; p < blocks.size(); ++p) {
          for (int i = 0; i < k * k; ++i) {
            const double energy = signal[p][i] * signal[p][i];
            const auto variance = static_cast<double>(job.variances[i]);
            const double factor = energy / (energy + sigma * sigma * variance);
            blocks[p][i] *= factor;
            weight += factor * factor * variance;
          }
        }
      } else {
        for (std::size_t p = 0; p < blocks.size(); ++p) {
          for (int i = 0; i < k * k; ++i) {
            const auto variance = static_cast<double>(job.variances[i]);
            if ((p > 0 || i > 0) && std::abs(blocks[p][i]) <= threshold * std::sqrt(variance)) {
              blocks[p][i] = 0;
            } else {
              weight += variance;
            }
          }
        }
      }
      weight = 1 / (std::max(1.0, weight) * deviation * deviation);
      blocks = across(group.inverse, blocks);
      for (std::size_t p = 0; p < blocks.size(); ++p) {
        const std::vector<double> block = multiply(patch.inverse, blocks[p]);
        for (int y = 0; y < k; ++y) {
          for (int x = 0; x < k; ++x) {
            const std::size_t at = static_cast<std::size_t>(ry + offsets[p].second + y) * noisy.width + rx +
                                   offsets[p].first + x;
            numerator[at] += weight * window[y * k + x] * block[y * k + x];
            denominator[at] += weight * window[y * k + x];
          }
        }
      }
    }
    for (std::size_t i = 0; i < numerator.size(); ++i) {
      numerator[i] /= denominator[i];
    }
    return numerator;
  }
};

TEST_F(GroupFilter, AllTransformsAndStepsOfPatchesOfEight) {
  for (const Transform2d transform_2d :
       {Transform2d::kDct, Transform2d::kBior15, Transform2d::kHaar, Transform2d::kWalshHadamard}) {
    for (const Transform1d transform_1d : {Transform1d::kHaar, Transform1d::kWalshHadamard}) {
      for (const int group_size : {1, 8, 16, 32, 64}) {
        for (const bool wiener : {false, true}) {
          Bm3dStep step = make_step(8, 3, group_size, 19, 8000);
          step.transform_2d = transform_2d;
          step.transform_1d = transform_1d;
          check_filter(step, wiener);
        }
      }
    }
  }
}

TEST_F(GroupFilter, OtherPatchSizesStepsAndWindows) {
  for (const int k : {2, 5, 8, 11, 16}) {
    for (const bool wiener : {false, true}) {
      check_filter(make_step(k, std::min(k, 4), 16, 15, 8000), wiener);
      Bm3dStep narrow = make_step(k, k, 4, 9, 8000);
      narrow.kaiser_beta = 8;
      check_filter(narrow, wiener);
    }
  }
  check_filter(make_step(8, 8, 16, 39, 8000), false);
  check_filter(make_step(8, 1, 32, 25, 8000), true);
}

TEST_F(GroupFilter, SamplesBeyondEightBits) {
  for (const float brightness : {0.25F, 3.0F, 12.0F}) {
    check_filter(make_step(8, 3, 16, 19, 8000), false, brightness);
    check_filter(make_step(8, 3, 32, 19, 8000), true, brightness);
  }
}

TEST(FixedPoint, LeavesFractionsForEveryProfile) {
  for (const Profile profile : {Profile::kFast, Profile::kLc, Profile::kNp, Profile::kHigh}) {
    const Bm3dParameters parameters = bm3d_profile(profile);
    EXPECT_GE(choose_fixed_point(parameters.hard_threshold, false, 128, true).numerator_scale, 1024);
    EXPECT_GE(choose_fixed_point(*parameters.wiener, true, 128, true).numerator_scale, 512);
    EXPECT_GE(choose_fixed_point(parameters.hard_threshold, false, 128, true).weight_bits, 20);
  }
}

using Convert = CudaTest;

TEST_F(Convert, SamplesOfEveryTypeGoThereAndBack) {
  std::mt19937_64 random(1);
  for (const auto& [type, depth] :
       {std::pair{SampleType::kUint8, 8}, std::pair{SampleType::kUint16, 10},
        std::pair{SampleType::kUint16, 16}, std::pair{SampleType::kFloat32, 32}}) {
    FrameFormat format;
    format.width = 37;
    format.height = 11;
    format.sample_type = type;
    format.bit_depth = depth;
    const int bytes = format.bytes_per_sample();
    const std::ptrdiff_t stride = 40 * bytes;
    std::vector<std::byte> samples(stride * 11, std::byte{0});
    for (int y = 0; y < 11; ++y) {
      for (int x = 0; x < 37; ++x) {
        std::byte* at = samples.data() + y * stride + x * bytes;
        if (type == SampleType::kFloat32) {
          const float value = static_cast<float>(random() % 1000) / 1000.0F;
          std::memcpy(at, &value, 4);
        } else {
          const auto value = static_cast<std::uint16_t>(random() % (1U << depth));
          std::memcpy(at, &value, bytes);
        }
      }
    }
    const DeviceMemory in = DeviceMemory::copy_of(samples);
    const DeviceMemory out = DeviceMemory::copy_of(std::vector<std::byte>(samples.size(), std::byte{0}));
    const TestPlane plane(37, 11, std::vector<float>(37 * 11));
    load_plane(format, {in.as(), stride}, plane.plane, nullptr);
    store_plane(format, plane.plane, {out.as(), stride}, nullptr);
    const auto result = to_host<std::byte>(out, samples.size());
    if (type == SampleType::kFloat32) {
      for (std::size_t i = 0; i < samples.size(); i += 4) {
        float a = 0;
        float b = 0;
        std::memcpy(&a, &samples[i], 4);
        std::memcpy(&b, &result[i], 4);
        ASSERT_NEAR(a, b, 1e-6);
      }
    } else {
      EXPECT_EQ(result, samples) << depth << " bit";
    }
  }
}

TEST_F(Convert, RoundsToNearestAndClamps) {
  FrameFormat format;
  format.width = 6;
  format.height = 1;
  const TestPlane plane(6, 1, {-3, 0.49F, 0.5F, 254.6F, 300, 99.5F});
  const DeviceMemory out(8);
  store_plane(format, plane.plane, {out.as(), 8}, nullptr);
  EXPECT_EQ(to_host<std::uint8_t>(out, 6), (std::vector<std::uint8_t>{0, 0, 1, 255, 255, 100}));
}

TEST_F(Convert, OpponentColorsAreThoseOfTheDefinition) {
  const TestPlane r(3, 1, {255, 0, 10});
  const TestPlane g(3, 1, {0, 255, 20});
  const TestPlane b(3, 1, {0, 0, 60});
  rgb_to_opponent({r.plane, g.plane, b.plane}, nullptr);
  const std::vector<std::vector<float>> expected = {{85, 85, 30}, {127.5F, 0, -25}, {63.75F, -127.5F, 7.5F}};
  const TestPlane* planes[] = {&r, &g, &b};
  for (int p = 0; p < 3; ++p) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(planes[p]->download()[i], expected[p][i], 1e-4);
    }
  }
  opponent_to_rgb({r.plane, g.plane, b.plane}, nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(r.download()[i], r.samples[i], 1e-3);
    EXPECT_NEAR(g.download()[i], g.samples[i], 1e-3);
    EXPECT_NEAR(b.download()[i], b.samples[i], 1e-3);
  }
}

TEST_F(Convert, SubsamplingAveragesWhatLiesUnderASample) {
  const TestPlane in(5, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const TestPlane out(3, 2, std::vector<float>(6));
  subsample(in.plane, 1, 1, out.plane, nullptr);
  EXPECT_EQ(out.download(), (std::vector<float>{4, 6, 7.5F, 11.5F, 13.5F, 15}));
  const TestPlane wide(3, 3, std::vector<float>(9));
  subsample(in.plane, 1, 0, wide.plane, nullptr);
  EXPECT_EQ(wide.download(), (std::vector<float>{1.5F, 3.5F, 5, 6.5F, 8.5F, 10, 11.5F, 13.5F, 15}));
}

}  // namespace
}  // namespace limpid::cuda
