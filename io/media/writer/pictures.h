// SPDX-License-Identifier: MIT
#pragma once

// Pictures, each in a file. Private to io.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "io/media/diagnostic.h"
#include "io/media/encoder.h"
#include "io/media/output_file.h"
#include "io/media/picture_metadata.h"
#include "io/media/source.h"
#include "io/media/writer/sink.h"
#include "io/media/writer/tiff_stack.h"

namespace limpid::io {

/// The metadata for the picture file of a frame that is sent to `encoder`.
PictureMetadata metadata_of(const Frame& frame, const Encoder& encoder, const Rotation& rotation,
                            bool is_stack);

/// A sink for one picture, or for a numbered sequence of pictures ("img_%03d.png"). Each file is renamed when
/// it is complete.
class Pictures : public Sink {
 public:
  Pictures(const Target& target, const Source& source, Diagnostics& diagnostics);

  void expect(const Frame& frame) override;
  void write_frame(PacketHandle frame) override;
  void finish() override;
  std::string remark() const override { return remark_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  Bytes file_of(const AVPacket& packet, const PictureMetadata& metadata, std::uint32_t base) const;

  std::string url_;
  std::string source_url_;
  const Encoder& encoder_;
  const Rotation& rotation_;
  Overwrite overwrite_;
  std::function<void(const std::string&)> when_whole_;
  std::int64_t first_;  ///< number of the first picture of a sequence, as in the source if that is a sequence
  std::unique_ptr<OutputFile> file_;     ///< the current file; null between the pictures of a sequence
  TiffStack stack_;                      ///< of a TIFF file that is not a sequence
  std::deque<PictureMetadata> waiting_;  ///< metadata of the frames in the encoder
  std::int64_t written_ = 0;
  std::int64_t last_ = first_;    ///< greatest number of a picture of a sequence
  std::int64_t pages_ = 0;        ///< of the source's file, if `stack_` is written
  bool describes_stack_ = false;  ///< in the tags of a picture
  std::string remark_;
  std::atomic<std::int64_t> bytes_ = 0;
};

}  // namespace limpid::io
