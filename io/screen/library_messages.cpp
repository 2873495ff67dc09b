// SPDX-License-Identifier: MIT
#include "io/screen/library_messages.h"

#include <dlfcn.h>

#include <cstdarg>

namespace limpid::io {
namespace {

// The types of alsa/error.h and wayland-util.h. SDL may have been built without either, so they are not
// linked.
using AlsaHandler = void (*)(const char* file, int line, const char* function, int error, const char* format,
                             ...);
using WaylandHandler = void (*)(const char* format, va_list arguments);

void ignore_alsa(const char* /*file*/, int /*line*/, const char* /*function*/, int /*error*/,
                 const char* /*format*/, ...) {}
void ignore_wayland(const char* /*format*/, va_list /*arguments*/) {}

/// Calls `setter` of a library, which stays loaded then, with `handler`, if both are there.
template <typename Result, typename Handler>
void set_handler(const char* library, const char* setter, Handler handler) {
  if (void* const loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE); loaded != nullptr) {
    if (void* const found = dlsym(loaded, setter); found != nullptr) {
      reinterpret_cast<Result (*)(Handler)>(found)(handler);
    }
    dlclose(loaded);
  }
}

}  // namespace

void silence_libraries() {
  set_handler<int, AlsaHandler>("libasound.so.2", "snd_lib_error_set_handler", ignore_alsa);
  set_handler<void, WaylandHandler>("libwayland-client.so.0", "wl_log_set_handler_client", ignore_wayland);
}

}  // namespace limpid::io
