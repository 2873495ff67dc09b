// SPDX-License-Identifier: MIT
#pragma once

// A container file with any streams. Private to io.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/media/libav.h"
#include "io/media/output_file.h"
#include "io/media/picture_metadata.h"

namespace limpid::io {

/// Writes header, packets and trailer. Streams, tags and chapters are added to context() before begin().
class Muxer {
 public:
  /// `file` receives the bytes; null for muxers that open their output themselves.
  Muxer(std::string url, const AVOutputFormat& container, std::unique_ptr<OutputFile> file);

  AVFormatContext& context() { return *context_; }
  /// The stream for write_video().
  AVStream& add_video();

  /// Sets an option that `encoder` does not have. Throws UsageError if the container does not have it either.
  void set_option(const std::string& key, const std::string& value, const std::string& encoder);
  /// Writes the header.
  void begin();

  /// Both throw DiskFull when the disk is full except for the reserved space. write() counts damaged packets
  /// and omits them.
  void write_video(PacketHandle packet, AVRational time_base);
  void write(PacketHandle packet, AVRational time_base, int stream);

  /// Writes the trailer. `edit` converts the written bytes to the final ones, in a file that still has a
  /// temporary name.
  void end(const std::function<Bytes(BytesView)>& edit = {});
  /// Renames an ended file, see OutputFile::commit().
  void commit(const std::function<void(const std::string&)>& when_whole);
  /// Renames an incomplete file, and returns the new name; empty if there is no OutputFile.
  std::string commit_partial();

  bool is_full() const { return file_ != nullptr && file_->is_full(); }
  bool has_temporary() const { return file_ != nullptr && !file_->temporary().empty(); }
  /// May be called from any thread.
  std::int64_t bytes() const { return bytes_; }
  std::int64_t damaged_packets() const { return damaged_packets_; }

 private:
  void reserve_space();
  int interleave(PacketHandle packet, AVRational time_base, int stream);
  void check_written(int code);
  void count_bytes();

  std::string url_;
  std::unique_ptr<OutputFile> file_;
  MuxerHandle context_;
  int video_ = -1;                      ///< index of the stream of write_video()
  std::vector<std::int64_t> last_dts_;  ///< by stream
  std::int64_t damaged_packets_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
};

/// Sets the times of a packet as muxers require: a decoding time greater than `last` (or equal to it if times
/// may repeat), and a presentation time that is not earlier than the decoding time. Sets `last` to the
/// decoding time.
void set_increasing_times(AVPacket& packet, std::int64_t& last, bool may_repeat);

}  // namespace limpid::io
