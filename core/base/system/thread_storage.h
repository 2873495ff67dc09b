// SPDX-License-Identifier: MIT
#pragma once

namespace limpid {

/// The object of this thread of a type. GCC for Windows frees its emulated thread storage before destructors
/// in it have run, so the object is not destroyed there, and each thread that uses it leaves its memory
/// behind.
template <typename Object>
Object& thread_storage() {
#ifdef _WIN32
  thread_local Object* const object = new Object;
  return *object;
#else
  thread_local Object object;
  return object;
#endif
}

}  // namespace limpid
