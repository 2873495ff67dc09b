#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds Limpid and runs all its tests.
# Usage: tests/run.sh [-R NAME] [CTEST'S OPTIONS]    NAME: only tests that have it in theirs, or A|B for several
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash .ci/setup.sh test
mapfile -t cuda < <(bash .ci/cuda.sh)
mapfile -t python < <(bash .ci/python.sh build/python)
mapfile -t vapoursynth < <(bash .ci/vapoursynth.sh build/vapoursynth)
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# Larger units than the preset's, as all is compiled once. Newer compilers have more warnings; LIMPID_WERROR=ON makes them errors.
cmake --preset release -DLIMPID_TESTS=ON -DLIMPID_BENCHMARKS=OFF -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 -DLIMPID_WERROR="${LIMPID_WERROR:-OFF}" -DLIMPID_SIMD_LEVELS="${LIMPID_SIMD_LEVELS:-all}" "${cuda[@]}" "${python[@]}" "${vapoursynth[@]}"
cmake --build --preset release --parallel "$(nproc)"
bash tests/suites.sh release "$@"
