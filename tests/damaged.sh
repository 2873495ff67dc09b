#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs limpid on damaged copies of clips of about 20 formats, with a seed. Every run must end within a minute with exit code 0, 1 or 2, and
# with --strict it must report lost frames wherever the file shows the loss. Lists the losses of which a file has no trace.
# Usage: tests/damaged.sh [BUILD_FOLDER [FILES [SEED [FOLDER]]]]    default build/release, 300 files, seed 1; FOLDER keeps files that fail
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for program in ffmpeg ffprobe python3; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -B tests/damaged.py "${1:-build/release}/bin/limpid" "$folder" "${2:-300}" "${3:-1}" ${4:+"$4"}
