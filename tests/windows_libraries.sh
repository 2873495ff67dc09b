#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds static libraries for Windows from Debian's source packages, in /opt/windows: what Limpid contains, and what its tests need. Requires
# Debian 12, root, and entries deb-src in apt's sources. tests/windows.sh runs it in a fresh system.
# Usage: tests/windows_libraries.sh FOLDER    FOLDER: for the sources
set -euo pipefail
shopt -s inherit_errexit
toolchain=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/windows.cmake
prefix=/opt/windows
mkdir -p "$1" "$prefix/include" "$prefix/lib/cmake"
cd "$1"
apt-get source -qq highway onetbb fftw3 googletest

# Usage: build SOURCE [CMAKE'S OPTION...]
build() {
  local source
  source=$(echo "$1"-*/)
  shift
  cmake -S "$source" -B "build-$source" -G Ninja --toolchain "$toolchain" --install-prefix "$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POLICY_DEFAULT_CMP0077=NEW "$@"
  cmake --build "build-$source" --parallel "$(nproc)"
  cmake --install "build-$source"
}

build highway -DBUILD_TESTING=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF
build onetbb -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF
# The directives in oneTBB's objects would export its functions from each DLL that contains it.
x86_64-w64-mingw32-objcopy --remove-section .drectve "$prefix"/lib/libtbb*.a
build fftw3 -DBUILD_TESTS=OFF
build googletest -DBUILD_GMOCK=OFF
# Headers only.
cp -r /usr/include/nlohmann "$prefix/include/"
cp -r /usr/share/cmake/nlohmann_json "$prefix/lib/cmake/"
