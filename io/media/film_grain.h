// SPDX-License-Identifier: MIT
// Film grain of an encoded stream. Private to io.
#pragma once

#include <optional>
#include <string>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "core/grain/film_grain.h"
#include "io/media/libav.h"
#include "io/media/writer.h"

struct AVFrame;

namespace limpid::io {

/// The film grain that the source of a decoded frame describes and that ReaderOptions::without_film_grain has
/// left out of its samples. Nothing if there is none.
std::optional<FilmGrain> film_grain_of(const AVFrame& frame);
std::optional<FilmGrain> film_grain_of(const Frame& frame);

/// Throws UsageError unless libavcodec passes a film grain table to this encoder.
void require_film_grain_encoder(const std::string& name);

/// A film grain table for libaom. libaom reads the table from a file, and encodes without grain if it cannot.
/// The first packet that must have grain is therefore decoded.
class GrainEncoding : NotCopyable {
 public:
  /// `url`: the output, for errors. Must outlive the encoder.
  GrainEncoding(std::string url, FilmGrainTable table);

  /// The parameter of libaom, in the syntax of its option aom-params.
  std::string parameter() const;
  /// To be called when the encoder is open. Throws Error if there is no decoder for the check.
  void open_check(const AVCodecContext& encoder);
  /// Decodes packets until one is checked. Throws Error if a frame has no grain that the table has grain for.
  void note_encoded(const AVPacket& packet);
  /// To be called at the end of the packets.
  void finish();

 private:
  void receive();
  void check_frame(const AVFrame& frame);

  std::string url_;
  FilmGrainTable table_;
  TemporaryFolder folder_;  ///< has the file of the table
  CodecHandle decoder_;
  std::int64_t first_pts_ = AV_NOPTS_VALUE;
  bool is_checked_ = false;
};

}  // namespace limpid::io
