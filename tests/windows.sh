#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the program, the C library and the plug-ins for VapourSynth and OpenFX for Windows in a fresh Debian 12, with mingw-w64, and tests
# them by Wine: the suites, the C example, the results of all filters at each SIMD level, which must be bit-exact with those of a build for
# Linux, and the program as a user runs it (tests/windows_program.sh). Makes in out/windows: the program with the library, the wheel of the
# VapourSynth plug-in and the OpenFX bundle, which import only the system's DLLs.
# Needs root, debootstrap and PyPI. What is committed is tested. LIMPID_CCACHE and LIMPID_ROOTS: see tests/fresh_root.sh.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/fresh_root.sh

folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-windows.XXXXXX")
chmod 755 "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT
root=$folder/root
out=$PWD/out/windows
logs=$PWD/out/windows-logs
version=$(sed -nE 's/^project\(limpid VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
rm -rf "$out"
mkdir -p "$out" "$logs"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export DEBIAN_FRONTEND=noninteractive WINEDEBUG=-all SOURCE_DATE_EPOCH
unset DISPLAY

packages="ca-certificates ccache cmake ninja-build pkg-config dpkg-dev g++ g++-mingw-w64-x86-64-posix wine wine64 libtbb-dev libhwy-dev
  libbenchmark-dev libfftw3-dev libgtest-dev nlohmann-json3-dev python3-venv
  autoconf automake git libtool meson nasm libz-mingw-w64-dev ffmpeg xvfb xauth xdotool imagemagick zip"
if [[ -n ${LIMPID_ROOTS:-} && -d $LIMPID_ROOTS/bookworm-windows ]]; then
  make_root bookworm-windows "$root"
else
  make_root bookworm "$root" >"$logs/root.log" 2>&1
  mkdir "$root/scripts"
  cp tests/windows.cmake tests/release_libraries.sh io/media/filter_chain.cpp .ci/setup.sh "$root/scripts/"
  step packages "$root" "
    printf 'deb-src $mirror bookworm main\ndeb-src $mirror trixie main\n' >/etc/apt/sources.list.d/sources.list
    apt-get update -qq; apt-get install -qq -y --no-install-recommends $(echo $packages)
    /scripts/setup.sh"  # for the build for Linux
  copy_settings "$root"  # the package ca-certificates has replaced the certificates
  step libraries "$root" '/scripts/release_libraries.sh windows /sources zlib json highway tbb tests spdlog imgui tiff sdl x264 \
    x265 svtav1 dav1d aom vpx opus lame zimg openjpeg ffmpeg; rm -rf /sources'
  keep_root "$root" bookworm-windows
fi
git clone --quiet --no-hardlinks . "$root/limpid"
mkdir -p "$root/limpid/build" build
bash .ci/vapoursynth.sh build/vapoursynth-windows win_amd64 >/dev/null
cp -r build/vapoursynth-windows "$root/limpid/build/"

options="-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_BUILD_TYPE=Release -DLIMPID_TESTS=ON -DLIMPID_WERROR=ON -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16"
step build "$root" "
  cd /limpid
  cmake -S . -B build/windows -G Ninja --toolchain tests/windows.cmake $(echo $options) -DLIMPID_VAPOURSYNTH=/limpid/build/vapoursynth-windows/vapoursynth \
    -DPKG_CONFIG_ARGN=--static '-DCMAKE_CXX_FLAGS=-Wa,-muse-unaligned-vector-move -ffile-prefix-map=/limpid=. -ffile-prefix-map=/opt/windows=.'
  cmake --build build/windows --parallel $(nproc) --target limpid limpidw limpid_library limpid_vapoursynth limpid_openfx result_digests core_tests lib_tests \
    lib_device_tests vapoursynth_tests openfx_tests"
step build-linux "$root" "
  cd /limpid
  cmake -S . -B build/linux -G Ninja $(echo $options)
  cmake --build build/linux --parallel $(nproc) --target result_digests limpid_library limpid"

# Bit-exact results. Exit code 2: this processor lacks the SIMD level.
# shellcheck disable=SC2016  # for the root
step digests "$root" '
  cd /limpid/build
  for level in SSE4 AVX2 AVX3 AVX3_DL; do
    linux/bin/result_digests --simd $level >linux.txt && rc=0 || rc=$?
    [[ $rc -ne 2 ]] || { echo "$level: not supported by this processor"; continue; }
    wine windows/bin/result_digests.exe --simd $level | tr -d "\r" >windows.txt
    diff linux.txt windows.txt
    echo "$level: $(wc -l <linux.txt) digests are equal"
  done'
grep -E 'equal|not supported' "$logs/digests.log"
# shellcheck disable=SC2016
step suites "$root" '
  cd /limpid
  ctest --test-dir build/windows --timeout 600 --output-on-failure --parallel $(nproc) -E "clips_tests|results_tests|folders_tests"
  echo "$(grep -c "^\[       OK" build/windows/Testing/Temporary/LastTest.log) tests passed"'
tail -n 1 "$logs/suites.log"

step program "$root" 'umask 22; PATH=$PATH:/usr/games /limpid/tests/windows_program.sh /limpid/build/windows/bin /limpid/build/linux/bin/limpid /program'
cat "$logs/program.log"
cp "$root"/program/preview-*.png "$logs/"

# The products.
step library "$root" "
  cd /limpid
  for component in program library development; do
    cmake --install build/windows --prefix /products/limpid-$version-Windows-x86-64 --strip --component \$component
  done
  cp tests/windows_readme.txt /products/limpid-$version-Windows-x86-64/README.txt
  tests/licenses.sh /products/limpid-$version-Windows-x86-64/licenses /usr/x86_64-w64-mingw32/lib/libwinpthread.a libtbb.so.12 libhwy.so.1
  cmake --install build/windows --prefix /products/bundle --strip --component openfx
  tests/licenses.sh /products/bundle/OFX/Plugins/Limpid.ofx.bundle/Contents/Resources/licenses /usr/x86_64-w64-mingw32/lib/libwinpthread.a \
    libtbb.so.12 libhwy.so.1
  cp /opt/windows/licenses/*.txt /usr/share/common-licenses/GPL-3 /products/limpid-$version-Windows-x86-64/licenses/
  cp /opt/windows/licenses/versions /products/limpid-$version-Windows-x86-64/licenses/parts.txt
  export TZ=UTC
  find /products -exec touch --date=@$SOURCE_DATE_EPOCH {} +
  cd /products
  find limpid-$version-Windows-x86-64 -type f | LC_ALL=C sort | zip -9qX@ limpid-$version-Windows-x86-64.zip
  cd bundle/OFX/Plugins
  find Limpid.ofx.bundle -type f | LC_ALL=C sort | zip -9qX@ /products/Limpid-$version-Windows-x86-64.ofx.zip"
# Python names wheels after the system that this variable states.
step wheel "$root" "
  python3 -m venv /venv
  /venv/bin/pip --quiet install wheel scikit-build-core
  cd /limpid
  _PYTHON_HOST_PLATFORM=win-amd64 CMAKE_ARGS='--toolchain /limpid/tests/windows.cmake' /venv/bin/pip wheel --no-deps --no-build-isolation \
    --ignore-requires-python --wheel-dir /products --config-settings cmake.define.LIMPID_VAPOURSYNTH=/limpid/build/vapoursynth-windows/vapoursynth \
    --config-settings 'cmake.define.CMAKE_MODULE_LINKER_FLAGS=-s -static -Wl,--no-insert-timestamp' --config-settings cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache \
    --config-settings cmake.define.CMAKE_UNITY_BUILD_BATCH_SIZE=16 plugins/vapoursynth
  tests/wheel_licenses.sh /venv/bin/python /products/vapoursynth_limpid-*-win_amd64.whl /usr/x86_64-w64-mingw32/lib/libwinpthread.a \
    libtbb.so.12 libhwy.so.1"

# Uses each product without the build. The input of the example is any file's bytes, which move by three samples per frame.
step use "$root" '
  cd /products
  mkdir use
  cmake -E chdir use cmake -E tar xf "$(echo /products/limpid-*.zip)"
  cmake -E chdir use cmake -E tar xf "$(echo /products/Limpid-*.zip)"
  cmake -E chdir use cmake -E tar xf "$(echo /products/*.whl)"
  library=$(echo use/limpid-*)
  export WINEPATH=Z:$PWD/$library/bin PKG_CONFIG_LIBDIR=$library/lib/pkgconfig
  x86_64-w64-mingw32-gcc-posix -std=c99 -Wall -Wextra -Wpedantic -Werror -o example.exe /limpid/samples/library/denoise_y4m.c \
    $(pkg-config --cflags --libs limpid)
  gcc -std=c99 -o example /limpid/samples/library/denoise_y4m.c -I/limpid/lib/include /limpid/build/linux/bin/liblimpid.so \
    -Wl,-rpath,/limpid/build/linux/bin
  bytes=/usr/x86_64-w64-mingw32/lib/libwinpthread.a
  { echo "YUV4MPEG2 W96 H64 F25:1 C420"
    for i in $(seq 20); do echo FRAME; tail -c +$((20000 + 3 * i)) $bytes | head -c 9216 || true; done; } >noisy.y4m
  for settings in profile=fast "sigma=12 filter=recursive"; do
    ./example engine=cpu $settings <noisy.y4m >linux.y4m
    wine example.exe engine=cpu $settings <noisy.y4m >windows.y4m
    [[ $(stat -c %s linux.y4m) -gt 180000 ]]
    cmp linux.y4m windows.y4m
  done
  LIMPID_VAPOURSYNTH_PLUGIN=Z:$(echo $PWD/use/vapoursynth/plugins/limpid/*.dll) wine /limpid/build/windows/bin/vapoursynth_tests.exe
  LIMPID_OPENFX_PLUGIN=Z:$(echo $PWD/use/Limpid.ofx.bundle/Contents/Win64/Limpid.ofx) wine /limpid/build/windows/bin/openfx_tests.exe
  for made in $(find $library/bin -name "*.exe") $library/bin/limpid.dll use/vapoursynth/plugins/limpid/*.dll use/Limpid.ofx.bundle/Contents/Win64/Limpid.ofx; do
    imports=$(x86_64-w64-mingw32-objdump -p $made | sed -n "s/.*DLL Name: //p" | xargs)
    echo "$(basename $made): $(stat -c %s $made) bytes, imports $imports"
    [[ -z $(tr " " "\n" <<<"$imports" | grep -viE "^(kernel32|advapi32|msvcrt|bcrypt|comdlg32|gdi32|imm32|ole32|oleaut32|opengl32|psapi|secur32|setupapi|shell32|shlwapi|strmiids|user32|version|vfw32|winmm|ws2_32)\.dll$") ]]
  done
  x86_64-w64-mingw32-objdump -p $library/bin/limpid.dll | sed -n "s/^\t\[ *[0-9]*\] \(limpid_[a-z_]*\)$/\1/p" | sort >exported.txt
  grep -oE "LIMPID_API [^;(]*limpid_[a-z_]+\(" /limpid/lib/include/limpid.h | grep -oE "limpid_[a-z_]+\($" | tr -d "(" | sort >declared.txt
  diff declared.txt exported.txt'
grep imports "$logs/use.log"
cp "$root"/products/*.zip "$root"/products/*.whl "$out/"
ls -l "$out"
