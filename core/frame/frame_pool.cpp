// SPDX-License-Identifier: MIT
#include "core/frame/frame_pool.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace limpid {
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
