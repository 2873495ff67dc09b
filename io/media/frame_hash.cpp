// SPDX-License-Identifier: MIT
#include "io/media/frame_hash.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "core/base/regular_file.h"
#include "core/base/system/posix.h"
#include "io/media/digest.h"
#include "io/media/reader.h"

namespace limpid::io {
namespace {

void add_samples(Digest& digest, const Frame& frame) {
  const FrameFormat& format = frame.format;
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = frame.planes.at(static_cast<std::size_t>(p));
    const auto row_bytes =
        static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(format.bytes_per_sample());
    for (int y = 0; y < plane.height; ++y) {
      digest.add(plane.row<const std::uint8_t>(y), row_bytes);
    }
  }
}

}  // namespace

std::uint64_t sample_hash(const Frame& frame) {
  Digest digest;
  add_samples(digest, frame);
  return digest.end();
}

std::uint64_t frame_hash(const Frame& frame) {
  Digest digest;
  add_samples(digest, frame);
  const double time = presentation_time(frame).value_or(-1);
  digest.add(&time, sizeof(time));
  const std::uint8_t interlaced = frame.interlaced ? 1 : 0;
  digest.add(&interlaced, 1);
  return digest.end();
}

std::uint64_t hash_of(const std::vector<std::uint64_t>& hashes) {
  Digest digest;
  digest.add(hashes.data(), hashes.size() * sizeof(std::uint64_t));
  return digest.end();
}

std::uint64_t hash_of(std::string_view text) {
  Digest digest;
  digest.add(text.data(), text.size());
  return digest.end();
}

std::uint64_t file_fingerprint(const char* path) {
  constexpr std::int64_t kPart = 1 << 16;
  constexpr std::int64_t kParts = 32;
  const FileDescriptor file(posix::open(path, O_RDONLY | O_CLOEXEC));
  posix::Stat status{};
  check(file.get() >= 0 && posix::fstat(file.get(), &status) == 0 ? 0 : AVERROR(errno), path,
        "can't read it");
  const std::int64_t size = status.st_size;
  Digest digest;
  digest.add(&size, sizeof(size));
  std::vector<std::uint8_t> bytes(kPart);
  const std::int64_t parts = std::min(kParts, (size + kPart - 1) / kPart);
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t last = std::max<std::int64_t>(size - kPart, 0);
    const std::int64_t at = parts > 1 ? last * i / (parts - 1) : 0;
    const std::ptrdiff_t count = posix::pread(file.get(), bytes.data(), bytes.size(), at);
    check(count >= 0 ? 0 : AVERROR(errno), path, "can't read it");
    digest.add(bytes.data(), static_cast<std::size_t>(count));
  }
  return digest.end();
}

}  // namespace limpid::io
