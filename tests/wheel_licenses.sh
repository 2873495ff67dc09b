#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Adds the licenses of what a wheel bundles to it: of the shared libraries that auditwheel copied, and of the headers that are compiled into
# its own libraries. Texts come from the Debian packages, and nanobind's from its Python package.
# Usage: tests/wheel_licenses.sh PYTHON WHEEL    PYTHON: of an environment with the package wheel; nanobind too for the wheel limpid
set -euo pipefail
shopt -s inherit_errexit nullglob
python=$1 wheel=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m wheel unpack --dest "$folder" "$wheel" >/dev/null
root=$(echo "$folder"/*/)
licenses=$(echo "$root"*.dist-info)/licenses
mkdir -p "$licenses"

# Usage: add_package DEBIAN_PACKAGE
add_package() {
  local text=/usr/share/doc/$1/copyright
  [[ -s $text ]] || { echo "the license of $1 isn't in $text" >&2; exit 1; }
  cp "$text" "$licenses/$1.txt"
  local common
  for common in $(grep -oE '/usr/share/common-licenses/(Apache|BSD|MPL)[-0-9.A-Za-z]*[0-9A-Za-z]' "$text" | sort -u); do
    cp "$common" "$licenses/$(basename "$common").txt"
  done
}

cp "$(dirname "${BASH_SOURCE[0]}")/../LICENSE" "$licenses/LICENSE"
add_package nlohmann-json3-dev
for library in "$root"*.libs/*; do
  name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}(\.so)/\1/')  # without auditwheel's hash
  package=$(dpkg -S "*/$name" 2>/dev/null | head -n 1 | cut -d: -f1)
  [[ -n $package ]] || { echo "no Debian package has $name, whose license the wheel needs" >&2; exit 1; }
  add_package "$package"
done
if [[ -n $(find "$root" -name '_limpid*.so') ]]; then
  cp "$("$python" -c 'import importlib.metadata as m; print(next(f.locate() for f in m.files("nanobind") if f.name == "LICENSE"))')" \
    "$licenses/nanobind.txt"
fi
"$python" -m wheel pack --dest-dir "$(dirname "$wheel")" "$root" >/dev/null
