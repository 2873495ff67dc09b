#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the libraries that downloads contain from Debian's source packages: static, in /opt/limpid (Linux) or /opt/windows. Requires Debian
# 12, root, the packages that tests/portable.sh or tests/windows.sh installs, and entries deb-src of Debian 12 and 13 in apt's sources.
# Usage: tests/release_libraries.sh linux|windows FOLDER [PART...]    FOLDER: for the sources; parts: those at the end; without, all
set -euo pipefail
shopt -s inherit_errexit
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
system=$1
mkdir -p "$2"
cd "$2"
shift 2
export SOURCE_DATE_EPOCH=1 MAKEFLAGS=-j$(nproc)
host=x86_64-w64-mingw32
if [[ $system == windows ]]; then
  prefix=/opt/windows
  export CC="ccache $host-gcc-posix" CXX="ccache $host-g++-posix" AR=$host-ar RANLIB=$host-ranlib STRIP=$host-strip RC=$host-windres
  # See tests/windows.cmake.
  export CFLAGS="-O2 -Wa,-muse-unaligned-vector-move" CXXFLAGS="-O2 -Wa,-muse-unaligned-vector-move"
  export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG="pkg-config --static"
  to_windows=(--host="$host")
else
  prefix=/opt/limpid
  export CC="ccache gcc" CXX="ccache g++" PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  to_windows=()
fi
mkdir -p "$prefix/include" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"

# Unpacks a source package once. Usage: unpack PACKAGE[/RELEASE]    RELEASE: of Debian; without, bookworm. Sets $source.
unpack() {
  local package=${1%/*} release=bookworm
  [[ $1 != */* ]] || release=${1#*/}
  compgen -G "$package-*/" >/dev/null || apt-get source -qq "$package/$release"
  source=$PWD/$(basename "$(echo "$package"-*/)")
  if [[ -f $source/debian/copyright ]]; then
    mkdir -p "$prefix/licenses"
    cp "$source/debian/copyright" "$prefix/licenses/$package.txt"
    dpkg-parsechangelog -l "$source/debian/changelog" | awk '/^Source:/ { name = $2 } /^Version:/ { print name, $2 }' >>"$prefix/licenses/versions"
    sort -u -o "$prefix/licenses/versions" "$prefix/licenses/versions"
  fi
}

# Usage: cmake_part PACKAGE [CMAKE'S OPTION...]    $subfolder: where CMakeLists.txt is, $build: the name of the folder to build in
cmake_part() {
  unpack "$1"
  local folder=${build:-build-$system-$1}
  shift
  local toolchain=()
  [[ $system == linux ]] || toolchain=(--toolchain "$scripts/windows.cmake")
  cmake -S "$source/${subfolder:-}" -B "$folder" -G Ninja "${toolchain[@]}" --install-prefix "$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DBUILD_SHARED_LIBS=OFF -DCMAKE_POLICY_DEFAULT_CMP0077=NEW "$@"
  cmake --build "$folder"
  [[ ${install:-} == no ]] || cmake --install "$folder"
}

# Usage: configure_part PACKAGE [OPTION OF configure...]
configure_part() {
  unpack "$1"
  local package=$1
  shift
  mkdir -p "build-$system-$package"
  (cd "build-$system-$package"; "$source/configure" "${to_windows[@]}" --prefix="$prefix" "$@" && make && make install)
}

part_x264() {
  configure_part x264 --cross-prefix="$host-" --enable-static --disable-cli --enable-pic --disable-opencl
}

part_dav1d() {
  unpack dav1d
  cat >meson.txt <<END
[binaries]
c = ['ccache', '$host-gcc-posix']
ar = '$host-ar'
strip = '$host-strip'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
END
  rm -rf build-dav1d
  meson setup build-dav1d "$source" --cross-file meson.txt --prefix="$prefix" --libdir=lib --buildtype=release --default-library=static \
    -Denable_tools=false -Denable_tests=false -Dc_args="$CFLAGS"
  ninja -C build-dav1d install
}

part_opus() {  # mingw-w64 has the checks of _FORTIFY_SOURCE, which opus adds, in another library
  CFLAGS="$CFLAGS -D_FORTIFY_SOURCE=0" configure_part opus --disable-hardening --disable-shared --disable-doc --disable-extra-programs
}
part_lame() { configure_part lame --disable-shared --disable-frontend --disable-decoder; }
part_zimg() {
  unpack zimg
  (cd "$source"; [[ -x configure ]] || autoreconf -fi)
  configure_part zimg --disable-shared
}
part_openjpeg() { cmake_part openjpeg2 -DBUILD_CODEC=OFF; }
part_aom() { cmake_part aom -DENABLE_DOCS=OFF -DENABLE_EXAMPLES=OFF -DENABLE_TESTS=OFF -DENABLE_TOOLS=OFF; }
part_vpx() {
  unpack libvpx
  mkdir -p build-vpx
  (cd build-vpx; "$source/configure" --target=x86_64-win64-gcc --prefix="$prefix" --as=nasm --enable-vp9-highbitdepth --disable-examples \
    --disable-tools --disable-docs --disable-unit-tests && make && make install)
}
part_svtav1() { cmake_part svt-av1 -DBUILD_APPS=OFF -DBUILD_DEC=OFF -DBUILD_TESTING=OFF; }

# One library of 8, 10 and 12 bits, as Debian's is.
part_x265() {
  local depth high=(-DENABLE_CLI=OFF -DENABLE_SHARED=OFF -DENABLE_LIBNUMA=OFF)
  for depth in 12 10; do
    install=no build=build-x265-$depth subfolder=source cmake_part x265 "${high[@]}" -DHIGH_BIT_DEPTH=ON -DEXPORT_C_API=OFF \
      -DMAIN12=$([[ $depth == 12 ]] && echo ON || echo OFF)
  done
  mkdir -p build-x265
  cp build-x265-10/libx265.a build-x265/libx265_main10.a
  cp build-x265-12/libx265.a build-x265/libx265_main12.a
  build=build-x265 subfolder=source cmake_part x265 "${high[@]}" -DEXTRA_LIB='x265_main10.a;x265_main12.a' -DEXTRA_LINK_FLAGS=-L. \
    -DLINKED_10BIT=ON -DLINKED_12BIT=ON
  printf 'CREATE %s\nADDLIB %s\nADDLIB %s\nADDLIB %s\nSAVE\nEND\n' all.a build-x265/libx265.a build-x265/libx265_main10.a \
    build-x265/libx265_main12.a | "$AR" -M
  mv all.a "$prefix/lib/libx265.a"
}

part_highway() { cmake_part highway -DBUILD_TESTING=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF; }
part_tbb() {
  cmake_part onetbb -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF
  # The directives in oneTBB's objects would export its functions from each DLL that contains it.
  "$host-objcopy" --remove-section .drectve "$prefix"/lib/libtbb*.a
}
part_zlib() {  # Debian's, without its import library, which -lz would be
  cp "/usr/$host/lib/libz.a" "$prefix/lib/"
  printf 'Name: zlib\nDescription: zlib\nVersion: 1.2.13\nLibs: -L%s/lib -lz\n' "$prefix" >"$prefix/lib/pkgconfig/zlib.pc"
  mkdir -p "$prefix/licenses"
  cp /usr/share/doc/libz-mingw-w64-dev/copyright "$prefix/licenses/libz-mingw-w64.txt"
  dpkg-query --show --showformat 'libz-mingw-w64 ${Version}\n' libz-mingw-w64-dev >>"$prefix/licenses/versions"
}
part_json() {  # headers only
  cp -r /usr/include/nlohmann "$prefix/include/"
  cp -r /usr/share/cmake/nlohmann_json "$prefix/lib/cmake/"
}
part_tests() {
  cmake_part fftw3 -DBUILD_TESTS=OFF
  cmake_part googletest -DBUILD_GMOCK=OFF
  # Downloads contain neither.
  rm "$prefix"/licenses/{fftw3,googletest}.txt
  sed -i -E '/^(fftw3|googletest) /d' "$prefix/licenses/versions"
}

part_tiff() {
  cmake_part tiff -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Djpeg=OFF -Dlzma=OFF -Dzstd=OFF -Dwebp=OFF \
    -Dlerc=OFF -Djbig=OFF -Dlibdeflate=OFF
}
part_spdlog() {
  cmake_part fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
  cmake_part spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF
}

part_imgui() {
  unpack imgui
  local file objects=()
  mkdir -p build-imgui "$prefix/include/imgui/backends"
  for file in imgui imgui_draw imgui_tables imgui_widgets backends/imgui_impl_opengl3; do
    objects+=("build-imgui/$(basename "$file").o")
    # shellcheck disable=SC2086  # a command and flags
    $CXX $CXXFLAGS -I"$source" -c "$source/$file.cpp" -o "${objects[-1]}"
  done
  "$AR" rcs "$prefix/lib/libimgui.a" "${objects[@]}"
  cp "$source"/*.h "$prefix/include/imgui/"
  cp "$source"/backends/imgui_impl_opengl3*.h "$prefix/include/imgui/backends/"
  printf 'Name: imgui\nDescription: Dear ImGui\nVersion: 1\nCflags: -I%s/include/imgui\nLibs: -L%s/lib -limgui -lopengl32 -lgdi32 -limm32\n' \
    "$prefix" "$prefix" >"$prefix/lib/pkgconfig/imgui.pc"
}

# SDL loads the desktop's libraries when they are there.
part_sdl() {
  local options=(--disable-video-kmsdrm --disable-video-opengles1 --disable-jack --disable-esd --disable-arts --disable-nas
    --disable-sndio --disable-libsamplerate --disable-joystick --disable-haptic --disable-sensor --disable-hidapi)
  configure_part libsdl2 --disable-shared "${options[@]}"
}

known_filters() { sed -n '/^    {FilterEffect/,/^}};/p' "$scripts/filter_chain.cpp" | grep -oE '"[^"]*"' | tr -d '"' | tr -s ' \n' ' '; }

# FFmpeg of Debian 13, without network. Filters: those that Limpid knows (io/media/filter_chain.cpp), and more that people use.
part_ffmpeg() {
  compgen -G 'nv-codec-headers-*/' >/dev/null || { apt-get source -qq --tar-only nv-codec-headers/trixie; tar xf nv-codec-headers_*.tar.*; }
  unpack nv-codec-headers
  make -C "$source" PREFIX="$prefix" install
  unpack ffmpeg/trixie
  local options=() more codecs="libx264 libx265 libsvtav1 libdav1d libaom libvpx libopus libmp3lame libzimg libopenjpeg"
  if [[ $system == windows ]]; then
    # The compiler links it. CMake would add its import library.
    sed -i 's/ -lpthread//g' "$prefix"/lib/pkgconfig/*.pc
    options=(--pkg-config-flags=--static "--extra-cflags=-I$prefix/include" "--extra-ldflags=-L$prefix/lib -static" --target-os=mingw32 --arch=x86_64 --enable-cross-compile --cross-prefix="$host-" --windres="$RC" --enable-indev=dshow)
  else
    options=(--enable-indev=v4l2)
    codecs+=" libwebp libjxl"
  fi
  more="buffer buffersink abuffer abuffersink aformat anull aresample atempo color testsrc testsrc2 nullsrc sine curves lut1d lut3d
    haldclut nnedi removegrain bm3d dctdnoiz vaguedenoiser deshake normalize pp7 fspp uspp spp mcdeint repeatfields
    setsar showinfo split reverse loop trim atrim asetpts concat overlay alphamerge hstack vstack xfade maskedmerge"
  mkdir -p "build-$system-ffmpeg"
  # shellcheck disable=SC2086,SC2046  # lists
  (cd "build-$system-ffmpeg"
    "$source/configure" --prefix="$prefix" --cc="$CC" --cxx="$CXX" --pkg-config=pkg-config "${options[@]}" \
      --enable-gpl --enable-version3 --enable-pic --disable-autodetect --disable-debug --disable-programs --disable-doc --disable-network \
      --disable-protocols --enable-protocol=file,pipe,data --disable-indevs --enable-indev=lavfi --disable-outdevs \
      --disable-filters --enable-filter=$(echo $(known_filters) $more | tr ' ' ',') \
      --enable-zlib --enable-ffnvcodec --enable-nvenc --enable-nvdec --enable-cuvid $(printf -- '--enable-%s ' $codecs) \
      || { tail -n 30 ffbuild/config.log; exit 1; }
    make && make install)
}

for part in "$@"; do
  "part_$part"
done
