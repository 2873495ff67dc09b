#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs missing Debian packages that Limpid requires.
# Usage: .ci/setup.sh [test] [check]    packages for building; test: also for the tests; check: also for the checks
set -euo pipefail

packages=(
  cmake ninja-build g++ pkg-config git ca-certificates
  libavformat-dev libavcodec-dev libavfilter-dev libavutil-dev libswscale-dev
  libswresample-dev libavdevice-dev libtiff-dev libsdl2-dev libfontconfig-dev libx11-dev libimgui-dev libopengl-dev
  libpipewire-0.3-dev
  libspdlog-dev libhwy-dev libtbb-dev nlohmann-json3-dev
)
for group in "$@"; do
  case $group in
    test)
      packages+=(
        libgtest-dev libbenchmark-dev libfftw3-dev ffmpeg xvfb xdotool
        libobs-dev
        bash-completion man-db mandoc
        python3-dev python3-venv
        frei0r-plugins-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-base gstreamer1.0-tools
        pipewire gstreamer1.0-pipewire
      )
      ;;
    check) packages+=(clang-format clang-tidy abigail-tools) ;;
    *) echo "$0: unknown group of packages '$group' (test, check)" >&2; exit 2 ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "No apt here: the equivalents of these Debian packages must be installed: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages: ${missing[*]}. Install them as root, or install sudo." >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
# Another apt may be running, as after a start of the machine. apt-get update does not wait for it by itself.
for ((tries = 60; ; --tries)); do
  if message=$("${as_root[@]}" apt-get update -qq </dev/null 2>&1); then
    break
  fi
  if [[ $message != *"Could not get lock"* || $tries -eq 0 ]]; then
    printf '%s\n' "$message" >&2
    exit 1
  fi
  sleep 5
done
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
  -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "${missing[@]}" </dev/null >/dev/null
