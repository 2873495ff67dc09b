#!/usr/bin/env bash
# Renders docs/pictures/before_after.jpg: a scene of the sample clip with simulated noise, and the result of the default filter.
# Needs ffmpeg and a build: cmake --preset release && cmake --build --preset release --target limpid limpid-samples
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/build/release/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The first half of the frames shows the village; frame 5 has four frames of it on each side.
"$bin/limpid-samples" --size 960x540 --frames 20 --fps 25 --sigma 20 --chroma-sigma 15 --seed 3 --noisy "$folder/noisy.y4m"
"$bin/limpid" denoise "$folder/noisy.y4m" -o "$folder/denoised.y4m" --engine cpu --log-level error
half='crop=480:400:240:110'
ffmpeg -v error -y -i "$folder/noisy.y4m" -i "$folder/denoised.y4m" -filter_complex \
  "[0]select=eq(n\,5),$half[a];[1]select=eq(n\,5),$half[b];[a][b]hstack" \
  -frames:v 1 -q:v 3 -pix_fmt yuvj420p -bitexact docs/pictures/before_after.jpg
ls -l docs/pictures/before_after.jpg
