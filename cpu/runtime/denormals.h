#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace limpid::cpu {

/// While an object of this class exists, denormal operands and results (under 2^-126) of this thread's
/// floating-point operations count as 0. x86 processors take a hundred times as long for denormals as for
/// other numbers, and weights become that small wherever a picture has strong contrast. On other processors
/// denormals cost nothing, and the class has no effect.
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
