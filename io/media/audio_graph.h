// SPDX-License-Identifier: MIT
#pragma once

// Decoding of audio, and its samples in one format on one timeline. Private to io.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"

struct AVAudioFifo;
struct SwrContext;

namespace limpid::io {

/// Opens a decoder for an audio stream. Throws an Error that begins with `subject`.
CodecHandle open_audio_decoder(const AVStream& stream, const std::string& subject);

/// The channels as a libav mask. Channels without positions get the default layout for their number. 0 if
/// there is no default layout.
std::uint64_t mask_of(const AVChannelLayout& layout);
AVChannelLayout layout_of(std::uint64_t mask);

/// Converts decoded frames, whose format may change at any time, to one format, and places them by their
/// times: gaps of more than 20 ms become silence, overlaps are cut off. Audio without either keeps every
/// sample. Used like libav's codecs: after each send() and after flush(), call receive() until it returns
/// nothing. Functions throw an Error that begins with `subject`.
class AudioGraph : NotCopyable {
 public:
  struct Format {
    AVSampleFormat samples = AV_SAMPLE_FMT_FLT;
    int rate = 48000;
    std::uint64_t channels = AV_CH_LAYOUT_STEREO;
  };
  /// `start`: the time of the first sample that is returned, in samples of `to.rate`; nothing: that of the
  /// first frame.
  AudioGraph(const Format& to, std::optional<std::int64_t> start, std::string subject);

  /// True for a frame that has samples and a known layout.
  static bool accepts(const AVFrame& frame);
  /// Takes an accepted frame and leaves an empty one. Its best_effort_timestamp is in `time_base`.
  void send(AVFrame& frame, AVRational time_base);
  /// Ends the stream.
  void flush() { flushed_ = true; }
  bool is_flushed() const { return flushed_; }
  /// The next `count` samples, fewer only at the end of the stream, with their time in samples as pts.
  FrameHandle receive(int count);

 private:
  void set_up_resampler();
  int waiting() const;
  bool step(int count);
  void place(std::optional<std::int64_t> begin);
  void set_apart(std::int64_t gap);
  void drain_resampler();
  FrameHandle make_samples(int count) const;
  void convert_some();
  void convert(const std::uint8_t** input, int count);
  void append(AVFrame& samples);
  void append_silence(int most);

  struct ResamplerDeleter {
    void operator()(SwrContext* context) const;
  };
  struct FifoDeleter {
    void operator()(AVAudioFifo* fifo) const;
  };

  Format to_;
  std::string subject_;
  std::unique_ptr<SwrContext, ResamplerDeleter> resampler_;
  // The input format of the resampler.
  std::uint64_t channels_ = 0;
  int sample_format_ = AV_SAMPLE_FMT_NONE;
  int sample_rate_ = 0;

  FrameHandle frame_;  ///< to convert after the silence
  int converted_ = 0;  ///< number of its samples
  // The members below count samples of the output's rate.
  std::unique_ptr<AVAudioFifo, FifoDeleter> waiting_;  ///< to be received
  std::optional<std::int64_t> start_;
  std::optional<std::int64_t> position_;  ///< end time of the waiting samples
  std::int64_t silence_ = 0;              ///< silence to insert after the waiting samples
  std::int64_t surplus_ = 0;              ///< number of samples to cut off from the next converted ones
  bool flushed_ = false;
};

}  // namespace limpid::io
