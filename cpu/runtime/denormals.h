#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace limpid::cpu {

/// While it lives, this thread's floating-point results and operands under 2^-126 (denormals) are taken for
/// 0. x86 processors take a hundred times as long over denormals as over other numbers, and weights become
/// that small wherever a picture's contrast is great. On other processors denormals cost nothing, and this
/// does nothing.
class DenormalsAreZero {
 public:
  DenormalsAreZero() {
#if defined(__SSE2__)
    _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
#endif
  }
  ~DenormalsAreZero() {
#if defined(__SSE2__)
    _mm_setcsr(saved_);
#endif
  }
  DenormalsAreZero(const DenormalsAreZero&) = delete;
  DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

#if defined(__SSE2__)
 private:
  static constexpr unsigned kFlushToZero = 1U << 15;
  static constexpr unsigned kDenormalsAreZero = 1U << 6;
  unsigned saved_ = _mm_getcsr();
#endif
};

}  // namespace limpid::cpu
