// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tests/oracle/bm3d.h"

namespace limpid::oracle {

/// hard_threshold() and wiener() with the three-dimensional discrete Fourier transform of a group, by FFTW,
/// instead of the step's transforms.
Picture fourier_hard_threshold(const Picture& noisy, const std::vector<Group>& groups, const Bm3dStep& step,
                               double lambda, const PlaneNoise& noise);
Picture fourier_wiener(const Picture& noisy, const Picture& basic, const std::vector<Group>& groups,
                       const Bm3dStep& step, const PlaneNoise& noise);

}  // namespace limpid::oracle
