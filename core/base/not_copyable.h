// SPDX-License-Identifier: MIT
#pragma once

namespace limpid {

/// Base of classes whose objects are neither copied nor moved.
class NotCopyable {
 public:
  NotCopyable() = default;
  NotCopyable(const NotCopyable&) = delete;
  NotCopyable& operator=(const NotCopyable&) = delete;
};

}  // namespace limpid
