#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Denoises a clip by `ffmpeg -vf frei0r=limpid` and by `limpid denoise`, and compares the results bit by bit.
# Usage: frei0r_hosts.sh FOLDER_OF_PROGRAMS EMPTY_FOLDER
set -euo pipefail
programs=$1 folder=$2
cd "$folder"
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR
export FREI0R_PATH=$programs/frei0r-1

if ! ffmpeg -hide_banner -filters 2>/dev/null </dev/null | grep ' frei0r ' >filters; then
  echo "skipped: there is no ffmpeg with the filter frei0r"
  exit 0
fi

"$programs/limpid-samples" --size 96x60 --frames 5 --sigma 20 --format 444 --noisy noisy.y4m
ffmpeg -v error -i noisy.y4m -pix_fmt gbrp -c utvideo noisy.mkv </dev/null

# Usage: compare FREI0R'S_PARAMETERS OPTION...
compare() {
  local parameters=$1
  shift
  ffmpeg -v warning -i noisy.mkv -vf "format=rgba,frei0r=filter_name=limpid:filter_params=$parameters,format=gbrp" \
    -f rawvideo -y by_frei0r.raw </dev/null 2>messages
  if [[ -s messages ]]; then
    cat messages
    return 1
  fi
  "$programs/limpid" denoise noisy.mkv -o by_limpid.mkv -c utvideo --pix-fmt gbrp -y -q --engine cpu "$@"
  ffmpeg -v error -i by_limpid.mkv -pix_fmt gbrp -f rawvideo - </dev/null | cmp - by_frei0r.raw
}
compare '10|0.5|bilateral' --sigma 10 --filter bilateral
compare '20|0.6|bm3d|fast|search-window=9' --sigma 20 --strength 1.2 --filter bm3d:profile=fast:search-window=9
compare '20|0.5||fast|delay=0' --sigma 20 --profile fast --delay 0
