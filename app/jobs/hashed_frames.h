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
#include "io/media/reader.h"

namespace limpid::app {

/// A source's frames with their hashes (io::frame_hash()). They are read and hashed on threads of their own,
/// some frames ahead of the one who takes them, which costs more time than most of what is done with them.
class HashedFrames {
 public:
  struct HashedFrame {
    Frame frame;
    std::uint64_t hash = 0;
  };

  /// Gives a frame in the host's memory, the one that it is given or a copy of it.
  using Copier = std::function<Frame(const Frame&)>;

  /// `most`: frames, but for those that are context only; 0: all. `copy` is called for each frame, on several
  /// threads at once. `reader` is left alone by others until this is destroyed.
  HashedFrames(io::Reader& reader, std::int64_t most, Copier copy);
  ~HashedFrames();
  HashedFrames(const HashedFrames&) = delete;
  HashedFrames& operator=(const HashedFrames&) = delete;

  /// The next frame, in the source's order; nothing at the end. Throws what the reader has thrown.
  std::optional<HashedFrame> next();

 private:
  struct Task {
    Frame frame;
    std::promise<HashedFrame> result;
  };

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
