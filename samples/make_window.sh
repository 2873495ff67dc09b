#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the pictures of the window in app/screenshots from the sample scene with simulated noise: panel.jpg (with controls), narrow.jpg,
# zoom.png, difference.png, and sweep.webp, a short animation of the split line. Takes five minutes.
# Needs ffmpeg with libwebp and a build: cmake --preset release && cmake --build --preset release --target limpid limpid-samples
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/build/release/bin
target=$PWD/app/screenshots
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SDL_VIDEODRIVER=offscreen LIBGL_ALWAYS_SOFTWARE=1 XDG_STATE_HOME=$folder

# window PICTURE SIZE [OPTION]...: what the window shows of a frame, --frames 8 unless options say otherwise.
window() {
  "$bin/limpid" preview "$folder/village.y4m" --screenshot "$1" --window-size "$2" --frames 8 --engine cpu --no-audio --log-level error -y "${@:3}"
}

"$bin/limpid-samples" --size 960x540 --frames 40 --fps 25 --sigma 20 --chroma-sigma 15 --seed 3 --noisy "$folder/village.y4m"
window "$folder/panel.png" 1280x720 --controls
ffmpeg -v error -y -i "$folder/panel.png" -q:v 3 -pix_fmt yuvj444p -bitexact "$target/panel.jpg"
window "$folder/narrow.png" 540x960 --controls
ffmpeg -v error -y -i "$folder/narrow.png" -q:v 3 -pix_fmt yuvj444p -bitexact "$target/narrow.jpg"
window "$target/zoom.png" 480x360 --zoom 4
window "$target/difference.png" 480x360 --view difference

# The line goes to the right and back, while the film plays.
frames=16
for ((i = 0; i < frames; ++i)); do
  split=$(awk -v i="$i" -v n="$frames" 'BEGIN { printf "%.3f", 0.5 - 0.4 * cos(6.2831853 * i / n) }')
  window "$folder/sweep-$(printf %02d "$i").png" 640x360 --filter vbm4d --profile fast --split "$split" --frames $((i + 5))
done
ffmpeg -v error -y -framerate 8 -i "$folder/sweep-%02d.png" -c:v libwebp_anim -loop 0 -quality 70 -bitexact "$target/sweep.webp"
ls -l "$target"
