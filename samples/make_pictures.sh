#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Renders the pictures of docs/pictures from a scene of the sample clip with simulated noise:
# strengths.jpg (--strength), filters.jpg (--filter) and grain.jpg (--grain keep).
# Needs ffmpeg and a build: cmake --preset release && cmake --build --preset release --target limpid limpid-samples
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$PWD/build/release/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# denoise NAME [OPTION]...
denoise() {
  "$bin/limpid" denoise "$folder/noisy.y4m" -o "$folder/$1.y4m" --frames 10 --engine cpu --log-level error "${@:2}"
}

# beside PICTURE FILTER NAME...: crops of frame 5 of each clip, passed through FILTER, from left to right.
beside() {
  local inputs=() chain="" row="" number=0
  for name in "${@:3}"; do
    inputs+=(-i "$folder/$name.y4m")
    chain+="[$number]select=eq(n\,5),$2[v$number];"
    row+="[v$number]"
    number=$((number + 1))
  done
  ffmpeg -v error -y "${inputs[@]}" -filter_complex "$chain${row}hstack=$number" \
    -frames:v 1 -q:v 3 -pix_fmt yuvj420p -bitexact "docs/pictures/$1"
}

# The first half of the frames shows the village; frame 5 has four frames of it on each side.
"$bin/limpid-samples" --size 960x540 --frames 20 --fps 25 --sigma 20 --chroma-sigma 15 --seed 3 --noisy "$folder/noisy.y4m"
denoise default
denoise light --strength light
denoise strong --strength strong
for filter in bilateral bm3d recursive; do
  denoise "$filter" --filter "$filter"
done

enlarged="crop=120:160:690:110,scale=iw*2:ih*2:flags=neighbor"  # roof, chimney and windows
beside strengths.jpg "$enlarged" noisy light default strong
beside filters.jpg "$enlarged" default bilateral bm3d recursive

# Weaker noise, which is encoded as film grain, decoded with the grain and without.
"$bin/limpid-samples" --size 960x540 --frames 20 --fps 25 --sigma 10 --chroma-sigma 6 --seed 3 --noisy "$folder/faint.y4m"
"$bin/limpid" denoise "$folder/faint.y4m" -o "$folder/grain.mkv" --frames 10 --engine cpu --log-level error \
  -c libaom-av1 --crf 32 --grain keep
for grain in 0 1; do
  ffmpeg -v error -c:v libdav1d -filmgrain "$grain" -i "$folder/grain.mkv" "$folder/grain$grain.y4m"
done
beside grain.jpg "$enlarged" faint grain1 grain0
ls -l docs/pictures
