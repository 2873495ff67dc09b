#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Generates samples/sample_noisy.mkv: the scenes of the generator with noise of sigma 20 in luma and 10 in chroma.
# Needs ffmpeg and a build: cmake --preset release && cmake --build --preset release --target limpid-samples
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Noise hardly compresses. Every frame is a key frame without the filters that would smooth it, and the
# rounding (deadzone) keeps the coefficients' mean energy, and thus the noise level.
build/release/bin/limpid-samples --size 480x270 --frames 24 --fps 25 --sigma 20 --chroma-sigma 10 --seed 1 --noisy - |
  ffmpeg -v error -y -i - -map_metadata -1 -fflags +bitexact -flags:v +bitexact \
    -c:v libx264 -preset veryslow -tune psnr -qp 35 -threads 1 \
    -x264-params keyint=1:no-psy=1:no-deblock=1:aq-mode=0:trellis=0:deadzone-intra=3 \
    -color_range tv -colorspace bt709 -color_primaries bt709 -color_trc bt709 \
    samples/sample_noisy.mkv
ls -l samples/sample_noisy.mkv
