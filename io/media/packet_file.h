// SPDX-License-Identifier: MIT
#pragma once

// A file of an encoder's packets with all their properties in libav, which no container keeps: times and
// durations in the encoder's own units, in decoding order. Truncated files are detected. Private to io.
//
//   "limpid packets 1\n"
//   parameters: a text, preceded by its size
//   extradata: preceded by its size
//   packets: a mark (1), pts, dts, duration, flags, size and number of side data; the bytes; of each side
//            data its type, size and bytes
//   end: a mark (0), the number of packets, the hash of all preceding bytes
//
// Numbers have 64 bits, in the machine's byte order, which the text contains.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/media/digest.h"
#include "io/media/libav.h"
#include "io/media/output_file.h"

namespace limpid::io {

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

}  // namespace limpid::io
