#pragma once

// A file of a container, of any streams. Private to io.

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

/// Writes header, packets and trailer. Streams, tags and chapters are put into context() before begin().
class Muxer {
 public:
  /// `file` is where the bytes go; null for muxers that open what they write to.
  Muxer(std::string url, const AVOutputFormat& container, std::unique_ptr<OutputFile> file);

  AVFormatContext& context() { return *context_; }
  /// The stream of write_video().
  AVStream& add_video();

  /// Sets an option that `encoder` does not know. Throws UsageError if the container does not know it either.
  void set_option(const std::string& key, const std::string& value, const std::string& encoder);
  /// Writes the header.
  void begin();

  /// Both throw DiskFull once what follows has to go into the space that is kept for the end. write() counts
  /// damaged packets and leaves them out.
  void write_video(PacketHandle packet, AVRational time_base);
  void write(PacketHandle packet, AVRational time_base, int stream);

  /// Writes the trailer. `edit` makes the final bytes from those that have been written, in a file that has a
  /// temporary name.
  void end(const std::function<Bytes(BytesView)>& edit = {});
  /// Gives an ended file its name, see OutputFile::commit().
  void commit(const std::function<void(const std::string&)>& when_whole);
  /// Gives it the name of a partial file, which it returns; empty if the muxer has opened what it writes to.
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
  int video_ = -1;                      ///< index of the stream
  std::vector<std::int64_t> last_dts_;  ///< by stream
  std::int64_t damaged_packets_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
};

/// Gives a packet the times that muxers insist on: those of decoding known and increasing, from `last` on,
/// which becomes the packet's. Containers may allow that they repeat.
void set_increasing_times(AVPacket& packet, std::int64_t& last, bool may_repeat);

}  // namespace limpid::io
