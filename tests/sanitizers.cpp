// SPDX-License-Identifier: MIT
// Suppressions of sanitizer reports about libraries without instrumentation. Compiled into each test program,
// or program under test, that uses libav or the CPU engine.

// The sanitizers find these functions by their reserved names.
// NOLINTBEGIN(readability-identifier-naming,misc-definitions-in-headers)

/// libx265, and libdbus and Mesa, which SDL opens, never free a few small blocks.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libx265.so\nleak:libdbus-1.so\nleak:libEGL_mesa.so\nleak:libGLX_mesa.so\nleak:_dri.so\n";
}

#ifdef __SANITIZE_ADDRESS__
/// Libraries stay loaded, so that suppressions find their names at the end of the process.
extern "C" int dlclose(void* library) noexcept;
extern "C" int dlclose(void* /*library*/) noexcept { return 0; }
#endif

/// Prevents output of suppressions, since the program's output is tested.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }

/// ThreadSanitizer does not see the atomic counters by which libav and the encoders pass frames from thread
/// to thread, nor the internals of oneTBB; core/base/parallel.h shows it the order of Limpid's tasks.
/// libstdc++ counts the references to an exception inside the library: the thread that releases the last one
/// seems to free it without waiting for threads that have read it.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:std::__exception_ptr::exception_ptr::_M_release\n"
         "race:oneapi/tbb/\n"
         "race:tbb::detail::\n"
         "race:libtbb.so\n"
         "race:libavcodec.so\n"
         "race:libavformat.so\n"
         "race:libavutil.so\n"
         "race:libswscale.so\n"
         "race:libx264.so\n"
         "race:libx265.so\n"
         "race:libvpx.so\n"
         "race:libdav1d.so\n"
         "race:swrast_dri.so\n";
}

/// A report whose other stack ThreadSanitizer has lost cannot be assigned to Limpid or a library, so the
/// history is as long as possible. One report remains, a write to the stack where a oneTBB thread has read 8
/// bytes: the last task of a parallel loop reads the loop's wait node there (fold_tree()) before the caller
/// continues, which only the library sees.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "history_size=7"; }

// NOLINTEND(readability-identifier-naming,misc-definitions-in-headers)
