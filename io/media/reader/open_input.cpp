// SPDX-License-Identifier: MIT
#include "io/media/reader/open_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

extern "C" {
#include <libavdevice/avdevice.h>
#include <libavutil/mem.h>
}

#include "core/base/error.h"
#include "core/base/system.h"
#include "core/base/system/posix.h"
#include "core/base/thread.h"
#include "io/media/camera.h"
#include "io/media/container_header.h"
#include "io/media/traits.h"

namespace limpid::io {
namespace {

constexpr int kStandardInput = 0;
constexpr int kPipeBuffer = 1 << 16;
constexpr int kPatienceMilliseconds = 50;

int open_pipe(const std::string& url) {
  if (url == "-") {
    return kStandardInput;
  }
  // Does not wait for a writer.
  const int descriptor = posix::open(url.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    check(AVERROR(errno), url, "can't open it");
  }
  return descriptor;
}

}  // namespace

bool PipeInput::is_pipe(const std::string& url) {
  std::error_code ignored;
  return url == "-" || std::filesystem::is_fifo(url, ignored);
}

PipeInput::PipeInput(const std::string& url, std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)),
      descriptor_(open_pipe(url)),
      bytes_(avio_alloc_context(
          make_io_buffer(kPipeBuffer), kPipeBuffer, 0, this,
          [](void* self, std::uint8_t* buffer, int size) {
            return static_cast<PipeInput*>(self)->read(buffer, size);
          },
          nullptr, nullptr)) {
  if (bytes_ == nullptr) {
    throw Error("out of memory");
  }
}

PipeInput::~PipeInput() {
  av_freep(&bytes_->buffer);
  avio_context_free(&bytes_);
  if (descriptor_ != kStandardInput) {
    posix::close(descriptor_);
  }
}

int PipeInput::read(std::uint8_t* buffer, int size) const {
  while (!interrupted_ || !interrupted_()) {
    if (!posix::wait_to_read(descriptor_, kPatienceMilliseconds)) {
      continue;
    }
    const std::ptrdiff_t count = posix::read(descriptor_, buffer, static_cast<std::size_t>(size));
    if (count > 0) {
      return static_cast<int>(count);
    }
    if (count == 0) {
      return AVERROR_EOF;
    }
    if (errno != EINTR && errno != EAGAIN) {
      return AVERROR(errno);
    }
  }
  return AVERROR_EXIT;
}

namespace {

/// libav's form of a file's name: "pipe:0" for "-", and a file whose name contains a colon does not become a
/// protocol.
std::string libav_url(const std::string& url) {
  if (url == "-") {
    return "pipe:0";
  }
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(url, ignored) || url.starts_with("pipe:");
  return !has_protocol(url) && is_file ? "file:" + url : url;
}

constexpr const char* kNoHeic =
    "HEIC pictures are not supported by this version of FFmpeg; convert it to TIFF or PNG, for example with "
    "heif-convert";

[[noreturn]] void throw_reference(const std::string& url, const std::string& demuxer) {
  throw Error(url + ": is a list of other files (" + demuxer +
              "), which are read only with --allow-references");
}

/// Throws an error for faults of a file that can be detected without opening it.
void look_at_file(const std::string& url) {
  std::error_code ignored;
  if (std::filesystem::is_directory(url, ignored)) {
    throw Error(url + ": is a directory, not a file");
  }
  if (std::filesystem::is_regular_file(url, ignored) && std::filesystem::file_size(url, ignored) == 0) {
    throw NoVideo(url + ": the file is empty", false);
  }
}

/// The first 64 bytes, with zeros behind a shorter file.
std::string first_bytes(const std::string& url) {
  std::string begin(132, '\0');
  std::ifstream file(path_of(url), std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin;
}

/// True for files with the boxes of MP4 or MOV that libav refuses because their index is missing.
bool lacks_index(const std::string& url) {
  const std::string box = first_bytes(url).substr(4, 4);
  return (box == "ftyp" || box == "mdat" || box == "wide" || box == "free" || box == "skip") &&
         first_logged_error().find("moov atom not found") != std::string::npos;
}

/// True for files of the HEIF family with HEVC pictures, by their brands (ISO/IEC 23008-12).
bool is_heic(const std::string& url) {
  const std::string begin = first_bytes(url);
  constexpr std::array<std::string_view, 4> kNames{"heic", "heix", "heim", "heis"};
  return begin.compare(4, 4, "ftyp") == 0 && std::ranges::any_of(kNames, [&](std::string_view name) {
           return begin.find(name) != std::string::npos;
         });
}

/// Refuses cameras, and formats for which libav's errors are misleading, by their signatures.
void refuse_unsupported(const std::string& url) {
  std::error_code ignored;
  if (url.starts_with("/dev/video")) {
    throw UsageError(url + ": is a camera; limpid webcam " + url +
                     " shows it, and with --record FILE records it denoised");
  }
  if (!std::filesystem::is_regular_file(url, ignored)) {
    return;  // reading would consume what is in a pipe
  }
  const std::string begin = first_bytes(url);
  constexpr char kAnimation = 2;  // of the flags of a VP8X chunk
  if (begin.compare(8, 8, "WEBPVP8X") == 0 && (begin[20] & kAnimation) != 0) {
    throw NoVideo(url + ": animated WebP is not supported; convert it, for example to APNG", true);
  }
  if (begin.compare(128, 4, "DICM") == 0) {
    throw NoVideo(url + ": DICOM is not supported; export its pictures as TIFF", true);
  }
}

/// libav's error is misleading for devices that are not cameras.
void explain_camera_failure(const std::string& url, const AVInputFormat* requested) {
  std::error_code ignored;
  if (requested == nullptr || !std::string_view(requested->name).starts_with("video4linux2") ||
      !std::filesystem::exists(url, ignored)) {
    return;
  }
  if (!std::filesystem::is_character_file(url, ignored)) {
    throw Error(url + ": is not a camera");
  }
  list_cameras(url);  // throws the reason
}

[[noreturn]] void explain_failure(int code, const std::string& url, const ReaderOptions& options,
                                  bool is_pipe, const AVIOInterruptCB& interrupt) {
  if (url != "-" && !has_protocol(url) && options.input_format.empty()) {
    look_at_file(url);
  }
  if (code == AVERROR_INVALIDDATA && is_heic(url)) {
    throw NoVideo(url + ": " + kNoHeic, true);
  }
  if (code == AVERROR_INVALIDDATA && lacks_index(url)) {
    throw NoVideo(
        url +
            ": its index (moov) is missing, because the recording was not finished; recover it first, for "
            "example with untrunc",
        false);
  }
  if (code == AVERROR_INVALIDDATA) {
    throw NoVideo(url + ": no video or picture found in it", false);
  }
  if (code == AVERROR(EINVAL) && !options.allow_references && !is_pipe) {
    const std::string name = demuxer_of_references(libav_url(url), interrupt);
    if (!name.empty()) {
      throw_reference(url, name);
    }
  }
  if (code == AVERROR(EBUSY) && options.input_format.empty()) {
    // from libav's y4m demuxer
    throw Error(url + ": the picture size in its header is not possible");
  }
  if (code == AVERROR(EINVAL) && !options.options.empty()) {
    throw UsageError(url + ": can't open it with the options given" + logged_reason());
  }
  if (code == AVERROR(ENOENT) && is_sequence(url)) {
    throw Error(
        url +
        ": no picture of this sequence was found (--input-option start_number=N sets the first number)");
  }
  if (std::error_code ignored; code == AVERROR(EIO) && std::filesystem::is_regular_file(url, ignored)) {
    throw Error(url + ": can't open it: the file is cut off or damaged in its header");
  }
  check(code, url, "can't open it");
  throw Error(url + ": can't open it");
}

}  // namespace

const AVInputFormat* requested_format(const std::string& url, const ReaderOptions& options) {
  const AVInputFormat* format = nullptr;
  if (!options.input_format.empty()) {
    avdevice_register_all();
    format = av_find_input_format(options.input_format.c_str());
    if (format == nullptr) {
      throw UsageError("no input format is called '" + options.input_format + "'");
    }
  }
  if (options.local_only) {
    require_local_source(libav_url(url), format, options.options);
  }
  if (format != nullptr && !options.allow_references && follows_references(*format) &&
      !is_address_for(url, *format)) {
    throw_reference(url, format->name);
  }
  return format;
}

InputHandle open_input(const std::string& url, const std::string& pattern, const ReaderOptions& options,
                       const AVInputFormat* requested, AVIOContext* bytes, const AVIOInterruptCB& interrupt,
                       Dictionary& unused) {
  UnopenedInputHandle context(avformat_alloc_context());
  if (context == nullptr) {
    throw Error("out of memory");
  }
  context->interrupt_callback = interrupt;
  context->pb = bytes;
  if (requested != nullptr && is_live(*requested)) {
    // A read that waits in the driver could not be interrupted, and frames queued during probing are
    // outdated.
    context->flags |= AVFMT_FLAG_NONBLOCK | AVFMT_FLAG_NOBUFFER;
  }
  if (options.local_only) {
    context->protocol_whitelist = av_strdup(kLocalProtocols);
  }
  const AVInputFormat* found = pattern.empty() ? requested : av_find_input_format("image2");
  if (found == nullptr && !options.allow_references) {
    context->format_whitelist = av_strdup(demuxers_without_references(url).c_str());
    // Probes as libav would: a pipe cannot be read again to report why it was refused.
    if (bytes != nullptr && av_probe_input_buffer2(bytes, &found, url.c_str(), context.get(), 0, 0) >= 0 &&
        follows_references(*found)) {
      throw_reference(url, found->name);
    }
  }
  if (bytes == nullptr && requested == nullptr && pattern.empty() && !has_protocol(url)) {
    refuse_unsupported(url);
  }
  forget_logged_messages();
  AVFormatContext* opened = context.release();  // freed by libav on failure
  const std::string name = pattern.empty() ? libav_url(url) : pattern;
  const int code = avformat_open_input(&opened, name.c_str(), found, unused.get());
  InputHandle input(opened);
  if (code < 0) {
    explain_camera_failure(url, requested);
    explain_failure(code, url, options, bytes != nullptr, interrupt);
  }
  if (has_picture_tiles(*input)) {
    throw NoVideo(url +
                      ": its picture consists of tiles, which are not supported; convert it to TIFF or PNG, "
                      "for example with heif-convert",
                  true);
  }
  if (input->nb_streams == 0 && is_heic(url)) {
    throw NoVideo(url + ": " + kNoHeic, true);
  }
  if (requested == nullptr && traits_of(*input->iformat).draws_text) {
    throw NoVideo(url + ": no video or picture found in it", false);
  }
  return input;
}

namespace {

// Several seconds: video may stall for a while.
constexpr std::size_t kMostSoundPackets = 500;

}  // namespace

SoundDevice::SoundDevice(const std::string& url, const std::string& format, std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)), needs_pace_(format == "lavfi") {
  avdevice_register_all();
  const AVInputFormat* const demuxer = av_find_input_format(format.c_str());
  if (demuxer == nullptr) {
    throw UsageError("--audio: libavdevice has no input '" + format + "'");
  }
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) {
    throw Error("out of memory");
  }
  context->interrupt_callback = {
      .callback = [](void* own) { return static_cast<SoundDevice*>(own)->is_interrupted() ? 1 : 0; },
      .opaque = this};
  context->flags |= AVFMT_FLAG_NONBLOCK;  // a blocking device does not notice an interrupt
  forget_logged_messages();
  if (const int code = avformat_open_input(&context, url.c_str(), demuxer, nullptr); code < 0) {
    throw Error(url + ": the audio device cannot be opened: " + error_text(code) + logged_reason());
  }
  input_.reset(context);
  avformat_find_stream_info(context, nullptr);
  const int best = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
  if (best < 0) {
    throw Error(url + ": has no audio");
  }
  stream_ = context->streams[best];
  thread_ = start_thread([this] {
    try {
      read_all();
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex_);
      failure_ = error.what();
    }
  });
}

SoundDevice::~SoundDevice() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  taken_.notify_all();
}

// Waits for the time of the packet.
void SoundDevice::wait_for(const AVPacket& packet, std::unique_lock<std::mutex>& lock) {
  const std::chrono::microseconds time(av_rescale_q(packet.pts, stream_->time_base, kMicrosecond));
  zero_ = zero_.value_or(std::chrono::steady_clock::now() - time);
  taken_.wait_until(lock, *zero_ + time, [this] { return is_interrupted(); });
}

void SoundDevice::read_all() {
  while (!is_interrupted()) {
    PacketHandle packet = make_packet();
    const int code = av_read_frame(input_.get(), packet.get());
    std::unique_lock lock(mutex_);
    if (code == AVERROR(EAGAIN)) {
      constexpr std::chrono::milliseconds kPause{5};
      taken_.wait_for(lock, kPause);
    } else if (code < 0) {
      failure_ = error_text(code);
      return;
    } else if (packet->stream_index == stream_->index) {
      if (needs_pace_) {
        wait_for(*packet, lock);
      }
      taken_.wait(lock, [this] { return packets_.size() < kMostSoundPackets || is_interrupted(); });
      packets_.push_back(std::move(packet));
    }
  }
}

PacketHandle SoundDevice::take() {
  const std::scoped_lock lock(mutex_);
  if (packets_.empty()) {
    return nullptr;
  }
  PacketHandle packet = std::move(packets_.front());
  packets_.pop_front();
  taken_.notify_all();
  return packet;
}

std::string SoundDevice::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

}  // namespace limpid::io
