#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Denoises a clip by the filter in libobs, on a virtual screen, and by `limpid denoise`, and compares the results bit by bit.
# Usage: obs_hosts.sh FOLDER_OF_PROGRAMS EMPTY_FOLDER
set -euo pipefail
programs=$1 folder=$2
cd "$folder"
trap 'echo "failed: line $LINENO: $BASH_COMMAND"; cat said 2>/dev/null' ERR

mkfifo number
Xvfb -displayfd 3 -screen 0 320x240x24 -nolisten tcp 3>number 2>xvfb.log &
server=$!
trap 'kill "$server"' EXIT
read -r display <number

"$programs/limpid-samples" --size 96x60 --frames 6 --sigma 20 --noisy noisy.y4m
raw() { ffmpeg -v error -i "$1" -f rawvideo - </dev/null; }
raw noisy.y4m >in.yuv
# On a busy machine a frame may be late, and then passes unchanged.
for ((tries = 5; tries > 0; --tries)); do
  DISPLAY=:$display LIBGL_ALWAYS_SOFTWARE=1 "$programs/obs_host" "$programs/obs-plugins/limpid.so" 96 60 in.yuv by_obs.yuv \
    noise=20 filter=bm3d profile=fast >said 2>&1
  grep -q 'late ones pass' said || break
done
"$programs/limpid" denoise noisy.y4m -o by_limpid.y4m -q --engine cpu --sigma 20 --filter bm3d --profile fast
cmp <(raw by_limpid.y4m) by_obs.yuv
