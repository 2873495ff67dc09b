// SPDX-License-Identifier: MIT
#include "app/jobs/hashed_frames.h"

#include <utility>
#include <variant>

#include "core/base/thread.h"
#include "io/media/frame_hash.h"

namespace limpid::app {

HashedFrames::HashedFrames(io::Reader& reader, std::int64_t most, Copier copy) : copy_(std::move(copy)) {
  try {
    threads_.reserve(kHashing + 1);
    for (int i = 0; i < kHashing; ++i) {
      threads_.push_back(start_thread([this] { hash(); }));
    }
    threads_.push_back(start_thread([this, &reader, most] {
      try {
        read(reader, most);
      } catch (...) {
        failure_ = std::current_exception();
      }
      tasks_.close();
      pending_.close();
    }));
  } catch (...) {
    cancel();  // the threads that run wait for tasks
    throw;
  }
}

HashedFrames::~HashedFrames() { cancel(); }

void HashedFrames::cancel() {
  tasks_.cancel();
  pending_.cancel();
}

void HashedFrames::read(io::Reader& reader, std::int64_t most) {
  for (std::int64_t frames = 0; most == 0 || frames < most;) {
    io::Reader::Item item = reader.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      return;
    }
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      frames += frame->context_only ? 0 : 1;
      std::promise<HashedFrame> result;
      if (!pending_.push(result.get_future()) || !tasks_.push({std::move(*frame), std::move(result)})) {
        return;
      }
    }
  }
}

void HashedFrames::hash() {
  while (std::optional<Task> task = tasks_.pop()) {
    try {
      task->result.set_value(hash(task->frame));
    } catch (...) {
      task->result.set_exception(std::current_exception());
    }
  }
}

HashedFrames::HashedFrame HashedFrames::hash(const Frame& frame) const {
  Frame copied = copy_(frame);
  const std::uint64_t hash = io::frame_hash(copied);
  return {std::move(copied), hash};
}

std::optional<HashedFrames::HashedFrame> HashedFrames::next() {
  std::optional<std::future<HashedFrame>> pending = pending_.pop();
  if (pending) {
    return pending->get();
  }
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  return std::nullopt;
}

}  // namespace limpid::app
