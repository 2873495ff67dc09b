#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints CMake's argument for the Python package, and says in one line on standard error if it won't be built. nanobind isn't in Debian 12:
# it and what the tests need are taken from PyPI, once, into an environment of their own, FOLDER.
# Usage: .ci/python.sh FOLDER
set -euo pipefail
folder=$1
packages=(nanobind==3.1.0 numpy==2.4.6 pytest==9.2.0 av==18.1.0)

leave_out() {
  echo "Without the Python package: $*" >&2
  exit 0
}

if [[ $(cat "$folder/packages" 2>/dev/null || true) != "${packages[*]}" ]]; then
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || leave_out "there is no Python 3.11"
  [[ -e $(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h ]] || leave_out "Python.h isn't there"
  rm -rf "$folder"
  message=$(python3 -m venv "$folder" 2>&1) || leave_out "${message##*$'\n'}"
  message=$("$folder/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${packages[@]}" 2>&1) ||
    leave_out "${message##*$'\n'}"
  echo "${packages[*]}" >"$folder/packages"
fi
echo "-DLIMPID_PYTHON=$(cd "$folder" && pwd)/bin/python"
