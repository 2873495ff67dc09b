// SPDX-License-Identifier: MIT
#include "lib/frames.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace limpid::lib {
namespace {

// The data that a result takes from its frame, stored as Frame::attachment.
struct Carried {
  std::int64_t pts;
  void* user;
  bool interlaced;
};

int sample_stride(const limpid_plane& plane) { return plane.sample_stride == 0 ? 1 : plane.sample_stride; }

// Copies samples with a distance of `from_stride` and `to_stride` samples, at any address, shifted to the
// left by `bits`.
template <typename Sample>
void copy_samples(const std::byte* from, int from_stride, std::byte* to, int to_stride, int count, int bits) {
  for (int i = 0; i < count; ++i) {
    Sample sample;
    std::memcpy(&sample, from, sizeof sample);
    sample = static_cast<Sample>(bits < 0 ? sample >> -bits : sample << bits);
    std::memcpy(to, &sample, sizeof sample);
    from += from_stride * std::ptrdiff_t{sizeof sample};
    to += to_stride * std::ptrdiff_t{sizeof sample};
  }
}

void copy_row(const std::byte* from, int from_stride, std::byte* to, int to_stride, int count, int size,
              int bits) {
  if (from_stride == 1 && to_stride == 1 && bits == 0) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
  } else if (size == 1) {
    copy_samples<std::uint8_t>(from, from_stride, to, to_stride, count, bits);
  } else if (size == 2) {
    copy_samples<std::uint16_t>(from, from_stride, to, to_stride, count, bits);
  } else {
    copy_samples<std::uint32_t>(from, from_stride, to, to_stride, count, bits);
  }
}

// Calls each(the frame's row, the caller's row, distance of the caller's samples, number of samples).
template <typename Each>
void for_each_row(const Frame& frame, const limpid_frame& callers, const Each& each) {
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    const limpid_plane& other = callers.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      each(plane.row<std::byte>(y), static_cast<std::byte*>(other.data) + y * other.stride,
           sample_stride(other), plane.width);
    }
  }
}

}  // namespace

BorrowedFrame::BorrowedFrame(const limpid_frame* frame) {
  if (frame != nullptr && frame->struct_size >= sizeof *frame && frame->struct_size <= kMostStructSize) {
    release_ = frame->release;
    data_ = frame->release_data;
  }
}

BorrowedFrame::BorrowedFrame(BorrowedFrame&& other) noexcept
    : release_(std::exchange(other.release_, nullptr)), data_(other.data_) {}

BorrowedFrame::~BorrowedFrame() {
  if (release_ != nullptr) {
    release_(data_);
  }
}

FrameFormat to_format(const limpid_format& format) {
  const auto in_range = [](int value, int last, const char* what) {
    if (value < 0 || value > last) {
      throw UsageError(std::string("the format's ") + what + " is " + std::to_string(value) +
                       ", which is not a valid value");
    }
  };
  in_range(format.color_model, LIMPID_RGB, "color_model");
  in_range(format.sample_type, LIMPID_FLOAT16, "sample_type");
  in_range(format.has_alpha, 1, "has_alpha");
  FrameFormat result{.width = format.width,
                     .height = format.height,
                     .color_model = static_cast<ColorModel>(format.color_model),
                     .chroma_shift_x = format.chroma_shift_x,
                     .chroma_shift_y = format.chroma_shift_y,
                     .sample_type = static_cast<SampleType>(format.sample_type),
                     .bit_depth = format.bit_depth,
                     .has_alpha = format.has_alpha != 0};
  try {
    result.validate("the format");
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return result;
}

void check_planes(const limpid_frame& frame, const FrameFormat& format) {
  const int size = format.bytes_per_sample();
  const int most_padding = format.sample_type == SampleType::kUint16 ? 16 - format.bit_depth : 0;
  if (frame.padding_bits < 0 || frame.padding_bits > most_padding) {
    throw UsageError("padding_bits is " + std::to_string(frame.padding_bits) + ", but samples of " +
                     to_string(format) + " have at most " + std::to_string(most_padding));
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    const limpid_plane& plane = frame.planes[p];
    const std::string name = "plane " + std::to_string(p);
    if (plane.data == nullptr) {
      throw UsageError(name + " of a frame of " + to_string(format) + " is null");
    }
    constexpr int kMostSampleStride = 16;
    const int stride = sample_stride(plane);
    if (stride < 1 || stride > kMostSampleStride) {
      throw UsageError(name + " has a sample_stride of " + std::to_string(stride) + "; it must be 1 to 16");
    }
    const std::ptrdiff_t row = (std::ptrdiff_t{format.plane_width(p) - 1} * stride + 1) * size;
    if (plane.stride < row && plane.stride > -row) {
      throw UsageError(name + " has a stride of " + std::to_string(plane.stride) +
                       " bytes, but its rows have " + std::to_string(row));
    }
    if (const std::ptrdiff_t most = PTRDIFF_MAX / format.plane_height(p);
        plane.stride > most || plane.stride < -most) {
      throw UsageError(name + " has a stride of " + std::to_string(plane.stride) + " bytes; " +
                       std::to_string(format.plane_height(p)) + " rows of this length exceed the memory");
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(plane.data) % size == 0 && plane.stride % size == 0;
    if (frame.memory != LIMPID_HOST && (plane.stride < 0 || !aligned)) {
      throw UsageError(name +
                       " is in device memory, where strides must be positive multiples of the sample size");
    }
  }
}

void copy_in(const limpid_frame& from, Frame& to) {
  for_each_row(to, from, [&](std::byte* own, const std::byte* theirs, int stride, int count) {
    copy_row(theirs, stride, own, 1, count, to.format.bytes_per_sample(), -from.padding_bits);
  });
}

void copy_out(const Frame& from, const limpid_frame& to) {
  for_each_row(from, to, [&](const std::byte* own, std::byte* theirs, int stride, int count) {
    copy_row(own, 1, theirs, stride, count, from.format.bytes_per_sample(), to.padding_bits);
  });
}

Frame callers_frame(const limpid_frame& frame, const FrameFormat& format, BorrowedFrame&& borrowed) {
  Frame result;
  result.format = format;
  result.memory = cuda_memory(frame.ordinal);
  result.padding_bits = frame.padding_bits;
  const auto owner = std::make_shared<BorrowedFrame>(std::move(borrowed));
  result.samples = owner;
  if (frame.ready != nullptr) {
    result.ready = std::shared_ptr<void>(owner, frame.ready);
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    result.planes[p] = {static_cast<std::byte*>(frame.planes[p].data), frame.planes[p].stride,
                        format.plane_width(p), format.plane_height(p), sample_stride(frame.planes[p])};
  }
  return result;
}

void copy_properties(const limpid_frame& from, Frame& to) {
  constexpr std::uint32_t kFlags =
      LIMPID_INTERLACED | LIMPID_BEGINS_ANEW | LIMPID_CONTEXT_ONLY | LIMPID_LEVEL_ONLY;
  if ((from.flags & ~kFlags) != 0) {
    throw UsageError("the frame's flags are " + std::to_string(from.flags) +
                     ", but only the flags 1, 2, 4 and 8 (limpid_frame_flag) exist; set other bits to 0");
  }
  to.interlaced = (from.flags & LIMPID_INTERLACED) != 0;
  to.begins_anew = (from.flags & LIMPID_BEGINS_ANEW) != 0;
  to.level_only = (from.flags & LIMPID_LEVEL_ONLY) != 0;
  to.context_only = to.level_only || (from.flags & LIMPID_CONTEXT_ONLY) != 0;
  to.attachment = std::make_shared<Carried>(Carried{from.pts, from.user, to.interlaced});
}

void copy_properties(const Frame& from, limpid_frame& to) {
  to.flags = 0;
  if (const auto* const carried = from.attachment.get<Carried>()) {
    to.flags = carried->interlaced ? LIMPID_INTERLACED : 0;
    to.pts = carried->pts;
    to.user = carried->user;
  }
}

limpid_frame lend(Frame frame) {
  limpid_frame result{};
  result.struct_size = sizeof result;
  result.memory = frame.memory.is_host() ? LIMPID_HOST : LIMPID_CUDA;
  result.ordinal = frame.memory.ordinal;
  result.padding_bits = frame.padding_bits;
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    result.planes[p] = {plane.data, plane.stride, plane.sample_stride};
  }
  copy_properties(frame, result);
  result.buffer = std::make_unique<limpid_buffer>(limpid_buffer{std::move(frame)}).release();
  return result;
}

}  // namespace limpid::lib
