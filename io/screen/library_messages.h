// SPDX-License-Identifier: MIT
#pragma once

// What libraries below SDL print to standard error by themselves. Private to io.

namespace limpid::io {

/// Keeps ALSA and Wayland from telling there what SDL tells the program, too: that there is no sound card, or
/// no compositor. Once in a process is enough.
void silence_libraries();

}  // namespace limpid::io
