#pragma once

// Sound in another codec, for containers that can't hold the source's. Private to io.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/media/libav.h"

struct AVAudioFifo;
struct SwrContext;

namespace limpid::io {

/// By the encoder's own name, or the codec's. Throws UsageError if there is no audio encoder of that name, or
/// the container certainly can't hold what it makes.
const AVCodec& find_audio_encoder(const std::string& name, const AVOutputFormat& container,
                                  const std::string& url);

/// Those that suit the container, best first: AAC for mp4, mov and ts; Opus for webm; MP3 for avi, or AC-3
/// for more than two channels; what the muxer suggests for others. Whether the container holds what they make
/// isn't certain.
std::vector<const AVCodec*> suitable_audio_encoders(const AVOutputFormat& container, int channels);

/// Throws UsageError if `bitrate` ("160k") is none.
void check_audio_bitrate(const std::string& bitrate);

struct AudioEncoding {
  std::string bitrate;             ///< empty: what suits the codec and the number of channels
  bool global_header = false;      ///< the container wants the codec's header apart from its packets
  bool counts_samples = false;     ///< the container stores no times: the sound begins at zero
  std::optional<int> sample_rate;  ///< that the container insists on
};

/// Decodes the packets of a stream of sound and encodes them anew. The sound keeps its times, which are
/// counted in samples: gaps of more than 20 ms become silence, what overlaps is left out, and the encoder's
/// priming lies before the first sample. Channels are kept where the encoder has a layout for them, and mixed
/// where not. In the manner of libav: after each send() and after flush(), receive() until it returns
/// nothing. Functions throw Error with a sentence that begins with `subject`.
class AudioTranscoder {
 public:
  AudioTranscoder(const AVStream& source, const AVCodec& codec, const AudioEncoding& encoding,
                  std::string subject);
  AudioTranscoder(const AudioTranscoder&) = delete;
  AudioTranscoder& operator=(const AudioTranscoder&) = delete;
  AudioTranscoder(AudioTranscoder&&) = delete;
  AudioTranscoder& operator=(AudioTranscoder&&) = delete;
  ~AudioTranscoder();

  const AVCodecContext& encoder() const { return *encoder_; }
  /// ", mixed from 5.1 to stereo" and the like; empty if only the codec changes.
  const std::string& changes() const { return changes_; }

  /// `packet`'s times are those of the source's stream.
  void send(const AVPacket& packet);
  /// No more packets will be sent.
  void flush();
  /// The next packet in encoder().time_base.
  PacketHandle receive();

  /// Packets that could not be decoded so far; there is silence in their place.
  std::int64_t damaged_packets() const { return damaged_packets_; }

 private:
  void open_decoder(const AVStream& source);
  void open_encoder(const AVCodec& codec, const AudioEncoding& encoding);
  void set_up_resampler(const AVFrame& frame);
  bool feed_encoder();
  void encode_frame();
  bool decode_frame();
  void place(const AVFrame& frame);
  void set_apart(std::int64_t gap);
  void drain_resampler();
  FrameHandle make_samples(int count) const;
  void convert(const AVFrame* frame);
  void append(AVFrame& samples);
  void append_silence();

  struct ResamplerDeleter {
    void operator()(SwrContext* context) const;
  };
  struct FifoDeleter {
    void operator()(AVAudioFifo* fifo) const;
  };

  std::string subject_;
  std::string changes_;
  AVRational source_time_base_;
  CodecHandle decoder_;
  CodecHandle encoder_;
  int frame_size_ = 0;  ///< samples that the encoder takes at once
  bool counts_samples_;

  std::unique_ptr<SwrContext, ResamplerDeleter> resampler_;
  // What the resampler has been set up for.
  std::uint64_t channels_ = 0;
  int sample_format_ = AV_SAMPLE_FMT_NONE;
  int sample_rate_ = 0;

  // In samples of the encoder's rate.
  std::unique_ptr<AVAudioFifo, FifoDeleter> waiting_;  ///< for the encoder
  std::optional<std::int64_t> position_;               ///< time of the end of what waits
  std::int64_t silence_ = 0;                           ///< that follows it
  std::int64_t surplus_ = 0;                           ///< to leave out of what is converted next
  FrameHandle decoded_;                                ///< what comes behind the silence
  bool draining_ = false;                              ///< no more packets come
  bool flushed_ = false;                               ///< the encoder has got everything
  std::int64_t damaged_packets_ = 0;
};

}  // namespace limpid::io
