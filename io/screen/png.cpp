// SPDX-License-Identifier: MIT
#include "io/screen/png.h"

#include "core/base/error.h"
#include "io/media/libav.h"
#include "io/media/output_file.h"

namespace limpid::io {

void write_png(const std::string& path, const RgbImage& image, Overwrite overwrite) {
  const AVCodec* const codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (codec == nullptr) {
    throw Error(path + ": libavcodec has no encoder for PNG");
  }
  const CodecHandle encoder(avcodec_alloc_context3(codec));
  if (encoder == nullptr) {
    throw Error("out of memory");
  }
  encoder->width = image.width;
  encoder->height = image.height;
  encoder->pix_fmt = AV_PIX_FMT_RGB24;
  encoder->time_base = {1, 1};
  encoder->thread_count = 1;
  check(avcodec_open2(encoder.get(), codec, nullptr), path, "can't encode a picture as PNG");

  const FrameHandle frame = make_frame();
  frame->format = encoder->pix_fmt;
  frame->width = image.width;
  frame->height = image.height;
  check(av_frame_get_buffer(frame.get(), 0), path, "can't allocate a picture");
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* to = frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0];
    for (int x = 0; x < image.width; ++x) {
      const Pixel pixel = image.row(y)[x];
      *to++ = static_cast<std::uint8_t>(red(pixel));
      *to++ = static_cast<std::uint8_t>(green(pixel));
      *to++ = static_cast<std::uint8_t>(blue(pixel));
    }
  }
  const PacketHandle packet = make_packet();
  check(avcodec_send_frame(encoder.get(), frame.get()), path, "can't encode the picture");
  check(avcodec_send_frame(encoder.get(), nullptr), path, "can't encode the picture");
  check(avcodec_receive_packet(encoder.get(), packet.get()), path, "can't encode the picture");

  OutputFile file(path, "", overwrite);
  avio_write(file.bytes(), packet->data, packet->size);
  file.commit();
}

}  // namespace limpid::io
