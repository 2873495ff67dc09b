// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace limpid::samples {

enum class Chroma : std::uint8_t { kGray, k420, k422, k444 };

/// A clip of the two scenes of scene.h: frames 0 to cut() - 1 show the first, the others the second.
struct Clip {
  int width = 480;
  int height = 270;
  int frames = 30;
  int frames_per_second = 25;
  Chroma chroma = Chroma::k420;
  int depth = 8;             ///< bits of a sample, 8 or 10
  double sigma = 20;         ///< standard deviation of the noise in luma, in 8-bit code values at any depth
  double chroma_sigma = 20;  ///< standard deviation of the noise in both chroma planes
  std::uint64_t seed = 1;    ///< seed of the noise; the scenes do not depend on it

  /// The first frame of the second scene: half of the frames, rounded up.
  int cut() const { return (frames + 1) / 2; }
};

struct SamplePlane {
  int width = 0;
  int height = 0;
  std::vector<std::uint16_t> samples;  ///< row by row
};

/// Y or Y, Cb, Cr: BT.709, limited range, chroma sited as in MPEG-2 (left).
using Picture = std::vector<SamplePlane>;

/// The clean picture of frame `index`. Bit-exact on every machine.
Picture render(const Clip& clip, int index);

/// `clean`, which is frame `index` of the clip, with white Gaussian noise added, rounded and clamped to the
/// range of the samples. Bit-exact on every machine.
Picture add_noise(const Picture& clean, const Clip& clip, int index);

/// The header and the frames of a YUV4MPEG2 stream; 10-bit samples as little-endian words.
void write_y4m_header(std::ostream& out, const Clip& clip);
void write_y4m_frame(std::ostream& out, const Picture& picture, const Clip& clip);

}  // namespace limpid::samples
