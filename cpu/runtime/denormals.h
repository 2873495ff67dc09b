#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace limpid::cpu {

/// While an object of this class exists, denormal operands and results (under 2^-126) of this thread's
/// floating-point operations count as 0. x86 processors take a hundred times as long for denormals as for
/// other numbers, and weights become that small wherever a picture has strong contrast. ARM processors do not
/// need it, and get it so that their results are those of x86.
class DenormalsAreZero {
 public:
  DenormalsAreZero() { set(saved_ | kFlush); }
  ~DenormalsAreZero() { set(saved_); }
  DenormalsAreZero(const DenormalsAreZero&) = delete;
  DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

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
