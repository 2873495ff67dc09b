// SPDX-License-Identifier: MIT
#include "io/media/libav_threads.h"

extern "C" {
#include <libavutil/cpu.h>
}

namespace limpid::io {

void limit_libav_threads(int processors) {
  if (processors < av_cpu_count()) {
    av_cpu_force_count(processors);
  }
}

}  // namespace limpid::io
