#include "app/jobs/hashed_frames.h"

#include <variant>

#include "io/media/frame_hash.h"

namespace limpid::app {

HashedFrames::HashedFrames(io::Reader& reader, std::int64_t most) {
  for (int i = 0; i < kHashing; ++i) {
    threads_.emplace_back([this] { hash(); });
  }
  threads_.emplace_back([this, &reader, most] {
    try {
      read(reader, most);
    } catch (...) {
      failure_ = std::current_exception();
    }
    tasks_.close();
    pending_.close();
  });
}

HashedFrames::~HashedFrames() {
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
      std::promise<std::uint64_t> hash;
      if (!pending_.push({*frame, hash.get_future()}) || !tasks_.push({std::move(*frame), std::move(hash)})) {
        return;
      }
    }
  }
}

void HashedFrames::hash() {
  while (std::optional<Task> task = tasks_.pop()) {
    auto& [frame, hash] = *task;
    try {
      hash.set_value(io::frame_hash(frame));
    } catch (...) {
      hash.set_exception(std::current_exception());
    }
  }
}

std::optional<HashedFrames::HashedFrame> HashedFrames::next() {
  std::optional<Pending> pending = pending_.pop();
  if (!pending) {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return std::nullopt;
  }
  auto& [frame, hash] = *pending;
  return HashedFrame{std::move(frame), hash.get()};
}

}  // namespace limpid::app
