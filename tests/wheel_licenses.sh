#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Adds the licenses of what a wheel bundles to it: of the shared libraries that auditwheel copied, and of the headers that are compiled into
# its own libraries. nanobind's comes from its Python package, the others as in tests/licenses.sh.
# Usage: tests/wheel_licenses.sh PYTHON WHEEL [LIBRARY...]
# PYTHON: of an environment with the package wheel; nanobind too for limpid-denoise. LIBRARY: libraries that are linked statically
set -euo pipefail
shopt -s inherit_errexit nullglob
python=$1 wheel=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m wheel unpack --dest "$folder" "$wheel" >/dev/null
root=$(echo "$folder"/*/)
licenses=$(echo "$root"*.dist-info)/licenses
"$(dirname "${BASH_SOURCE[0]}")/licenses.sh" "$licenses" "$root"*.libs/* "$@"
if [[ -n $(find "$root" -name '_limpid*.so') ]]; then
  cp "$("$python" -c 'import importlib.metadata as m; print(next(f.locate() for f in m.files("nanobind") if f.name == "LICENSE"))')" \
    "$licenses/nanobind.txt"
fi
"$python" -m wheel pack --dest-dir "$(dirname "$wheel")" "$root" >/dev/null
