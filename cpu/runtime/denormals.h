// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>

#include "core/base/not_copyable.h"
#endif

namespace limpid::cpu {

/// While an object of this class exists, denormal operands and results (below 2^-126) of floating-point
/// operations of this thread count as 0. x86 processors take a hundred times longer for denormals than for
/// other numbers, and weights become that small at strong contrasts. ARM processors have no such delay, and
/// use the same setting for equal results.
class DenormalsAreZero : NotCopyable {
 public:
  DenormalsAreZero() { set(saved_ | kFlush); }
  ~DenormalsAreZero() { set(saved_); }

 private:
#if defined(__SSE2__)
  using Control = unsigned;
  static constexpr Control kFlush = 1U << 15 | 1U << 6;  // MXCSR: flush to zero, denormals are zero
  static Control get() { return _mm_getcsr(); }
  static void set(Control control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
  using Control = std::uint64_t;
  static constexpr Control kFlush = 1U << 24;  // FPCR.FZ
  static Control get() {
    Control control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set(Control control) { asm volatile("msr fpcr, %0" : : "r"(control)); }
#else
  using Control = unsigned;
  static constexpr Control kFlush = 0;
  static Control get() { return 0; }
  static void set(Control /*control*/) {}
#endif

  Control saved_ = get();
};

}  // namespace limpid::cpu
