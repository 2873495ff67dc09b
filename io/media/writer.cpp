// SPDX-License-Identifier: MIT
#include "io/media/writer.h"

#include <algorithm>

#include "io/media/camera.h"
#include "io/media/encoder.h"
#include "io/media/orientation.h"
#include "io/media/output_filter.h"
#include "io/media/pixel_format.h"
#include "io/media/samples.h"
#include "io/media/segments.h"
#include "io/media/source.h"
#include "io/media/traits.h"
#include "io/media/writer/losses.h"
#include "io/media/writer/sinks.h"
#include "io/media/writer/tracks.h"

namespace limpid::io {
namespace {

/// Bits per sample of libav's pixel format of that name; 0 if there is none.
int sample_depth(const std::string& pixel_format) {
  const AVPixelFormat format = av_get_pix_fmt(pixel_format.c_str());
  return format == AV_PIX_FMT_NONE ? 0 : depth_of(format);
}

bool is_dithered(const WriterOptions& options) {
  if (!options.dither.empty() && options.dither != "none" && options.dither != "auto") {
    throw UsageError("--dither is '" + options.dither + "'; auto and none are possible");
  }
  return options.dither == "auto" && sample_depth(options.pixel_format) <= 8;
}

/// Rounds the frames of `source` for the output; null if the encoder accepts them unchanged.
std::unique_ptr<Ditherer> ditherer_for(const Source& source, const WriterOptions& options) {
  return is_dithered(options) && source.has_fractions ? std::make_unique<Ditherer>(source.format) : nullptr;
}

/// The source as the encoder sees it.
Source filtered(const Source& source, const OutputFilter* filter) {
  return filter == nullptr ? source : filter->result(source);
}

/// Throws UsageError for filters that leave linear light, which players take for the curve of BT.709.
void require_curve(const Source& source, const OutputFilter& filter, const WriterOptions& options) {
  if (filter.result(source).first.color_trc == AVCOL_TRC_LINEAR &&
      source.first.color_trc != AVCOL_TRC_LINEAR) {
    throw UsageError("--after '" + options.after +
                     "': its result is linear light, which players cannot show; end it with "
                     "zscale=t=bt709:m=bt709:r=tv,format=yuv420p");
  }
}

/// Null if there are no filters.
std::unique_ptr<OutputFilter> filter_for(const Source& source, const WriterOptions& options,
                                         const AVOutputFormat& container) {
  std::unique_ptr<OutputFilter> filter;
  if (!options.after.empty()) {
    filter =
        std::make_unique<OutputFilter>(FilterChain("--after", options.after, options.local_only), source);
    if (!traits_of(container).separate_files) {
      require_curve(source, *filter, options);
    }
  }
  if (options.color.empty()) {
    return filter;
  }
  if (options.color != "bt709") {
    throw UsageError("color: '" + options.color + "' is not supported, only bt709");
  }
  const std::string chain = chain_to_bt709(filtered(source, filter.get()));
  return std::make_unique<OutputFilter>(
      FilterChain(kForWeb, options.after + (options.after.empty() ? "" : ",") + chain, options.local_only),
      source);
}

/// The limit of a number of frames, if filters change their rate.
std::int64_t frames_after(std::int64_t frames, const Source& before, const Source& after) {
  const bool is_known = before.average_rate.num > 0 && after.average_rate.num > 0;
  return is_known ? av_rescale_q(frames, av_inv_q(before.average_rate), av_inv_q(after.average_rate))
                  : frames;
}

EncoderSource encoder_source(const Source& source, const FrameFormat& format, const Orientation& applied) {
  EncoderSource description;
  description.format = turned(format, applied).value();
  description.chroma_location = turned(source.first.chroma_location, applied);
  description.properties = &source.first;
  description.time_base = source.time_base;
  if (source.average_rate.num > 0) {
    description.frame_rate = source.average_rate;
    description.base_rate = source.base_rate.num > 0 ? source.base_rate : source.average_rate;
  }
  description.sample_aspect_ratio = source.sample_aspect_ratio;
  if (applied.transposed) {
    std::swap(description.sample_aspect_ratio.num, description.sample_aspect_ratio.den);
  }
  return description;
}

const AVOutputFormat& container_for(const std::string& url, const WriterOptions& options) {
  const AVOutputFormat& container = choose_container(url, options.container);
  if (options.local_only) {
    require_local_target(url, container);
  }
  return container;
}

PacketHandle clone_of(const Packet& packet) {
  PacketHandle clone(av_packet_clone(&packet.get()));
  if (clone == nullptr) {
    throw Error("out of memory");
  }
  return clone;
}

}  // namespace

struct Writer::State {
  State(std::string target_url, const Source& from, const WriterOptions& given);

  void write(const Frame& frame);
  void encode(const Frame& frame);
  void encode_filtered();
  void write(const Packet& packet);
  const Encoder& encoder() const { return encoder_thread->encoder(); }
  void write_encoded(PacketHandle packet);
  bool drain();
  void finish();
  std::string finish_partial();
  void begin_segment(const std::string& path, int reordering);
  bool join_frame();

  std::string url;
  const AVOutputFormat& container;
  std::unique_ptr<OutputFilter> filter;  ///< null without WriterOptions::after
  Diagnostics diagnostics;               ///< from the start: properties that cannot be kept
  Rotation rotation;
  std::unique_ptr<Ditherer> ditherer;
  std::optional<EncoderThread> encoder_thread;
  std::string advice;
  std::unique_ptr<Sink> sink;
  const SegmentWriter* segment = nullptr;  ///< `sink`, if that is a SegmentWriter
  std::unique_ptr<SegmentJoiner> joiner;   ///< null unless segments replace the encoder
  bool joins_segments = false;
  bool is_live = false;
  std::vector<Packet> early;  ///< from before the first frame, with `is_live`
  std::int64_t frames = 0;    ///< that have been encoded or joined
  bool flushed = false;       ///< the end of the stream has been sent to the encoder
  bool drained = false;       ///< the encoder has no more packets
};

Writer::State::State(std::string target_url, const Source& from, const WriterOptions& given)
    : url(std::move(target_url)),
      container(container_for(url, given)),
      filter(filter_for(from, given, container)),
      rotation(filtered(from, filter.get()), container, diagnostics),
      ditherer(ditherer_for(filtered(from, filter.get()), given)),
      is_live(given.live) {
  require_displayable(from);
  const Source source = filtered(from, filter.get());
  std::ranges::for_each(source.filter_losses,
                        [&](const std::string& loss) { report_loss(diagnostics, loss); });
  WriterOptions options = given;
  if (filter != nullptr) {
    options.frames = frames_after(options.frames, from, source);
  }
  Audio audio(url, container, options);
  WriterOptions encoder_options = options;
  if (!rotation.applied().is_upright() || ditherer != nullptr || filter != nullptr) {
    encoder_options.memory = kHostMemory;  // pictures are rotated, dithered and filtered there
  }
  std::vector<std::string> losses;
  const FrameFormat& format = ditherer == nullptr ? source.format : ditherer->format();
  encoder_thread.emplace(std::make_unique<Encoder>(
      url, container, encoder_source(source, format, rotation.applied()), encoder_options, losses));
  std::ranges::for_each(losses, [&](std::string& loss) { report_loss(diagnostics, std::move(loss)); });
  advice = output_advice(source, encoder().context(), container, options);
  if (!options.color.empty() && is_hdr(from.first.color_trc)) {
    advice += std::string(advice.empty() ? "" : "; ") +
              (from.first.color_trc == AVCOL_TRC_SMPTE2084 ? "PQ" : "HLG") + " (HDR) becomes BT.709 (SDR)";
  }
  joins_segments = io::joins_segments(encoder().context(), container, options, source.time_base);
  const Target target{url, container, encoder(), rotation, options};
  if (!options.segment_file.empty()) {
    auto writer =
        std::make_unique<SegmentWriter>(options.segment_file, options.segment_temporary, encoder().context());
    segment = writer.get();
    sink = std::move(writer);
  } else if (!options.camera.empty()) {
    sink = make_pipewire_camera(options.camera, encoder().context());
  } else if (traits_of(container).separate_files) {
    sink = std::make_unique<Pictures>(target, source, diagnostics);
  } else {
    sink = std::make_unique<MediaFile>(target, source, std::move(audio), diagnostics);
  }
}

void Writer::State::write(const Frame& frame) {
  if (filter == nullptr) {
    return encode(frame);
  }
  filter->send(frame);
  encode_filtered();
}

void Writer::State::encode_filtered() {
  while (const std::optional<Frame> frame = filter->receive()) {
    encode(*frame);
  }
}

void Writer::State::encode(const Frame& frame) {
  sink->expect(frame);
  const Frame rounded = ditherer == nullptr ? frame : ditherer->to_8_bits(frame);
  const auto packets = std::make_shared<std::vector<PacketHandle>>();
  const bool is_encoded = encoder_thread->run(
      [packets, upright = rotation.applied().is_upright() ? rounded : rotation.turn(rounded)](Encoder& own) {
        own.send(upright);
        while (PacketHandle packet = own.receive()) {
          packets->push_back(std::move(packet));
        }
      });
  if (!is_encoded) {
    return;
  }
  for (const Packet& packet : std::exchange(early, {})) {
    write(packet);
  }
  for (PacketHandle& packet : *packets) {
    write_encoded(std::move(packet));
  }
}

void Writer::State::write(const Packet& packet) {
  if (!is_live) {
    return sink->write_packet(packet);
  }
  const std::int64_t time = packet.get().pts;
  if (time == AV_NOPTS_VALUE) {
    return;
  }
  if (!encoder().zero()) {
    constexpr std::size_t kMostEarly = 1000;
    if (early.size() < kMostEarly) {
      early.emplace_back(clone_of(packet), packet.time_base());
    }
    return;
  }
  const std::int64_t zero = av_rescale_q(*encoder().zero(), kMicrosecond, packet.time_base());
  if (time < zero) {
    return;
  }
  PacketHandle moved = clone_of(packet);
  moved->pts -= zero;
  moved->dts -= moved->dts == AV_NOPTS_VALUE ? 0 : zero;
  sink->write_packet(Packet(std::move(moved), packet.time_base()));
}

void Writer::State::write_encoded(PacketHandle packet) {
  ++frames;
  sink->write_frame(std::move(packet));
}

bool Writer::State::drain() {
  if (joiner != nullptr || drained) {
    return true;
  }
  if (filter != nullptr && !flushed) {
    filter->flush();
    encode_filtered();
  }
  if (!std::exchange(flushed, true) && !encoder_thread->run([](Encoder& own) { own.flush(); })) {
    return false;
  }
  const auto packet = std::make_shared<PacketHandle>();
  while (encoder_thread->run([packet](Encoder& own) { *packet = own.receive(); })) {
    if (*packet == nullptr) {
      drained = true;
      return true;
    }
    write_encoded(std::move(*packet));
  }
  return false;
}

void Writer::State::finish() {
  if (!drain()) {
    throw Error(url + ": interrupted: the encoder has not finished its frames in time");
  }
  sink->finish();
}

std::string Writer::State::finish_partial() {
  if (!sink->is_full()) {
    try {
      drain();
    } catch (const DiskFull&) {
      // The output so far is kept.
    }
  }
  const std::string name = sink->finish_partial();
  return name.empty() ? url : name;
}

void Writer::State::begin_segment(const std::string& path, int reordering) {
  if (joiner == nullptr) {
    joiner = std::make_unique<SegmentJoiner>(url, encoder().context());
  }
  joiner->begin(path, reordering);
}

bool Writer::State::join_frame() {
  PacketHandle packet = joiner->read();
  if (packet == nullptr) {
    return false;
  }
  write_encoded(std::move(packet));
  return true;
}

void match_depths(const WriterOptions& writer, ReaderOptions& reader) {
  constexpr int kFractionBits = 4;
  reader.least_depth = sample_depth(writer.pixel_format);
  reader.fraction_bits = is_dithered(writer) ? kFractionBits : 0;
}

Writer::Writer(const std::string& url, const Reader& source, const WriterOptions& options)
    : state_(std::make_unique<State>(local_name(url), source.source(), options)) {}
std::string Writer::first_file(const std::string& url, const Reader& source, const WriterOptions& options) {
  const bool has_numbers =
      is_sequence(url) && traits_of(choose_container(url, options.container)).separate_files;
  return has_numbers ? picture_name(url, source.source().first_picture) : url;
}
std::string Writer::encoder_name(const std::string& url, const Reader& source, const WriterOptions& options) {
  const EncoderSource described = encoder_source(source.source(), source.video().format, {});
  return choose_codec(url, choose_container(url, options.container), described, options).name;
}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

std::string Writer::advice() const { return state_->advice; }

Diagnostics Writer::diagnostics() const {
  Diagnostics all = state_->diagnostics;
  for (const std::string& loss : state_->encoder().late_warnings()) {
    all.push_back({.kind = Diagnostic::Kind::kLateLoss, .text = loss});
  }
  if (std::string remark = state_->sink->remark(); !remark.empty()) {
    all.push_back({.kind = Diagnostic::Kind::kLateLoss, .text = std::move(remark)});
  }
  if (const std::int64_t damaged = state_->sink->damaged_packets(); damaged > 0) {
    all.push_back({.kind = Diagnostic::Kind::kDamagedPackets, .text = {}, .count = damaged});
  }
  return all;
}

std::function<Frame()> Writer::cuda_frames() const {
  const std::shared_ptr<const CudaFramePool> frames = state_->encoder().cuda_frames();
  return frames == nullptr ? std::function<Frame()>() : [frames] { return frames->take(); };
}

void Writer::write(const Frame& frame) { state_->write(frame); }
void Writer::write(const Packet& packet) { state_->write(packet); }
bool Writer::drain() { return state_->drain(); }
void Writer::finish() { state_->finish(); }
std::string Writer::finish_partial() { return state_->finish_partial(); }

bool Writer::joins_segments() const { return state_->joins_segments; }
int Writer::reordering() const { return state_->segment == nullptr ? 0 : state_->segment->reordering(); }
void Writer::begin_segment(const std::string& file, int reordering) {
  state_->begin_segment(file, reordering);
}
bool Writer::join_frame() { return state_->join_frame(); }

std::int64_t Writer::frames_written() const { return state_->frames; }
std::int64_t Writer::bytes_written() const { return state_->sink->bytes(); }
std::int64_t Writer::copies() const {
  const std::int64_t of_filter = state_->filter == nullptr ? 0 : state_->filter->copies();
  return of_filter + state_->rotation.copies() + state_->encoder().copies();
}
std::string Writer::codec() const { return state_->encoder().codec().name; }
std::string Writer::codec_with_preset() const { return codec() + state_->encoder().preset(); }
std::string Writer::pixel_format() const { return name_of(state_->encoder().target_format()); }
std::string Writer::container() const { return state_->container.name; }

}  // namespace limpid::io
