// SPDX-License-Identifier: MIT
#pragma once

// Filters between the decoder and the rest of a Reader. Private to io.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/media/filter_graph.h"
#include "io/media/libav.h"
#include "io/media/reader.h"
#include "io/media/reader/decoder.h"
#include "io/media/reader/health.h"

namespace limpid::io {

/// Filters decoded frames by the chain of ReaderOptions::before. Without a chain, they pass unchanged.
class DecoderFilter {
 public:
  /// `rate`: average frames per second of the stream, which must outlive this object. Throws UsageError for a
  /// chain that is not valid or not permitted.
  DecoderFilter(const ReaderOptions& options, const AVStream& stream, AVRational rate);

  bool is_active() const { return chain_.has_value(); }
  /// Decoder::receive() with the results of the filters.
  Decoder::Status receive(Decoder& decoder, DecodedFrame& decoded, std::int64_t index);
  /// Declares that the next frame does not continue the previous one.
  void forget_position();

  /// Null before the first frame and without a chain.
  const FilterGraph* graph() const { return graph_ ? &*graph_ : nullptr; }
  /// Sentences about properties of the source that the filters do not keep.
  std::vector<std::string> losses() const { return graph_ ? graph_->losses() : std::vector<std::string>(); }

 private:
  void send(DecodedFrame decoded, const Decoder& decoder);

  const AVStream& stream_;
  AVRational rate_;
  std::optional<FilterChain> chain_;
  std::optional<FilterGraph> graph_;
  DecodedFrame marks_;  ///< marks of the frames that have been sent since the last result, without a frame
};

}  // namespace limpid::io
