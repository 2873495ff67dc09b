// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace limpid {

/// A queue between two threads that holds at most `capacity` units. Each item has a cost in these units. An
/// item whose cost exceeds the capacity is accepted when the queue is empty, which avoids a deadlock.
/// Thread-safe.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for free capacity. Returns false, and drops the item, if the queue is closed or cancelled.
  bool push(T item, std::size_t cost = 1) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || has_room(cost); });
    return add(item, cost);
  }

  /// Takes the item and returns true if there is free capacity.
  bool try_push(T item, std::size_t cost = 1) {
    const std::scoped_lock lock(mutex_);
    return has_room(cost) && add(item, cost);
  }

  /// Waits for an item. Returns nothing if the queue is empty and closed, or cancelled.
  std::optional<T> pop() {
    return pop_unless([] { return false; });
  }

  /// Returns the next item. Waits for an item until `enough` returns true. `enough` is called again at each
  /// wake() and must not call the queue.
  template <typename Enough>
  std::optional<T> pop_unless(const Enough& enough) {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || !items_.empty() || enough(); });
    std::optional<T> item;
    if (!items_.empty()) {
      item.emplace(std::move(items_.front().first));
      used_ -= items_.front().second;
      items_.pop_front();
      room_.notify_one();
    }
    return item;
  }
  void wake() {
    const std::scoped_lock lock(mutex_);
    filled_.notify_all();
  }

  /// True if the queue is empty and no item will follow.
  bool is_done() const {
    const std::scoped_lock lock(mutex_);
    return closed_ && items_.empty();
  }

  /// Accepts no more items; those in the queue can still be popped.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    room_.notify_all();
    filled_.notify_all();
  }

  /// Accepts no more items and drops those in the queue.
  void cancel() {
    std::list<std::pair<T, std::size_t>> dropped;  // destroyed after the lock is released
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    dropped.swap(items_);
    used_ = 0;
    room_.notify_all();
    filled_.notify_all();
  }

 private:
  bool has_room(std::size_t cost) const { return items_.empty() || used_ + cost <= capacity_; }
  bool add(T& item, std::size_t cost) {
    if (!closed_) {
      used_ += cost;
      items_.emplace_back(std::move(item), cost);
      filled_.notify_one();
    }
    return !closed_;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  /// A container whose constructor allocates nothing: cancel() must not fail for lack of memory.
  std::list<std::pair<T, std::size_t>> items_;
  std::size_t used_ = 0;
  bool closed_ = false;
};

}  // namespace limpid
