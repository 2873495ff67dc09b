// SPDX-License-Identifier: MIT
#include "bench/support/y4m_clip.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/error.h"

namespace limpid::benchmarks {
namespace {

struct StoredPlane {
  int width = 0;
  int height = 0;
  std::vector<char> samples;
};

// The position in a stored plane of `length` samples for position `i` of one of `wanted` samples.
int stored_position(int i, int wanted, int length) {
  const int shifted = wanted < length ? i + (length - wanted) / 2 : i;
  const int reduced = shifted % (2 * length);
  return reduced < length ? reduced : 2 * length - 1 - reduced;
}

template <typename Sample>
void fill(const StoredPlane& from, int shift, const Plane& to) {
  for (int y = 0; y < to.height; ++y) {
    const char* const row =
        from.samples.data() +
        static_cast<std::ptrdiff_t>(stored_position(y, to.height, from.height)) * from.width;
    for (int x = 0; x < to.width; ++x) {
      const int sample = static_cast<unsigned char>(row[stored_position(x, to.width, from.width)]);
      to.row<Sample>(y)[x] = static_cast<Sample>(sample << shift);
    }
  }
}

// The planes with their sizes by the file's header.
std::vector<StoredPlane> planes_of(std::istream& in, const std::filesystem::path& file) {
  std::string line;
  std::getline(in, line);
  std::istringstream words(line);
  std::string word;
  words >> word;
  bool fits = word == "YUV4MPEG2";
  int width = 0;
  int height = 0;
  while (words >> word) {
    const std::string value = word.substr(1);
    if (word[0] == 'W') {
      width = std::atoi(value.c_str());
    } else if (word[0] == 'H') {
      height = std::atoi(value.c_str());
    } else if (word[0] == 'C') {
      fits = fits && value.starts_with("420") && value.find('p', 3) != 3;
    }
  }
  if (!fits || width <= 0 || height <= 0) {
    throw Error(file.string() + " is not a y4m file of 8-bit 4:2:0 samples");
  }
  std::vector<StoredPlane> planes(3, {(width + 1) / 2, (height + 1) / 2, {}});
  planes[0] = {width, height, {}};
  for (StoredPlane& plane : planes) {
    plane.samples.resize(static_cast<std::size_t>(plane.width) * plane.height);
  }
  return planes;
}

bool read_planes(std::istream& in, std::vector<StoredPlane>& planes) {
  std::string line;
  if (!std::getline(in, line) || !line.starts_with("FRAME")) {
    return false;
  }
  for (StoredPlane& plane : planes) {
    in.read(plane.samples.data(), static_cast<std::streamsize>(plane.samples.size()));
  }
  return static_cast<bool>(in);
}

}  // namespace

std::vector<Frame> read_y4m(const std::filesystem::path& file, Engine& engine, const FrameFormat& format,
                            int most) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw Error(file.string() + " cannot be opened");
  }
  std::vector<StoredPlane> planes = planes_of(in, file);
  std::vector<Frame> frames;
  while (static_cast<int>(frames.size()) < most && read_planes(in, planes)) {
    const Frame& frame = frames.emplace_back(engine.allocate_frame(format));
    for (int p = 0; p < format.plane_count(); ++p) {
      if (format.sample_type == SampleType::kUint8) {
        fill<std::uint8_t>(planes[p], 0, frame.planes[p]);
      } else {
        fill<std::uint16_t>(planes[p], format.bit_depth - 8, frame.planes[p]);
      }
    }
  }
  if (frames.empty()) {
    throw Error(file.string() + " has no frames");
  }
  return frames;
}

}  // namespace limpid::benchmarks
