// SPDX-License-Identifier: MIT
#pragma once

// Messages that libraries below SDL print to standard error. Private to io.

namespace limpid::io {

/// Suppresses the messages of ALSA and Wayland that there is no sound card or no compositor, which SDL
/// reports to the program, too. One call in a process is enough.
void silence_libraries();

}  // namespace limpid::io
