#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs Limpid, moves the installation, builds the examples against it in both ways, and compares their results bit by bit with the
# program's.
# Usage: installed.sh BUILD_FOLDER SOURCE_FOLDER EMPTY_FOLDER
set -euo pipefail
build=$1 source=$2 folder=$3
cd "$folder"
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR

cmake --install "$build" --prefix "$folder/first" >/dev/null
mv first moved
prefix=$folder/moved
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name limpid.pc)")
libraries=$(pkg-config --variable=libdir limpid)

bash "$source/tests/lib/runpaths.sh" "$prefix"

# Build with pkg-config.
mkdir by_pkg_config
read -ra flags <<<"$(pkg-config --cflags --libs limpid)"
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -o by_pkg_config/denoise_y4m "$source/samples/library/denoise_y4m.c" "${flags[@]}" -Wl,-rpath,"$libraries"
c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -o by_pkg_config/denoise_raw "$source/samples/library/denoise_raw.cpp" "${flags[@]}" -Wl,-rpath,"$libraries"
# Build with find_package().
cmake -G Ninja -S "$source/samples/library" -B by_find_package -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build by_find_package >/dev/null
# Versions with this SONAME are compatible, later and other ones are not.
for request in "0 0" "0.1 0" "1 1" "0.99 1"; do
  printf 'cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES C)\nfind_package(limpid %s REQUIRED)\n' "${request% *}" >CMakeLists.txt
  status=0
  cmake -G Ninja -S . -B by_version -DCMAKE_PREFIX_PATH="$prefix" >/dev/null 2>&1 || status=1
  [[ $status -eq ${request#* } ]]
done

# Not through a pipe: grep would close it early, which would be an error of the program before it.
grep -q 'NEEDED.*liblimpid\.so\.0\]' <<<"$(readelf --dynamic by_pkg_config/denoise_y4m)"
if readelf --dynamic "$libraries/liblimpid.so" | grep -E 'NEEDED.*lib(av|sw|SDL|X11|spdlog|fmt)'; then
  echo "the library depends on libraries that only the program should use"
  exit 1
fi

# The packages' symbols file agrees with the library.
diff <(nm --dynamic --defined-only "$libraries/liblimpid.so" | awk '$3 !~ /LIMPID_PRIVATE/ { print $3 }' | sed 's/@.*//' | sort -u) \
  <(sed -n 's/^ \(.*\)@LIMPID_0 .*/\1/p' "$source/debian/liblimpid0.symbols" | sort)

# The program and plug-ins find the library beside them.
grep -q "liblimpid.so.0 => $prefix/bin/\.\./.*/liblimpid.so.0" <<<"$(ldd "$prefix/bin/limpid")"
for plugin in vapoursynth/libvslimpid.so frei0r-1/limpid.so gstreamer-1.0/libgstlimpid.so obs-plugins/limpid.so; do
  if [[ -e $libraries/$plugin ]]; then
    grep -q "liblimpid.so.0 => $libraries/${plugin%/*}/../liblimpid.so.0" <<<"$(ldd "$libraries/$plugin")"
  fi
done

# Frames without the files' heads, which may differ.
frames() { ffmpeg -v error -i "$1" -f rawvideo - </dev/null; }
same() { cmp <(frames "$1") <(frames "$2"); }

"$build/bin/limpid-samples" --size 96x64 --frames 6 --sigma 20 --noisy noisy.y4m
"$prefix/bin/limpid" denoise noisy.y4m -o clean.y4m -q --engine cpu
frames noisy.y4m >noisy.yuv
for way in by_pkg_config by_find_package; do
  "$way/denoise_y4m" engine=cpu <noisy.y4m >"$way.y4m"
  same clean.y4m "$way.y4m"
  "$way/denoise_raw" 96 64 <noisy.yuv >"$way.yuv" 2>messages
  cmp <(frames clean.y4m) "$way.yuv"
done
grep -q '^cpu: ' messages

# Other samples, other settings.
"$build/bin/limpid-samples" --size 97x61 --frames 3 --sigma 20 --format 444 --depth 10 --noisy noisy10.y4m
"$prefix/bin/limpid" denoise noisy10.y4m -o clean10.y4m -q --engine cpu --filter bm3d --profile fast --sigma 20,10,10 --strength strong
by_pkg_config/denoise_y4m engine=cpu filter=bm3d profile=fast sigma=20,10,10 strength=strong <noisy10.y4m >result10.y4m
same clean10.y4m result10.y4m
if by_pkg_config/denoise_y4m filter=bm5d <noisy10.y4m >wrong.y4m 2>messages; then
  echo "an unknown filter was taken"
  exit 1
fi
grep -q 'there is no filter "bm5d"' messages
