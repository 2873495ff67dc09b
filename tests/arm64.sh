#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the engines for arm64 in a fresh Debian, and runs the core suites there by QEMU.
# Usage: tests/arm64.sh [-R NAME]    NAME: only tests that have it in theirs
# Needs root and debootstrap. What is committed is tested. LIMPID_CCACHE=FOLDER keeps what compilers made there.
#
# Filters have the bits of x86 on the same frames, except: BM3D's profiles from np on and V-BM4D round a few samples otherwise. Compilers
# fuse products and sums outside of the SIMD code, where x86 has no such instruction.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/fresh_root.sh

folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-arm64.XXXXXX")
chmod 755 "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
make_root bookworm "$root"
git clone --quiet --no-hardlinks . "$root/limpid"
packages="ca-certificates ccache cmake ninja-build pkg-config g++ g++-aarch64-linux-gnu qemu-user-static libtbb-dev:arm64 libhwy-dev:arm64
  libfftw3-dev:arm64 libgtest-dev:arm64 nlohmann-json3-dev libc6:arm64 libstdc++6:arm64"
in_root "$root" bash -euc "
  dpkg --add-architecture arm64
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(echo $packages)
  cd /limpid
  cmake -S . -B build/arm64 -G Ninja --toolchain tests/arm64.cmake -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_BUILD_TYPE=Release \
    -DLIMPID_PROGRAM=OFF -DLIMPID_TESTS=ON -DLIMPID_BENCHMARKS=OFF -DCMAKE_UNITY_BUILD_BATCH_SIZE=16
  cmake --build build/arm64 --parallel $(nproc) --target core_tests
  ctest --test-dir build/arm64 --output-on-failure --parallel $(nproc) -R core_tests" 
