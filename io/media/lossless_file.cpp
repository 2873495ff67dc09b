// SPDX-License-Identifier: MIT
#include "io/media/lossless_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

extern "C" {
#include <libavutil/opt.h>
}

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system/posix.h"
#include "io/media/first_frame_check.h"
#include "io/media/libav.h"
#include "io/media/pixel_format.h"
#include "io/media/reader.h"
#include "io/media/samples.h"
#include "io/media/segments.h"

namespace limpid::io {
namespace {

/// The densest codec first; the last one supports every format.
constexpr std::array kLosslessCodecs{AV_CODEC_ID_FFV1, AV_CODEC_ID_FFVHUFF, AV_CODEC_ID_RAWVIDEO};

const AVCodec& lossless_encoder(AVPixelFormat format, const std::string& path) {
  for (const AVCodecID id : kLosslessCodecs) {
    const AVCodec* const codec = avcodec_find_encoder(id);
    if (codec == nullptr) {
      continue;
    }
    const std::span<const AVPixelFormat> formats = pixel_formats_of(*codec);
    if (formats.empty() || std::ranges::find(formats, format) != formats.end()) {
      return *codec;
    }
  }
  throw Error(path + ": there is no lossless encoder for " + name_of(format));
}

CodecHandle make_context(const AVCodec& codec, const FrameFormat& format, int threads) {
  CodecHandle context(avcodec_alloc_context3(&codec));
  if (context == nullptr) {
    throw Error(kOutOfMemory);
  }
  context->width = format.width;
  context->height = format.height;
  context->pix_fmt = pixel_format(format);
  context->time_base = {1, 1};
  context->thread_type = FF_THREAD_SLICE;  // frame threads would delay frames
  context->thread_count = threads;
  return context;
}

}  // namespace

struct LosslessWriter::State {
  std::string path;
  FrameFormat format;
  CodecHandle encoder;
  FirstFrameCheck check;
  std::optional<PacketFileWriter> file;
  LibavFramePool packed;
  std::int64_t frames = 0;
};

LosslessWriter::LosslessWriter(const std::string& path, const std::string& temporary,
                               const FrameFormat& format, int threads)
    : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->format = format;
  const AVCodec& codec = lossless_encoder(pixel_format(format), path);
  state_->encoder = make_context(codec, format, threads);
  if (codec.id == AV_CODEC_ID_FFV1) {
    // Version 3 has slices, which lose chroma with a quarter of luma's width and are wrong if a side has a
    // single sample.
    constexpr int kLeastSide = 4;
    const bool is_small = format.plane_width(format.color_plane_count() - 1) < kLeastSide ||
                          format.plane_height(format.color_plane_count() - 1) < kLeastSide;
    state_->encoder->level = format.chroma_shift_x > 1 || is_small ? 1 : 3;
  }
  forget_logged_messages();
  if (const int code = avcodec_open2(state_->encoder.get(), &codec, nullptr); code < 0) {
    throw Error(path + ": the encoder " + codec.name + " can't be used for " + to_string(format) + ": " +
                error_text(code) + logged_reason());
  }
  state_->check = FirstFrameCheck(path, *state_->encoder, FirstFrameCheck::Demand::kEqual);
  state_->file.emplace(path, temporary, *state_->encoder);
}

LosslessWriter::~LosslessWriter() = default;

void LosslessWriter::write(const Frame& frame) {
  State& state = *state_;
  const AVPixelFormat target = state.encoder->pix_fmt;
  FrameHandle picture;
  if (is_planar(target)) {
    picture = view_of(frame, target);
  } else {
    picture = state.packed.take(target, frame.format.width, frame.format.height);
    pack(frame, *picture);
  }
  picture->pts = state.frames++;
  state.check.note_sent(*picture);
  check(avcodec_send_frame(state.encoder.get(), picture.get()), state.path, "can't encode a frame");
  const PacketHandle packet = make_packet();
  check(avcodec_receive_packet(state.encoder.get(), packet.get()), state.path, "can't encode a frame");
  state.check.note_encoded(*packet);
  state.file->write(*packet);
}

void LosslessWriter::finish() { state_->file->finish(); }
std::int64_t LosslessWriter::bytes() const { return state_->file->bytes(); }

struct LosslessReader::State {
  State(const std::string& of, const FrameFormat& frames)
      : path(of), format(frames), file(of, frames.width, frames.height) {}

  std::string path;
  FrameFormat format;
  PacketFileReader file;
  CodecHandle decoder;
  FramePool pool;
};

LosslessReader::LosslessReader(const std::string& path, const FrameFormat& format)
    : state_(std::make_unique<State>(path, format)) {
  const std::string name = state_->file.parameters().substr(0, state_->file.parameters().find(' '));
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get_by_name(name.c_str());
  const AVCodec* const codec = descriptor == nullptr ? nullptr : avcodec_find_decoder(descriptor->id);
  if (codec == nullptr) {
    throw Error(path + ": there is no decoder for " + name);
  }
  state_->decoder = make_context(*codec, format, 0);
  const std::string& extradata = state_->file.extradata();
  state_->decoder->extradata =
      static_cast<std::uint8_t*>(av_mallocz(extradata.size() + AV_INPUT_BUFFER_PADDING_SIZE));
  if (state_->decoder->extradata == nullptr) {
    throw Error(kOutOfMemory);
  }
  std::ranges::copy(extradata, state_->decoder->extradata);
  state_->decoder->extradata_size = static_cast<int>(extradata.size());  // limited by PacketFileReader
  check(avcodec_open2(state_->decoder.get(), codec, nullptr), path, "can't open the decoder");
}

LosslessReader::~LosslessReader() = default;

std::optional<Frame> LosslessReader::read() {
  State& state = *state_;
  const PacketHandle packet = state.file.read();
  if (packet == nullptr) {
    return std::nullopt;
  }
  check(avcodec_send_packet(state.decoder.get(), packet.get()), state.path, "can't decode a frame");
  const FrameHandle picture = make_frame();
  check(avcodec_receive_frame(state.decoder.get(), picture.get()), state.path, "can't decode a frame");
  if (picture->width != state.format.width || picture->height != state.format.height ||
      picture->format != pixel_format(state.format)) {
    throw Error(state.path + ": its frames are not " + to_string(state.format));
  }
  Frame frame = state.pool.allocate(state.format);
  unpack(*picture, frame);
  return frame;
}

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
