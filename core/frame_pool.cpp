#include "core/frame_pool.h"

#include <mutex>
#include <utility>
#include <vector>

namespace limpid {

// Free frames of the format that was asked for last. A change of format drops those of the old one.
struct FramePool::State {
  std::mutex mutex;
  FrameFormat format;
  std::vector<Frame> free;
};

FramePool::FramePool(Allocator allocate)
    : allocate_(std::move(allocate)), state_(std::make_shared<State>()) {}

Frame FramePool::allocate(const FrameFormat& format) {
  Frame frame;
  {
    const std::scoped_lock lock(state_->mutex);
    if (state_->format != format) {
      state_->format = format;
      state_->free.clear();
    }
    if (!state_->free.empty()) {
      frame = std::move(state_->free.back());
      state_->free.pop_back();
    }
  }
  if (frame.samples == nullptr) {
    frame = allocate_(format);
  }
  Frame lent = frame;
  const auto give_back = [pool = std::weak_ptr<State>(state_), frame](void* /*samples*/) {
    const std::shared_ptr<State> state = pool.lock();
    if (state != nullptr) {
      const std::scoped_lock lock(state->mutex);
      if (state->format == frame.format) {
        state->free.push_back(frame);
      }
    }
  };
  lent.samples = std::shared_ptr<void>(frame.samples.get(), give_back);
  return lent;
}

}  // namespace limpid
