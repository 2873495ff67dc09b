#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Collects the files of the portable archive: what CMake installs, the shared libraries that it needs, their licenses, and a README. Then
# packs them. tests/portable.sh runs it in the system that built them.
# Usage: tests/portable_files.sh BUILD FOLDER    makes FOLDER and FOLDER.tar.xz
set -euo pipefail
shopt -s inherit_errexit
build=$1
folder=$2
scripts=$(dirname "${BASH_SOURCE[0]}")
rm -rf "$folder"
for component in program library development vapoursynth openfx cuda; do
  cmake --install "$build" --prefix "$folder" --strip --component "$component" >/dev/null
done
# The desktop's libraries and those of the compiler are the system's: a copy would not fit its drivers.
system='^(linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|cuda))\.so'
mapfile -t bundled < <(ldd "$folder/bin/limpid" "$folder/lib/liblimpid.so.0" | awk '$3 ~ /^\// { print $3 }' | sort -u |
  grep -v "^$folder" | while read -r library; do [[ $(basename "$library") =~ $system ]] || echo "$library"; done)
mkdir -p "$folder/lib/bundled"
for library in "${bundled[@]}"; do
  cp -L "$library" "$folder/lib/bundled/"
done
strip --strip-unneeded "$folder"/lib/bundled/*
# shellcheck disable=SC2016  # for the loader
{
  patchelf --set-rpath '$ORIGIN' "$folder"/lib/bundled/*
  patchelf --set-rpath '$ORIGIN/../lib:$ORIGIN/../lib/bundled' "$folder/bin/limpid"
  patchelf --set-rpath '$ORIGIN:$ORIGIN/bundled' "$folder"/lib/liblimpid.so.0.*
}
"$scripts/licenses.sh" "$folder/licenses" "${bundled[@]}"
for package in libimgui-dev libspdlog-dev; do
  cp "/usr/share/doc/$package/copyright" "$folder/licenses/$package.txt"
done
cp /opt/limpid/licenses/*.txt /usr/share/common-licenses/GPL-3 "$folder/licenses/"
# The versions, for tests/spdx.py.
for text in "$folder"/licenses/*.txt; do
  dpkg-query --show --showformat '${Package} ${Version}\n' "$(basename "$text" .txt)" 2>/dev/null || true
done >"$folder/licenses/parts.txt"
cat /opt/limpid/licenses/versions >>"$folder/licenses/parts.txt"
cat >"$folder/README" <<END
Limpid $(basename "$folder" | cut -d- -f2), a video denoiser, for any Linux with glibc 2.36 and the C++ library of GCC 12, or later.

    bin/limpid denoise noisy.mkv            denoises a video
    bin/limpid preview noisy.mkv            opens a window (needs X11 or Wayland, and OpenGL)

The folder may stand anywhere. Put bin on PATH, or link bin/limpid into a folder that is.
Plug-ins: lib/vapoursynth/libvslimpid.so (core.std.LoadPlugin), OFX/Plugins/Limpid.ofx.bundle (link it into /usr/OFX/Plugins).
C library: lib/liblimpid.so and include/limpid.h. Engine for NVIDIA GPUs, if lib/limpid is there: needs NVIDIA's driver.
licenses has the licenses of all parts. Limpid is under the MIT license; the program contains FFmpeg and x264 and as a whole is under GPL 3.
END
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$scripts" log -1 --format=%ct)}
tar c -C "$(dirname "$folder")" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" "$(basename "$folder")" |
  xz -6 >"$folder.tar.xz"
du -sh "$folder"
ls -l "$folder.tar.xz"
