#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the archive for any Linux with glibc 2.36 or later in a fresh Debian 12, with an FFmpeg of its own: program, C library, plug-ins for
# VapourSynth and OpenFX, and, with nvcc on this machine, the CUDA engine. Tries it in fresh systems without FFmpeg.
# Usage: tests/portable.sh [PART...]    build, try; without, both. LIMPID_SYSTEMS lists the systems to try (bookworm trixie sid).
# Makes out/portable/limpid-VERSION-Linux-x86-64.tar.xz. Needs root, debootstrap and PyPI. What is committed is built. LIMPID_CCACHE and
# LIMPID_ROOTS: see tests/fresh_root.sh. LIMPID_CUDA_ARCHITECTURES: see cuda/CMakeLists.txt.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/fresh_root.sh

parts=("$@")
[[ $# -gt 0 ]] || parts=(build try)
read -ra systems <<<"${LIMPID_SYSTEMS:-bookworm trixie sid}"
version=$(sed -nE 's/^project\(limpid VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
name=limpid-$version-Linux-$(uname -m | tr _ -)
out=$PWD/out/portable
logs=$PWD/out/portable-logs
mkdir -p "$out" "$logs"
folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-portable.XXXXXX")
chmod 755 "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
export DEBIAN_FRONTEND=noninteractive SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

packages="ca-certificates ccache cmake g++ nasm ninja-build patchelf pkg-config dpkg-dev xz-utils
  libhwy-dev libimgui-dev libspdlog-dev libtbb-dev libtiff-dev nlohmann-json3-dev
  libaom-dev libdav1d-dev libjxl-dev libmp3lame-dev libopenjp2-7-dev libopus-dev libsvtav1enc-dev libvpx-dev libwebp-dev libx264-dev
  libx265-dev libzimg-dev zlib1g-dev
  libasound2-dev libdbus-1-dev libdecor-0-dev libegl-dev libfontconfig-dev libgl-dev libpipewire-0.3-dev libpulse-dev libudev-dev
  libwayland-dev libx11-dev libxcursor-dev libxext-dev libxi-dev libxkbcommon-dev libxrandr-dev libxss-dev wayland-protocols"

# A Debian 12 with the libraries in /opt/limpid.
make_builder() {
  if [[ -n ${LIMPID_ROOTS:-} && -d $LIMPID_ROOTS/bookworm-portable ]]; then
    make_root bookworm-portable "$root"
    return
  fi
  make_root bookworm "$root" >"$logs/root.log" 2>&1
  mkdir "$root/scripts"
  cp tests/release_libraries.sh io/media/filter_chain.cpp "$root/scripts/"
  step packages "$root" "
    printf 'deb-src $mirror bookworm main\ndeb-src $mirror trixie main\n' >/etc/apt/sources.list.d/sources.list
    apt-get update -qq; apt-get install -qq -y --no-install-recommends $(echo $packages)"
  copy_settings "$root"  # the package ca-certificates has replaced the certificates
  step libraries "$root" '/scripts/release_libraries.sh linux /sources sdl ffmpeg; rm -rf /sources'
  keep_root "$root" bookworm-portable
}

build() {
  make_builder
  git clone --quiet --no-hardlinks . "$root/limpid"
  mkdir -p "$root/limpid/build"
  bash .ci/vapoursynth.sh build/vapoursynth >/dev/null
  cp -r build/vapoursynth "$root/limpid/build/"
  local cuda=OFF shown_folder=
  if [[ -x /usr/local/cuda/bin/nvcc ]]; then
    cuda=ON
    shown_folder=/usr/local/cuda
  fi
  # shellcheck disable=SC2016  # for the root
  step build "$root" '
    cd /limpid
    export PKG_CONFIG_PATH=/opt/limpid/lib/pkgconfig PATH=$PATH:/usr/local/cuda/bin
    map="-ffile-prefix-map=/limpid=. -ffile-prefix-map=/opt/limpid=."
    cmake --preset release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache -DCMAKE_INSTALL_LIBDIR=lib -DLIMPID_PIPEWIRE=OFF -DLIMPID_CUDA='$cuda' \
      -DPKG_CONFIG_ARGN=--static "-DCMAKE_CXX_FLAGS=$map" "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,relro,-z,now -Wl,--as-needed" \
      -DLIMPID_VAPOURSYNTH=/limpid/build/vapoursynth/vapoursynth '"${LIMPID_CUDA_ARCHITECTURES:+-DLIMPID_CUDA_ARCHITECTURES=$LIMPID_CUDA_ARCHITECTURES}"'
    cmake --build --preset release --parallel $(nproc)'
  step collect "$root" "/limpid/tests/portable_files.sh /limpid/build/release /limpid/out/$name"
  cp "$root/limpid/out/$name.tar.xz" "$out/"
}

# Uses the archive in a system without FFmpeg: denoises without a display, opens the window on a display in memory, and loads the plug-in
# in VapourSynth.
# Usage: try_in SYSTEM
try_in() {
  local system=$1 root=$folder/$1
  make_root "$system" "$root" >"$logs/$system-root.log" 2>&1
  bash .ci/vapoursynth.sh build/vapoursynth >/dev/null
  mkdir "$root/try"
  cp "$out/$name.tar.xz" samples/sample_noisy.mkv "$root/try/"
  cp tests/python/use_portable_plugin.py build/vapoursynth/vapoursynth-*.whl "$root/try/"
  step "$system-packages" "$root" 'apt-get update -qq; apt-get install -qq -y --no-install-recommends xz-utils libstdc++6'
  step "$system-denoise" "$root" "
    cd /try; tar xf $name.tar.xz; ln -s $name limpid
    ! ldconfig -p | grep -E 'libav|libX11|libGL' || exit 1
    time limpid/bin/limpid denoise sample_noisy.mkv -o clean.mkv --quality fast
    limpid/bin/limpid measure sample_noisy.mkv clean.mkv --json >measured.json
    for codec in libx264 libx265 libsvtav1 libaom-av1 libvpx-vp9 ffv1 prores_ks; do
      limpid/bin/limpid denoise sample_noisy.mkv -o \$codec.mkv -c \$codec --filter bilateral --frames 4
    done
    limpid/bin/limpid devices; limpid/bin/limpid --version"
  step "$system-preview" "$root" "
    apt-get install -qq -y --no-install-recommends xvfb xauth libgl1 libgl1-mesa-dri libegl1 libxcursor1 libxi6 libxrandr2 libxss1 \
      libfontconfig1 fonts-dejavu-core xdotool imagemagick
    cd /try
    xvfb-run -a -s '-screen 0 1280x900x24' bash -euc '
      limpid/bin/limpid preview sample_noisy.mkv --filter recursive 2>preview.txt & window=\$!
      for i in \$(seq 60); do xdotool search --name limpid >/dev/null 2>&1 && break; sleep 1; done
      sleep 8; import -window root preview.png; xdotool key q; wait \$window'
    cat preview.txt"
  cp "$root/try/preview.png" "$logs/$system-preview.png"
  step "$system-vapoursynth" "$root" '
    apt-get install -qq -y --no-install-recommends python3-venv; cd /try; python3 -m venv venv
    if venv/bin/python -c "import sys; sys.exit(sys.version_info < (3, 12))"; then
      venv/bin/pip install -q --no-index vapoursynth-*.whl; venv/bin/python use_portable_plugin.py limpid/lib/vapoursynth/libvslimpid.so
    fi'
  rm -rf --one-file-system "$root"
}

for part in "${parts[@]}"; do
  case $part in
    build) build ;;
    try)
      for system in "${systems[@]}"; do
        try_in "$system"
      done
      ;;
    *) echo "$0: unknown part '$part' (build, try)" >&2; exit 2 ;;
  esac
done
ls -l "$out"
