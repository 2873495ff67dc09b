// What the sanitizers report of libraries that aren't instrumented. To be compiled into each test program, or
// program under test, that uses libav or the CPU engine.

// The sanitizers find these functions by their reserved names.
// NOLINTBEGIN(readability-identifier-naming,misc-definitions-in-headers)

/// libx265 never frees a few small blocks, nor libdbus, which SDL opens, its connection's.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libx265.so\nleak:libdbus-1.so\n"; }

/// A program's own words are looked at.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }

/// ThreadSanitizer doesn't see the atomic counters by which libav and the encoders hand frames from thread to
/// thread, nor what oneTBB does inside; core/base/parallel.h shows it the order of our own tasks. libstdc++
/// counts the references to an exception inside the library: the thread that lets go of one last seems to
/// free it without having waited for those that have read it.
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
         "race:libdav1d.so\n";
}

/// A report whose other stack ThreadSanitizer no longer knows can't be told from one of ours: let it know as
/// much as it can. One is left, a write to the stack where a thread of oneTBB has read 8 bytes: the last one
/// of a parallel loop reads the loop's wait node there (fold_tree()) before it lets the caller go on, which
/// the library alone sees.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "history_size=7"; }

// NOLINTEND(readability-identifier-naming,misc-definitions-in-headers)
