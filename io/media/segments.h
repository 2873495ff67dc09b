// SPDX-License-Identifier: MIT
// A file of an encoder's packets with all their properties in libav, which no container keeps: times and
// durations in the encoder's own units, in decoding order. Truncated files are detected. Private to io.
//
//   "limpid packets 1\n"
//   parameters: a text, preceded by its size
//   extradata: preceded by its size
//   packets: a mark (1), pts, dts, duration, flags, size and number of side data; the bytes; of each side
//            data its type, size and bytes
//   end: a mark (0), the number of packets, the hash of all preceding bytes
// Numbers have 64 bits, in the machine's byte order, which the text contains.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/murmur3.h>
}

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/output_file.h"
#include "io/media/writer.h"
#include "io/media/writer/sinks.h"

namespace limpid::io {

/// A fast 64-bit hash that detects damage and different content, but not forgery.
class Digest {
 public:
  Digest() : state_(av_murmur3_alloc()) {
    if (state_ == nullptr) {
      throw Error(kOutOfMemory);
    }
    av_murmur3_init(state_.get());
  }

  void add(const void* data, std::size_t size) {
    av_murmur3_update(state_.get(), static_cast<const std::uint8_t*>(data), size);
  }
  /// Returns the hash. May be called only once.
  std::uint64_t end() {
    std::array<std::uint8_t, 16> hash{};
    av_murmur3_final(state_.get(), hash.data());
    std::array<std::uint8_t, 8> half{};
    std::copy_n(hash.begin(), half.size(), half.begin());
    return std::bit_cast<std::uint64_t>(half);
  }

 private:
  struct Deleter {
    void operator()(AVMurMur3* state) const { av_free(state); }
  };
  std::unique_ptr<AVMurMur3, Deleter> state_;
};

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }  // NOLINT(cppcoreguidelines-owning-memory)
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

/// The parameters that two encoders must have in common for their packets to form one stream, as text.
std::string parameters_text(const AVCodecContext& encoder);
std::string extradata_of(const AVCodecContext& encoder);

class PacketFileWriter {
 public:
  /// Writes to a new file at `temporary`, which finish() renames to `path`; without finish(), nothing
  /// remains.
  PacketFileWriter(std::string path, const std::string& temporary, const AVCodecContext& encoder);

  void write(const AVPacket& packet);
  /// Waits until the file is on the disk.
  void finish();
  std::int64_t bytes() const { return bytes_; }

 private:
  void put(const void* data, std::size_t size);
  void put_number(std::int64_t number) { put(&number, sizeof(number)); }
  void put_text(const std::string& text);

  std::string path_;
  FileHandle file_;
  std::optional<TemporaryFile> temporary_;
  Digest digest_;
  std::int64_t packets_ = 0;
  std::int64_t bytes_ = 0;
};

class PacketFileReader {
 public:
  /// `width` and `height`: of the frames, which limit the sizes of their packets. Throws Error if the file
  /// cannot be read or is not a packet file.
  PacketFileReader(std::string path, int width, int height);

  const std::string& parameters() const { return parameters_; }
  const std::string& extradata() const { return extradata_; }

  /// The next packet; null at the end. Throws Error if the file is damaged.
  PacketHandle read();
  /// Presentation times and flags of all packets, in file order, without reading the packets. Must be called
  /// before the first read().
  struct Entry {
    std::int64_t pts;
    bool key;
  };
  std::vector<Entry> entries();

 private:
  void get(void* data, std::size_t size);
  std::int64_t number() {
    std::int64_t value = 0;
    get(&value, sizeof(value));
    return value;
  }
  /// Reads a number from 0 to `most`.
  std::int64_t number_up_to(std::int64_t most);
  /// Reads AV_NOPTS_VALUE, or a time within the limit.
  std::int64_t time();
  /// Reads the size of the data that follows: at most `most` bytes and the rest of the file.
  std::size_t size_up_to(std::int64_t most);
  std::string text(std::int64_t most);
  void read_side_data(AVPacket& packet);
  [[noreturn]] void fail() const;

  std::string path_;
  FileHandle file_;
  std::int64_t most_packet_;  ///< bytes
  std::int64_t left_ = 0;     ///< number of bytes not read yet
  std::string parameters_;
  std::string extradata_;
  Digest digest_;
  std::int64_t packets_ = 0;
};

// One segment of a source, encoded to a packet file. Private to io.

/// The number of frames by which decoding precedes presentation: the encoder's value for the first frame, but
/// at least the number that the order of the frames requires. `presented` and `decoded` are the times of the
/// frames, in decoding order.
int reordering_of(std::span<const std::int64_t> presented, std::span<const std::int64_t> decoded);

class SegmentWriter : public Sink {
 public:
  /// Writes to a new file at `temporary`, which finish() renames to `path`.
  SegmentWriter(const std::string& path, const std::string& temporary, const AVCodecContext& encoder)
      : file_(path, temporary, encoder) {}

  void write_frame(PacketHandle frame) override;
  void finish() override;
  std::int64_t bytes() const override { return bytes_; }

  int reordering() const { return reordering_of(presented_, decoded_); }

 private:
  PacketFileWriter file_;
  std::vector<std::int64_t> presented_;  ///< presentation times of the frames, in decoding order
  std::vector<std::int64_t> decoded_;
  std::atomic<std::int64_t> bytes_ = 0;
};

// Joining of separately encoded segments to one stream. Private to io.

/// See Writer::joins_segments().
bool joins_segments(const AVCodecContext& encoder, const AVOutputFormat& container,
                    const WriterOptions& options, AVRational source_time_base);

/// Reads the files of segments in order, and sets decoding times of their packets for the whole stream.
class SegmentJoiner {
 public:
  /// `encoder` has the settings for the whole stream and must outlive this object. Errors begin with `url`.
  SegmentJoiner(std::string url, const AVCodecContext& encoder) : url_(std::move(url)), encoder_(encoder) {}

  /// See Writer::begin_segment().
  void begin(const std::string& path, int reordering);
  /// The segment's next packet, in decoding order; null at its end.
  PacketHandle read();

 private:
  std::int64_t decoding_time(std::size_t frame) const;

  std::string url_;
  const AVCodecContext& encoder_;
  std::optional<PacketFileReader> segment_;
  std::deque<std::int64_t> times_;  ///< presentation times of the frames from `first_` on, in order
  std::size_t first_ = 0;
  std::size_t frames_ = 0;              ///< number of frames that have been read
  std::size_t reordering_ = 0;          ///< number of frames by which decoding precedes presentation
  std::int64_t last_ = AV_NOPTS_VALUE;  ///< presentation time of the last frame of the previous segments
  std::int64_t lead_ = 0;               ///< time from the decoding to the presentation of the first frame
};

}  // namespace limpid::io
