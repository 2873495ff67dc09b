// SPDX-License-Identifier: MIT
#include "plugins/gstreamer/frames.h"

#include <cstdint>
#include <stdexcept>

#include "plugins/shared/denoiser.h"

namespace limpid::gstreamer {

limpid_format format_of(const GstVideoInfo& info) {
  const GstVideoFormatInfo& from = *info.finfo;
  return {.struct_size = sizeof(limpid_format),
          .width = info.width,
          .height = info.height,
          .color_model = GST_VIDEO_FORMAT_INFO_IS_YUV(info.finfo)   ? LIMPID_YUV
                         : GST_VIDEO_FORMAT_INFO_IS_RGB(info.finfo) ? LIMPID_RGB
                                                                    : LIMPID_GRAY,
          .chroma_shift_x = static_cast<std::int32_t>(from.w_sub[1]),
          .chroma_shift_y = static_cast<std::int32_t>(from.h_sub[1]),
          .sample_type = from.depth[0] > 8 ? LIMPID_UINT16 : LIMPID_UINT8,
          .bit_depth = static_cast<std::int32_t>(from.depth[0]),
          .has_alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA(info.finfo) ? 1 : 0};
}

Mapped::Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags) {
  if (gst_video_frame_map(&video_, &info, buffer, flags) == FALSE) {
    throw std::runtime_error("a buffer's samples can't be reached");
  }
}

limpid_frame Mapped::frame() const {
  const GstVideoFormatInfo& format = *video_.info.finfo;
  auto frame = plugins::sized<limpid_frame>();
  for (guint c = 0; c < format.n_components; ++c) {
    const int bytes = format.depth[c] > 8 ? 2 : 1;
    // GStreamer 1.22 has the offset of P010's V in samples.
    const guint offset = format.poffset[c] * (format.poffset[c] % 2 != 0 ? static_cast<guint>(bytes) : 1U);
    frame.planes[c] = {static_cast<std::uint8_t*>(video_.data[format.plane[c]]) + offset,
                       video_.info.stride[format.plane[c]], format.pixel_stride[c] / bytes};
  }
  frame.padding_bits = static_cast<std::int32_t>(format.shift[0]);
  frame.flags = (video_.flags & GST_VIDEO_FRAME_FLAG_INTERLACED) != 0 ? LIMPID_INTERLACED : 0;
  return frame;
}

void copy_all_but_samples(GstBuffer* from, GstBuffer* to) {
  // GST_BUFFER_COPY_DEEP omits metadata that describes the memory of the source.
  constexpr auto kWhat = static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_METADATA | GST_BUFFER_COPY_DEEP);
  gst_buffer_copy_into(to, from, kWhat, 0, static_cast<gsize>(-1));
}

void add_samples(GstBuffer* buffer, const GstVideoInfo& info) {
  gst_buffer_append_memory(buffer, gst_allocator_alloc(nullptr, info.size, nullptr));
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(info.finfo) && GST_VIDEO_FORMAT_INFO_PSTRIDE(info.finfo, 0) == 4) {
    gst_buffer_memset(buffer, 0, 0xFF, info.size);  // bytes that aren't of any sample
  }
}

}  // namespace limpid::gstreamer
