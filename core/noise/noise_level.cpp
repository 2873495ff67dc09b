#include "core/noise/noise_level.h"

#include <cmath>
#include <string>

#include "core/base/error.h"

namespace limpid {

void NoiseLevel::validate() const {
  for (const float deviation : sigma) {
    if (!std::isfinite(deviation) || deviation < 0 || deviation > 255) {
      throw UsageError("a noise level of " + std::to_string(deviation) + " is not possible (0 to 255)");
    }
  }
}

}  // namespace limpid
