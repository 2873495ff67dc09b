#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints CMake's argument for the VapourSynth plug-in, and reports in one line on standard error if it will not be built. VapourSynth is
# not in Debian: its Python package, which contains its headers and core, is downloaded once from PyPI to FOLDER, and not installed.
# Usage: .ci/vapoursynth.sh FOLDER [PLATFORM]    PLATFORM: of the package, such as win_amd64; without, this machine's
set -euo pipefail
folder=$1
version=81
platform=${2:-manylinux_2_28_$(uname -m)}

leave_out() {
  echo "Without the VapourSynth plug-in: $*" >&2
  exit 0
}

if [[ ! -e $folder/vapoursynth/include/VapourSynth4.h ]]; then
  command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || leave_out "there is no pip"
  mkdir -p "$folder"
  message=$(python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.12 --abi abi3 \
    --platform "$platform" --dest "$folder" "vapoursynth==$version" 2>&1) || leave_out "${message##*$'\n'}"
  python3 -m zipfile --extract "$folder"/vapoursynth-*.whl "$folder"
fi
echo "-DLIMPID_VAPOURSYNTH=$(cd "$folder/vapoursynth" && pwd)"
