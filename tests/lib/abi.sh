#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the declarations of the library's header with the stored description: programs built with an earlier library must work with
# this one. Only after an addition, or with another SONAME: abi.sh LIBRARY SOURCE_FOLDER --keep
# Usage: abi.sh LIBRARY SOURCE_FOLDER [--keep]
set -euo pipefail
library=$1 source=$2 kept=$2/tests/lib/limpid.abi

describe() {
  abidw --exported-interfaces-only --headers-dir "$source/lib/include" --drop-private-types \
    --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed "$library" |
    sed "s|^\( *<abi-instr .* path='\)[^']*/|\1|"  # files without the folders of the machine that built them
}
if [[ ${3:-} == --keep ]]; then
  describe >"$kept"
  exit
fi
now=$(mktemp)
trap 'rm -f "$now"' EXIT
describe >"$now"
abidiff --suppressions "$source/tests/lib/abi.suppressions" "$kept" "$now" || {
  echo "The library's ABI differs from that of tests/lib/limpid.abi; lib/README.md explains what to do."
  exit 1
}
