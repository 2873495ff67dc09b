#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the licenses of Limpid, of the headers that are compiled into it, and of shared libraries that are distributed with it to a folder.
# Texts come from the Debian packages that have files of the libraries' names.
# Usage: tests/licenses.sh FOLDER LIBRARY...
set -euo pipefail
shopt -s inherit_errexit
licenses=$1
shift
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
for library in "$@"; do
  name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}(\.so)/\1/')  # without auditwheel's hash
  package=$(dpkg -S "*/$name" 2>/dev/null | head -n 1 | cut -d: -f1 || true)
  [[ -n $package ]] || { echo "no Debian package has $name, whose license is needed" >&2; exit 1; }
  add_package "$package"
done
