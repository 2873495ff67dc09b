// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "app/pipeline/bounded_queue.h"
#include "core/base/not_copyable.h"
#include "io/media/reader.h"

namespace limpid::app {

/// A source's frames with their hashes (io::frame_hash()). Threads read and hash frames ahead of the
/// consumer, because this takes longer than most uses of the frames.
class HashedFrames : NotCopyable {
 public:
  struct HashedFrame {
    Frame frame;
    std::uint64_t hash = 0;
  };

  /// Returns a frame in host memory: its argument or a copy of it.
  using Copier = std::function<Frame(const Frame&)>;

  /// `most`: maximum number of frames, not counting context; 0: all. `copy` is called for each frame, on
  /// several threads at once. No one else may use `reader` during the lifetime of this object.
  HashedFrames(io::Reader& reader, std::int64_t most, Copier copy);
  ~HashedFrames();

  /// The next frame, in the order of the source; nothing at the end. Throws errors of the reader.
  std::optional<HashedFrame> next();

 private:
  struct Task {
    Frame frame;
    std::promise<HashedFrame> result;
  };

  void cancel();
  void read(io::Reader& reader, std::int64_t most);
  void hash();
  HashedFrame hash(const Frame& frame) const;

  static constexpr std::size_t kAhead = 8;
  static constexpr int kHashing = 2;  // threads

  Copier copy_;
  BoundedQueue<std::future<HashedFrame>> pending_{kAhead};
  BoundedQueue<Task> tasks_{kAhead};
  std::exception_ptr failure_;  // to read; before the queues are closed
  std::vector<std::jthread> threads_;
};

}  // namespace limpid::app
