// SPDX-License-Identifier: MIT
#pragma once

namespace limpid::io {

/// Limits the threads that libav's decoders and encoders start by default to `processors`. libav itself
/// counts the processors of the affinity mask, without the quotas of control groups. Process-wide.
void limit_libav_threads(int processors);

}  // namespace limpid::io
