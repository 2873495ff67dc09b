// SPDX-License-Identifier: MIT
#include "io/media/segments.h"

#include <cerrno>
#include <climits>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/regular_file.h"
#include "core/base/system/posix.h"
#include "io/media/encoder.h"
#include "io/media/traits.h"

namespace limpid::io {
namespace {

constexpr std::string_view kMagic = "limpid packets 1\n";
constexpr std::int64_t kEndMark = 0;
constexpr std::int64_t kPacketMark = 1;

// Limits in bytes. Sizes in a damaged file must not cost more memory than those of a good one.
constexpr std::int64_t kMostParameters = 1 << 12;
constexpr std::int64_t kMostExtradata = 1 << 24;
constexpr std::int64_t kMostSideDataBytes = 1 << 20;
constexpr std::int64_t kMostSideData = 64;  // pieces

/// Twice the size of four planes of 16 bits, and headers. libavcodec does not accept more than INT_MAX.
std::int64_t most_packet_of(int width, int height) {
  constexpr std::int64_t kBytesPerPixel = 16;
  constexpr std::int64_t kHeaders = 1 << 20;
  constexpr std::int64_t kMost = INT_MAX - AV_INPUT_BUFFER_PADDING_SIZE - 1;
  return std::min(kMost, std::int64_t{width} * height * kBytesPerPixel + kHeaders);
}

/// Sums and differences of a few times within this limit do not overflow.
constexpr std::int64_t kMostTime = std::int64_t{1} << 60;

void require(bool done, const std::string& path, const char* what) {
  check(done ? 0 : AVERROR(errno), path, what);
}

FileHandle open_packet_file(const std::string& path) {
  FileDescriptor descriptor = open_regular_file(path);
  FileHandle file(posix::fdopen(descriptor.get(), "rb"));
  require(file != nullptr, path, "can't read it");
  descriptor.release();
  return file;
}

}  // namespace

std::string parameters_text(const AVCodecContext& encoder) {
  std::string text = avcodec_get_name(encoder.codec_id);
  const auto add = [&text](const std::string& more) { text += " " + more; };
  add(name_of(encoder.pix_fmt));
  add(std::to_string(encoder.width) + "x" + std::to_string(encoder.height));
  add(std::to_string(encoder.time_base.num) + "/" + std::to_string(encoder.time_base.den));
  add(std::to_string(encoder.sample_aspect_ratio.num) + ":" +
      std::to_string(encoder.sample_aspect_ratio.den));
  for (const int tag : {static_cast<int>(encoder.color_primaries), static_cast<int>(encoder.color_trc),
                        static_cast<int>(encoder.colorspace), static_cast<int>(encoder.color_range),
                        static_cast<int>(encoder.chroma_sample_location),
                        static_cast<int>(encoder.field_order), encoder.profile, encoder.level}) {
    add(std::to_string(tag));
  }
  return text + (std::endian::native == std::endian::little ? " little" : " big");
}

std::string extradata_of(const AVCodecContext& encoder) {
  return encoder.extradata == nullptr ? std::string()
                                      : std::string(reinterpret_cast<const char*>(encoder.extradata),
                                                    static_cast<std::size_t>(encoder.extradata_size));
}

PacketFileWriter::PacketFileWriter(std::string path, const std::string& temporary,
                                   const AVCodecContext& encoder)
    : path_(std::move(path)) {
  const int descriptor = TemporaryFile::create(temporary, O_WRONLY, 0666, temporary_);
  require(descriptor >= 0, path_, "can't create a file there");
  file_.reset(posix::fdopen(descriptor, "wb"));
  put(kMagic.data(), kMagic.size());
  put_text(parameters_text(encoder));
  put_text(extradata_of(encoder));
}

void PacketFileWriter::put(const void* data, std::size_t size) {
  require(std::fwrite(data, 1, size, file_.get()) == size, path_, "can't write");
  digest_.add(data, size);
  bytes_ += static_cast<std::int64_t>(size);
}

void PacketFileWriter::put_text(const std::string& text) {
  put_number(std::ssize(text));
  put(text.data(), text.size());
}

void PacketFileWriter::write(const AVPacket& packet) {
  for (const std::int64_t number :
       {kPacketMark, packet.pts, packet.dts, packet.duration, std::int64_t{packet.flags},
        std::int64_t{packet.size}, std::int64_t{packet.side_data_elems}}) {
    put_number(number);
  }
  put(packet.data, static_cast<std::size_t>(packet.size));
  for (int i = 0; i < packet.side_data_elems; ++i) {
    const AVPacketSideData& data = packet.side_data[i];
    put_number(data.type);
    put_number(static_cast<std::int64_t>(data.size));
    put(data.data, data.size);
  }
  ++packets_;
}

void PacketFileWriter::finish() {
  put_number(kEndMark);
  put_number(packets_);
  const std::uint64_t hash = digest_.end();
  require(std::fwrite(&hash, 1, sizeof(hash), file_.get()) == sizeof(hash), path_, "can't write");
  bytes_ += static_cast<std::int64_t>(sizeof(hash));
  require(std::fflush(file_.get()) == 0, path_, "can't write");
  // Some file systems do not support it; the others can report failed writes here.
  require(posix::fsync(posix::fileno(file_.get())) == 0 || errno == EINVAL || errno == ENOTSUP, path_,
          "can't write");
  require(std::fclose(file_.release()) == 0, path_,
          "can't write");  // NOLINT(cppcoreguidelines-owning-memory)
  require(posix::rename(temporary_->path().c_str(), path_.c_str()) == 0, path_,
          "can't rename the finished file");
  temporary_.reset();
}

PacketFileReader::PacketFileReader(std::string path, int width, int height)
    : path_(std::move(path)), file_(open_packet_file(path_)), most_packet_(most_packet_of(width, height)) {
  posix::Stat status{};
  require(posix::fstat(posix::fileno(file_.get()), &status) == 0, path_, "can't read it");
  left_ = status.st_size;
  std::array<char, kMagic.size()> magic{};
  get(magic.data(), magic.size());
  if (std::string_view(magic.data(), magic.size()) != kMagic) {
    fail();
  }
  parameters_ = text(kMostParameters);
  extradata_ = text(kMostExtradata);
}

void PacketFileReader::fail() const {
  throw Error(path_ + ": is damaged or was not written to its end; delete it, and it is created again");
}

void PacketFileReader::get(void* data, std::size_t size) {
  if (std::fread(data, 1, size, file_.get()) != size) {
    if (std::ferror(file_.get()) != 0) {
      require(false, path_, "can't read it");
    }
    fail();
  }
  left_ -= static_cast<std::int64_t>(size);
  digest_.add(data, size);
}

std::int64_t PacketFileReader::number_up_to(std::int64_t most) {
  const std::int64_t value = number();
  if (value < 0 || value > most) {
    fail();
  }
  return value;
}

std::int64_t PacketFileReader::time() {
  const std::int64_t value = number();
  if (value != AV_NOPTS_VALUE && (value < -kMostTime || value > kMostTime)) {
    fail();
  }
  return value;
}

std::size_t PacketFileReader::size_up_to(std::int64_t most) {
  const std::int64_t size = number_up_to(most);
  if (size > left_) {
    fail();
  }
  return static_cast<std::size_t>(size);
}

std::string PacketFileReader::text(std::int64_t most) {
  std::string read(size_up_to(most), ' ');
  get(read.data(), read.size());
  return read;
}

PacketHandle PacketFileReader::read() {
  const std::int64_t mark = number();
  if (mark == kEndMark) {
    const bool complete = number() == packets_;
    const std::uint64_t expected = digest_.end();
    std::uint64_t hash = 0;
    if (std::fread(&hash, 1, sizeof(hash), file_.get()) != sizeof(hash) || !complete || hash != expected) {
      fail();
    }
    return nullptr;
  }
  if (mark != kPacketMark) {
    fail();
  }
  const std::int64_t pts = time();
  const std::int64_t dts = time();
  const std::int64_t duration = time();
  const std::optional<int> flags = narrowed<int>(number());
  const std::optional<int> size = narrowed<int>(size_up_to(most_packet_));
  const std::int64_t side_data = number_up_to(kMostSideData);
  if (!flags || !size) {
    fail();
  }
  PacketHandle packet = make_packet();
  check(av_new_packet(packet.get(), *size), path_, "can't make a packet");
  packet->pts = pts;
  packet->dts = dts;
  packet->duration = duration;
  packet->flags = *flags;
  get(packet->data, static_cast<std::size_t>(*size));
  for (std::int64_t i = 0; i < side_data; ++i) {
    read_side_data(*packet);
  }
  ++packets_;
  return packet;
}

void PacketFileReader::read_side_data(AVPacket& packet) {
  const std::int64_t type = number_up_to(AV_PKT_DATA_NB - 1);
  const std::size_t size = size_up_to(kMostSideDataBytes);
  std::uint8_t* const data = av_packet_new_side_data(&packet, static_cast<AVPacketSideDataType>(type), size);
  if (data == nullptr) {
    throw Error(kOutOfMemory);
  }
  get(data, size);
}

std::vector<PacketFileReader::Entry> PacketFileReader::entries() {
  const FileHandle file = open_packet_file(path_);
  const std::int64_t begin = posix::ftello(file_.get());
  std::vector<Entry> all;
  posix::fseeko(file.get(), begin, SEEK_SET);
  const auto next = [&]() -> std::int64_t {
    std::int64_t value = 0;
    if (std::fread(&value, 1, sizeof(value), file.get()) != sizeof(value)) {
      fail();
    }
    return value;
  };
  const auto skip = [&](std::int64_t bytes) {
    if (bytes < 0 || bytes > left_ || posix::fseeko(file.get(), bytes, SEEK_CUR) != 0) {
      fail();
    }
  };
  while (next() == kPacketMark) {
    const std::int64_t pts = next();
    if (pts < -kMostTime || pts > kMostTime) {
      fail();
    }
    skip(2 * static_cast<std::int64_t>(sizeof(std::int64_t)));  // dts and duration
    const std::int64_t flags = next();
    const std::int64_t size = next();
    const std::int64_t side_data = next();
    skip(size);
    for (std::int64_t i = 0; i < side_data; ++i) {
      next();
      skip(next());
    }
    all.push_back({pts, (flags & AV_PKT_FLAG_KEY) != 0});
  }
  return all;
}

namespace {

/// True for options that make an encoder depend on all frames before, or on another pass.
bool looks_back(const std::pair<std::string, std::string>& option) {
  constexpr std::array<std::string_view, 9> kKeys{
      "b", "maxrate", "minrate", "bufsize", "pass", "nal-hrd", "stats", "rc_init_occupancy", "passlogfile"};
  constexpr std::array<std::string_view, 7> kWords{"pass", "bitrate", "vbv", "hrd", "stats", "abr", "cbr"};
  const std::string& key = option.first;
  const std::string& value = option.second;
  const bool is_list = key.ends_with("-params") || key.ends_with("opts") || key == "flags";
  return std::ranges::find(kKeys, key) != kKeys.end() ||
         (is_list && std::ranges::any_of(kWords, [&](std::string_view word) {
            return value.find(word) != std::string::npos;
          }));
}

}  // namespace

int reordering_of(std::span<const std::int64_t> presented, std::span<const std::int64_t> decoded) {
  std::vector<std::int64_t> times(presented.begin(), presented.end());
  std::ranges::sort(times);
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < presented.size(); ++i) {
    const auto rank = std::ranges::lower_bound(times, presented[i]) - times.begin();
    most = std::max(most, static_cast<std::ptrdiff_t>(i) - rank);
    if (decoded[i] == times.front()) {
      most = std::max(most, static_cast<std::ptrdiff_t>(i));
    }
  }
  return static_cast<int>(most);
}

void SegmentWriter::write_frame(PacketHandle frame) {
  presented_.push_back(frame->pts);
  decoded_.push_back(frame->dts);
  file_.write(*frame);
  bytes_ = file_.bytes();
}

void SegmentWriter::finish() {
  file_.finish();
  bytes_ = file_.bytes();
}

bool joins_segments(const AVCodecContext& encoder, const AVOutputFormat& container,
                    const WriterOptions& options, AVRational source_time_base) {
  const AVCodecDescriptor* const codec = avcodec_descriptor_get(encoder.codec_id);
  const bool is_known = traits_of(*encoder.codec).joins_segments ||
                        (codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0);
  const bool has_rate_control =
      !options.bitrate.empty() || std::ranges::any_of(options.encoder_options, looks_back);
  return is_known && !has_rate_control && av_cmp_q(encoder.time_base, source_time_base) == 0 &&
         !traits_of(container).separate_files && !traits_of(container).is_webp;
}

void SegmentJoiner::begin(const std::string& path, int reordering) {
  segment_.emplace(path, encoder_.width, encoder_.height);
  if (segment_->parameters() != parameters_text(encoder_) ||
      segment_->extradata() != extradata_of(encoder_)) {
    throw Error(url_ + ": can't join " + path + ", which was encoded with other parameters");
  }
  const std::vector<PacketFileReader::Entry> entries = segment_->entries();
  std::vector<std::int64_t> times;
  std::ranges::transform(entries, std::back_inserter(times), &PacketFileReader::Entry::pts);
  std::ranges::sort(times);
  const bool is_closed = !entries.empty() && entries.front().key && entries.front().pts == times.front() &&
                         (last_ == AV_NOPTS_VALUE || times.front() > last_);
  if (!is_closed) {
    throw Error(url_ + ": can't join " + path + ", which doesn't begin with a closed group of pictures");
  }
  last_ = times.back();
  reordering_ = static_cast<std::size_t>(reordering);
  if (frames_ == 0) {
    const AVRational rate = encoder_.framerate;
    const std::int64_t frame =
        std::max<std::int64_t>(1, rate.num > 0 ? av_rescale_q(1, av_inv_q(rate), encoder_.time_base) : 1);
    lead_ = reordering_ < times.size() ? times[reordering_] - times.front()
                                       : static_cast<std::int64_t>(reordering_) * frame;
  }
  times_.insert(times_.end(), times.begin(), times.end());
}

/// Like encoders, decodes frames at the intervals of presentation, the first ones slightly earlier.
std::int64_t SegmentJoiner::decoding_time(std::size_t frame) const {
  return frame < reordering_ ? times_.at(frame - first_) - lead_ : times_.at(frame - reordering_ - first_);
}

PacketHandle SegmentJoiner::read() {
  PacketHandle packet = segment_->read();
  if (packet == nullptr) {
    segment_.reset();
    return nullptr;
  }
  if (frames_ - first_ >= times_.size()) {
    throw Error(url_ + ": a segment's file has changed while it was read");
  }
  packet->dts = decoding_time(frames_++);
  if (frames_ > reordering_) {
    times_.pop_front();
    ++first_;
  }
  return packet;
}

}  // namespace limpid::io
