// SPDX-License-Identifier: MIT
#include "plugins/obs/worker.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>

namespace limpid::obs {
namespace {

// The position of one plane's samples in OBS's planes.
struct Place {
  int plane;
  int offset;         // of the first sample, in samples
  int sample_stride;  // in samples
};

struct Layout {
  video_format format;
  limpid_color_model color_model;
  int chroma_shift_x;
  int chroma_shift_y;
  int bit_depth;
  int padding_bits;
  bool has_alpha;
  Place places[4];
};

constexpr Layout kLayouts[] = {
    {VIDEO_FORMAT_I420, LIMPID_YUV, 1, 1, 8, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_NV12, LIMPID_YUV, 1, 1, 8, 0, false, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}, {}}},
    {VIDEO_FORMAT_I422, LIMPID_YUV, 1, 0, 8, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_I444, LIMPID_YUV, 0, 0, 8, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_YUY2, LIMPID_YUV, 1, 0, 8, 0, false, {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}, {}}},
    {VIDEO_FORMAT_UYVY, LIMPID_YUV, 1, 0, 8, 0, false, {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}, {}}},
    {VIDEO_FORMAT_I010, LIMPID_YUV, 1, 1, 10, 0, false, {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {}}},
    {VIDEO_FORMAT_P010, LIMPID_YUV, 1, 1, 10, 6, false, {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}, {}}},
    {VIDEO_FORMAT_Y800, LIMPID_GRAY, 0, 0, 8, 0, false, {{0, 0, 1}, {}, {}, {}}},
    {VIDEO_FORMAT_RGBA, LIMPID_RGB, 0, 0, 8, 0, true, {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}, {0, 3, 4}}},
    {VIDEO_FORMAT_BGRA, LIMPID_RGB, 0, 0, 8, 0, true, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {0, 3, 4}}},
    {VIDEO_FORMAT_BGRX, LIMPID_RGB, 0, 0, 8, 0, false, {{0, 2, 4}, {0, 1, 4}, {0, 0, 4}, {}}},
};

const Layout* layout_of(video_format format) {
  for (const Layout& layout : kLayouts) {
    if (layout.format == format) {
      return &layout;
    }
  }
  return nullptr;
}

limpid_frame frame_of(const obs_source_frame& source, const Layout& layout) {
  auto frame = plugins::sized<limpid_frame>();
  const int bytes = layout.bit_depth > 8 ? 2 : 1;
  for (int c = 0; c < 4; ++c) {
    const Place& place = layout.places[c];
    if (place.sample_stride != 0) {
      frame.planes[c] = {source.data[place.plane] + place.offset * bytes,
                         static_cast<std::ptrdiff_t>(source.linesize[place.plane]), place.sample_stride};
    }
  }
  frame.padding_bits = layout.padding_bits;
  return frame;
}

limpid_format format_of(const obs_source_frame& source, const Layout& layout) {
  return {.struct_size = sizeof(limpid_format),
          .width = static_cast<std::int32_t>(source.width),
          .height = static_cast<std::int32_t>(source.height),
          .color_model = layout.color_model,
          .chroma_shift_x = layout.chroma_shift_x,
          .chroma_shift_y = layout.chroma_shift_y,
          .sample_type = layout.bit_depth > 8 ? LIMPID_UINT16 : LIMPID_UINT8,
          .bit_depth = layout.bit_depth,
          .has_alpha = layout.has_alpha ? 1 : 0};
}

bool same_format(const obs_source_frame& left, const obs_source_frame& right) {
  return left.format == right.format && left.width == right.width && left.height == right.height;
}

}  // namespace

bool is_known(video_format format) { return layout_of(format) != nullptr; }

Worker::Worker()
    : denoiser_([](const char* sentence) { blog(LOG_WARNING, "[limpid] %s", sentence); }),
      thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    state_ = State::kEnded;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::set(const plugins::Settings& settings) {
  const std::scoped_lock lock(mutex_);
  settings_ = settings;
  state_ = state_ == State::kFailed ? State::kIdle : state_;  // new settings may be valid
}

void Worker::filter(obs_source_frame& frame, std::uint64_t nanoseconds) {
  std::unique_lock lock(mutex_);
  if (state_ == State::kFailed) {
    return;
  }
  if (state_ == State::kGiven) {
    return tell_late();
  }
  if (frame_ == nullptr || !same_format(*frame_, frame)) {
    frame_.reset(obs_source_frame_create(frame.format, frame.width, frame.height));
  }
  obs_source_frame_copy(frame_.get(), &frame);
  state_ = State::kGiven;
  changed_.notify_all();
  changed_.wait_for(lock, std::chrono::nanoseconds(nanoseconds), [this] { return state_ != State::kGiven; });
  if (state_ == State::kDone) {
    obs_source_frame_copy(&frame, frame_.get());  // with the time and colors of the frame
  } else if (state_ == State::kGiven) {
    tell_late();
  }
}

void Worker::tell_late() {
  if (!std::exchange(told_late_, true)) {
    blog(LOG_WARNING, "[limpid] frames take longer to denoise than OBS can wait: late ones pass as they are");
  }
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return state_ == State::kGiven || state_ == State::kEnded; });
    if (state_ == State::kEnded) {
      return;
    }
    const plugins::Settings settings = settings_;
    lock.unlock();
    State state = State::kDone;
    try {
      denoise(settings);
    } catch (const std::exception& error) {
      blog(LOG_ERROR, "[limpid] %s", error.what());
      state = State::kFailed;
    }
    lock.lock();
    if (state_ != State::kEnded) {
      state_ = state == State::kFailed && settings != settings_ ? State::kIdle : state;
    }
    changed_.notify_all();
  }
}

void Worker::denoise(const plugins::Settings& settings) {
  const Layout& layout = *layout_of(frame_->format);
  denoiser_.take(format_of(*frame_, layout), settings);
  limpid_frame frame = frame_of(*frame_, layout);
  denoiser_.send(frame);
  denoiser_.receive_into(frame);
}

}  // namespace limpid::obs
