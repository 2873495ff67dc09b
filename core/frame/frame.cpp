// SPDX-License-Identifier: MIT
#include "core/frame/frame.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <new>

#include "core/base/error.h"

namespace limpid {
namespace {

std::atomic<std::int64_t> allocations = 0;

constexpr std::size_t kAlignment = 64;

// Slack bytes after each row: vector loads that begin in a row stay inside the allocation.
constexpr std::size_t kSlack = 64;

// The unit of allocation.
struct alignas(kAlignment) AlignedBlock {
  std::byte bytes[kAlignment];
};

int shifted(int size, int shift) { return (size + (1 << shift) - 1) >> shift; }

// Bytes from one row of a plane to the next.
std::size_t row_bytes(const FrameFormat& format, int plane) {
  const std::size_t bytes = static_cast<std::size_t>(format.plane_width(plane)) * format.bytes_per_sample();
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Why a depth does not fit, after "12-bit ".
const char* unsupported_depth(SampleType type) {
  switch (type) {
    case SampleType::kUint8:
      return "samples do not fit in bytes (9 to 16 bits need 16-bit samples)";
    case SampleType::kFloat32:
      return "samples are not the 32-bit floats of their sample type";
    case SampleType::kFloat16:
      return "samples are not the 16-bit floats of their sample type";
    case SampleType::kUint16:
      break;
  }
  return "samples are not supported (8 to 16 bits, or float)";
}

bool is_chroma(const FrameFormat& format, int plane) {
  return format.color_model == ColorModel::kYuv && (plane == 1 || plane == 2);
}

}  // namespace

int FrameFormat::plane_width(int plane) const {
  return is_chroma(*this, plane) ? shifted(width, chroma_shift_x) : width;
}

int FrameFormat::plane_height(int plane) const {
  return is_chroma(*this, plane) ? shifted(height, chroma_shift_y) : height;
}

int FrameFormat::bytes_per_sample() const {
  return visit_samples(*this, [](auto sample) { return static_cast<int>(sizeof(sample)); });
}

double FrameFormat::code_value() const {
  return is_float() ? 1.0 / 255.0 : static_cast<double>(1 << (bit_depth - 8));
}

void FrameFormat::validate(const std::string& name) const {
  if (width < 1 || height < 1 || width > kMaxDimension || height > kMaxDimension) {
    throw Error(name + ": a size of " + std::to_string(width) + "x" + std::to_string(height) +
                " is not supported (1 to " + std::to_string(kMaxDimension) + " each way)");
  }
  const bool known = (color_model == ColorModel::kGray || color_model == ColorModel::kYuv ||
                      color_model == ColorModel::kRgb) &&
                     (sample_type == SampleType::kUint8 || sample_type == SampleType::kUint16 || is_float());
  if (!known) {
    throw Error(name + ": this color model or sample type is not supported");
  }
  const bool depth_fits = sample_type == SampleType::kUint16 ? bit_depth >= 8 && bit_depth <= 16
                                                             : bit_depth == 8 * bytes_per_sample();
  if (!depth_fits) {
    throw Error(name + ": " + std::to_string(bit_depth) + "-bit " + unsupported_depth(sample_type));
  }
  const bool shifts_fit =
      chroma_shift_x >= 0 && chroma_shift_x <= 2 && chroma_shift_y >= 0 && chroma_shift_y <= 2;
  if (!shifts_fit || (color_model != ColorModel::kYuv && (chroma_shift_x != 0 || chroma_shift_y != 0))) {
    throw Error(name + ": this chroma subsampling is not supported");
  }
}

std::string to_string(const FrameFormat& format) {
  std::string text = std::to_string(format.width) + "x" + std::to_string(format.height);
  switch (format.color_model) {
    case ColorModel::kGray:
      text += " gray";
      break;
    case ColorModel::kRgb:
      text += " RGB";
      break;
    case ColorModel::kYuv: {
      static constexpr const char* kSubsampling[3][3] = {
          {"4:4:4", "4:4:0", "4:4:0"}, {"4:2:2", "4:2:0", "4:2:0"}, {"4:1:1", "4:1:0", "4:1:0"}};
      text += std::string(" YUV ") + kSubsampling[format.chroma_shift_x][format.chroma_shift_y];
      break;
    }
  }
  if (format.has_alpha) {
    text += " with alpha";
  }
  return text + (format.sample_type == SampleType::kFloat32 ? " float"
                 : format.sample_type == SampleType::kFloat16
                     ? " half float"
                     : " " + std::to_string(format.bit_depth) + " bit");
}

void pass_on(const Frame& from, Frame& to) {
  to.interlaced = from.interlaced;
  to.combed = from.combed;
  to.index = from.index;
  to.attachment = from.attachment;
}

void describe_alike(const Frame& from, Frame& to) {
  pass_on(from, to);
  to.begins_anew = from.begins_anew;
  to.context_only = from.context_only;
  to.level_only = from.level_only;
}

void copy_plane(const FrameFormat& format, const Plane& from, const Plane& to) {
  for (int y = 0; y < from.height; ++y) {
    std::memcpy(to.row<std::byte>(y), from.row<std::byte>(y),
                static_cast<std::size_t>(from.width) * format.bytes_per_sample());
  }
}

void copy_samples(const Frame& from, const Frame& to) {
  for (int p = 0; p < to.format.plane_count(); ++p) {
    copy_plane(to.format, from.planes[p], to.planes[p]);
  }
}

Frame copied(const Frame& from, Frame to) {
  describe_alike(from, to);
  copy_samples(from, to);
  return to;
}

std::size_t frame_bytes(const FrameFormat& format) {
  format.validate("frame");
  std::size_t bytes = 0;
  for (int p = 0; p < format.plane_count(); ++p) {
    bytes += row_bytes(format, p) * format.plane_height(p);
  }
  return (bytes + kSlack + kAlignment - 1) / kAlignment * kAlignment;
}

Frame place_frame(const FrameFormat& format, std::shared_ptr<std::byte> memory) {
  format.validate("frame");
  Frame frame;
  frame.format = format;
  std::byte* next = memory.get();
  for (int p = 0; p < format.plane_count(); ++p) {
    const std::size_t stride = row_bytes(format, p);
    frame.planes[p] = {next, static_cast<std::ptrdiff_t>(stride), format.plane_width(p),
                       format.plane_height(p)};
    next += stride * format.plane_height(p);
  }
  frame.samples = std::move(memory);
  return frame;
}

Frame allocate_frame(const FrameFormat& format) {
  ++allocations;
  const std::size_t bytes = frame_bytes(format);
  std::shared_ptr<AlignedBlock[]> blocks;
  try {
    blocks = std::make_unique_for_overwrite<AlignedBlock[]>(bytes / kAlignment);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("out of memory: a frame of " + to_string(format) + " needs " +
                      std::to_string(bytes >> 20) + " MiB");
  }
  return place_frame(format, {blocks, reinterpret_cast<std::byte*>(blocks.get())});
}

std::int64_t allocated_frames() { return allocations; }

namespace {

// A free frame is released after this many allocations that did not use it, or 8 times the number of frames
// in the pool if that is more. Frames of several GPUs wait for each other in turn, so each is needed once in
// about four times their number (core/engine/engine_group.cpp).
constexpr std::int64_t kPatience = 1024;
constexpr std::int64_t kPatienceForEach = 8;

}  // namespace

struct FramePool::State {
  struct Free {
    Frame frame;
    std::int64_t since;  // in allocations
  };
  std::int64_t patience() const { return std::max(kPatience, kPatienceForEach * frames); }

  std::mutex mutex;
  std::int64_t asked_for = 0;
  std::int64_t frames = 0;  // lent and free
  std::deque<Free> free;    // of any formats, in the order of their return
};

FramePool::FramePool(Allocator allocate)
    : allocate_(std::move(allocate)), state_(std::make_shared<State>()) {}

Frame FramePool::allocate(const FrameFormat& format) {
  Frame frame;
  std::vector<Frame> expired;  // freed after the lock is released
  {
    const std::scoped_lock lock(state_->mutex);
    auto& free = state_->free;
    ++state_->asked_for;
    // The last returned frame, whose memory is most likely in a cache.
    const auto last = std::find_if(free.rbegin(), free.rend(),
                                   [&](const State::Free& one) { return one.frame.format == format; });
    if (last != free.rend()) {
      frame = std::move(last->frame);
      free.erase(std::next(last).base());
    }
    while (!free.empty() && state_->asked_for - free.front().since > state_->patience()) {
      expired.push_back(std::move(free.front().frame));
      free.pop_front();
      --state_->frames;
    }
  }
  if (frame.samples == nullptr) {
    frame = allocate_(format);
    const std::scoped_lock lock(state_->mutex);
    ++state_->frames;
  }
  Frame lent = frame;
  const auto give_back = [pool = std::weak_ptr<State>(state_), frame](void* /*samples*/) {
    const std::shared_ptr<State> state = pool.lock();
    if (state != nullptr) {
      const std::scoped_lock lock(state->mutex);
      state->free.push_back({frame, state->asked_for});
    }
  };
  lent.samples = std::shared_ptr<void>(frame.samples.get(), give_back);
  return lent;
}

}  // namespace limpid
