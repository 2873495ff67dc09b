// SPDX-License-Identifier: MIT
#pragma once

namespace limpid::io {

/// In pixels.
struct Size {
  int width = 0;
  int height = 0;
  bool operator==(const Size&) const = default;
};

}  // namespace limpid::io
