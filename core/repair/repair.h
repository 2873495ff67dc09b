// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/scene.h"

namespace limpid {

/// The defects that are repaired before frames are filtered.
enum class Repair : std::uint8_t {
  kOff,
  kPixels,  ///< hot and dead pixels of the sensor
  kRows,    ///< noise that all samples of a row or of a column have in common
  kDust,    ///< dust, dirt and dropouts of a single frame
  kAll,
};
constexpr bool includes(Repair choice, Repair kind) { return choice == kind || choice == Repair::kAll; }

/// A sample of a plane that shows the same defect in all frames.
struct DefectivePixel {
  std::int32_t plane = 0;
  std::int32_t y = 0;
  std::int32_t x = 0;
  bool operator==(const DefectivePixel&) const = default;
  bool operator<(const DefectivePixel& other) const {
    return std::tie(plane, y, x) < std::tie(other.plane, other.y, other.x);
  }
};

/// The defects of a frame that are measured in several frames.
struct Defects {
  std::vector<DefectivePixel> pixels;
  /// Standard deviations of the offsets of each plane's rows, then of its columns, in 8-bit code values.
  std::array<std::array<float, 2>, 3> lines{};
  bool operator==(const Defects&) const = default;
};

namespace repair {

/// An 8-bit code value in units of Samples.
inline constexpr int kUnit = 16;
/// Side of the tiles in which detail is measured, in samples.
inline constexpr int kTile = 16;

constexpr int tiles_along(int length) { return (length + kTile - 1) / kTile; }

/// A plane of a frame in host memory, in units of 1/16 of an 8-bit code value, 0 to 4095.
struct Samples {
  int width = 0;
  int height = 0;
  std::vector<std::int16_t> values;  ///< row by row

  const std::int16_t* row(int y) const { return values.data() + std::ptrdiff_t{y} * width; }
};
/// The detail and noise of each tile: the mean absolute difference of a sample from the median of its four
/// neighbors.
std::vector<int> detail_of(const Samples& samples);

/// Rows and columns of samples or tiles.
struct Box {
  int left, top, right, bottom;

  bool contains(int x, int y) const { return x >= left && x < right && y >= top && y < bottom; }
  /// The box with a margin, within `all`.
  Box wider(int margin, const Box& all) const {
    return {std::max(left - margin, all.left), std::max(top - margin, all.top),
            std::min(right + margin, all.right), std::min(bottom + margin, all.bottom)};
  }
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        visit(x, y);
      }
    }
  }
};

/// The samples of a plane, or of a part of it.
Samples samples_of(const Frame& frame, int plane, std::optional<Box> part = std::nullopt);

/// A frame, with the samples and the detail of its plane of brightness.
struct Picture {
  explicit Picture(const Frame& of) : frame(of), samples(samples_of(of, brightness_plane(of.format))) {}

  Frame frame;
  Samples samples;
  std::vector<int> detail = detail_of(samples);
};
/// Replaces samples that neither neighbor confirms along motion in `out`, which has the samples of `now`.
/// Returns the number of samples that were replaced in the plane of brightness.
std::int64_t repair_dust(const Picture& before, const Picture& now, const Picture& after, Frame& out);

}  // namespace repair

/// Samples, rows and columns that were repaired, summed over frames.
struct RepairCounts {
  std::int64_t pixels = 0;
  std::int64_t rows = 0;
  std::int64_t dust = 0;
};

/// Repairs the defects of a stream of frames in host memory. Frames without defects pass unchanged, others
/// are copies. The result depends on the frame, its defects, and reach() frames before and after.
/// Deterministic.
///
/// Defects of pixels and rows are measured in blocks of kBlock frames. A pixel is defective in a block if it
/// is an outlier throughout the block, and if it is proven in this block or in one of the kBlocks - 1 before:
/// by motion, as the samples around it change and its excess does not, or as it stands alone on a flat ground
/// with noise.
class Repairer {
 public:
  static constexpr int kBlock = 8;
  static constexpr int kBlocks = 8;

  explicit Repairer(Repair choice) : choice_(choice) {}

  /// True if defects are measured in several frames.
  static constexpr bool is_measured(Repair choice) {
    return choice != Repair::kOff && choice != Repair::kDust;
  }
  /// The neighbors on whose samples a repaired frame depends, apart from its defects.
  static constexpr int reach(Repair choice) { return includes(choice, Repair::kDust) ? 1 : 0; }
  static Reach reach_with(Repair choice, Reach of_filter) {
    of_filter.before += reach(choice);
    of_filter.after += reach(choice);
    return of_filter;
  }
  /// The number of later frames that must be sent before a frame is repaired, if its defects are measured.
  static constexpr int look_ahead(Repair choice) {
    return reach(choice) + (is_measured(choice) ? kBlock - 1 : 0);
  }

  /// A frame and its defects.
  struct Item {
    Frame frame;
    Defects defects;
  };
  /// Takes the next frame and measures its defects.
  void send(Frame frame);
  /// Takes the next frame, whose defects are known.
  void send(Frame frame, const Defects& defects);
  /// The next repaired frame. Returns nothing until more frames are sent or the stream is flushed.
  std::optional<Item> receive();
  void flush();
  /// The repairs in all frames so far, except frames that are context only.
  const RepairCounts& counts() const { return counts_; }

 private:
  void measure();
  void find_pixels(std::span<const repair::Samples> frames, int plane);
  Frame repaired(const Frame& frame, const Defects& defects);
  void pass_on(const repair::Picture* after);

  Repair choice_;
  FramePool pool_;
  std::vector<Frame> block_;
  std::int64_t number_ = 0;                        // of the block
  Defects defects_;                                // of the last block
  std::map<DefectivePixel, std::int64_t> proven_;  // the number of the last block that proves it
  std::optional<repair::Picture> before_, current_;
  Defects current_defects_;
  std::deque<Item> repaired_;
  RepairCounts counts_;
};

}  // namespace limpid
