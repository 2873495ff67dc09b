// SPDX-License-Identifier: MIT
#include "tests/io/media/reader/memory_source.h"

#include <algorithm>

namespace limpid::io {

MemorySource::MemorySource(const char* demuxer) : input_(avformat_alloc_context()) {
  avdevice_register_all();
  input_->iformat = av_find_input_format(demuxer);
  add_stream(AVMEDIA_TYPE_VIDEO, {1, 1000});
}

AVStream& MemorySource::add_stream(AVMediaType type, AVRational time_base) {
  AVStream& stream = *avformat_new_stream(input_.get(), nullptr);
  stream.codecpar->codec_type = type;
  stream.time_base = time_base;
  return stream;
}

PacketHandle packet_at(std::int64_t time, int flags) {
  PacketHandle packet = make_packet();
  packet->pts = packet->dts = time;
  packet->duration = 40;
  packet->flags = flags;
  return packet;
}

PacketHandle packet_of(const std::vector<std::uint8_t>& bytes, std::int64_t time) {
  PacketHandle packet = packet_at(time, AV_PKT_FLAG_KEY);
  check(av_new_packet(packet.get(), static_cast<int>(bytes.size())), "packet", "can't make it");
  packet->pts = packet->dts = time;
  packet->flags = AV_PKT_FLAG_KEY;
  std::ranges::copy(bytes, packet->data);
  return packet;
}

}  // namespace limpid::io
