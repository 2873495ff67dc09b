#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fails if the library path (RUNPATH or RPATH) of a program, library or module in FOLDER has an entry that depends on the current
# directory: an empty or a relative one.
# Usage: runpaths.sh FOLDER
set -euo pipefail

# readelf fails for the scripts among them.
{ find "$1" -type f \( -perm -u+x -o -name '*.so*' \) -print0 | xargs -0 -r readelf --dynamic --wide /dev/null 2>/dev/null || true; } | awk -v folder="$1" '
  /^File: / { file = substr($0, 7) }
  /^Dynamic section/ { ++checked }
  /\((RUNPATH|RPATH)\)/ {
    path = $0
    sub(/^[^[]*\[/, "", path)
    sub(/\]$/, "", path)
    count = split(path, entries, ":")
    wrong = count == 0
    for (i = 1; i <= count; ++i) {
      if (entries[i] !~ /^(\/|\$ORIGIN|\$\{ORIGIN\})/) wrong = 1
    }
    if (wrong) { print file ": the library path [" path "] has an entry that depends on the current directory"; failed = 1 }
  }
  END {
    if (checked == 0) { print folder ": no program or library found"; failed = 1 }
    exit failed
  }'
