// SPDX-License-Identifier: MIT
// A system that runs out of threads: preloaded into a program, this library allows it to start
// LIMPID_TEST_THREADS threads and no more.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

int threads_allowed() {
  const char* const text = std::getenv("LIMPID_TEST_THREADS");
  return text == nullptr ? 0 : std::atoi(text);  // NOLINT(cert-err34-c): the tests write it
}

}  // namespace

// The system's name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> left = threads_allowed();
  return left.fetch_sub(1) > 0 ? create(thread, attributes, function, argument) : EAGAIN;
}
