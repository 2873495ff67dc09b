#!/usr/bin/env bash
# Builds Limpid and runs all its tests. Arguments go to ctest, such as -R NAME or --verbose.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash .ci/setup.sh test
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset release -DLIMPID_TESTS=ON
cmake --build --preset release --parallel "$(nproc)"
ctest --preset release --parallel "$(nproc)" "$@"
