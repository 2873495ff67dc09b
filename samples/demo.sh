#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds Limpid, denoises the sample clip and prints the gain in PSNR.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bash .ci/setup.sh
mapfile -t cuda < <(bash .ci/cuda.sh)
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset release -DLIMPID_TESTS=OFF -DLIMPID_WERROR=OFF "${cuda[@]}"
cmake --build --preset release --parallel "$(nproc)"

bin=build/release/bin
noisy=samples/sample_noisy.mkv
denoised=out/sample_denoised.mkv
mkdir -p out
echo
"$bin/limpid" denoise "$noisy" -o "$denoised" -y --crf 16 --progress plain

# The ground truth: the pictures from which the sample was made.
truth=out/sample_truth.y4m
"$bin/limpid-samples" --size 480x270 --frames 24 --fps 25 --clean "$truth"

# Prints the mean PSNR of the planes Y, U and V in dB.
psnr() {
  "$bin/limpid" measure "$truth" "$1" | awk '$1 == "average" { print $2, $3, $4 }'
}
before=$(psnr "$noisy")
after=$(psnr "$denoised")
echo
awk -v before="$before" -v after="$after" 'BEGIN {
  if (split(before, b) != 3 || split(after, a) != 3) { print "demo: PSNR could not be measured"; exit 1 }
  print "PSNR against the ground truth, dB      Y       U       V"
  printf "  before (noisy)                  %6.2f  %6.2f  %6.2f\n", b[1], b[2], b[3]
  printf "  after (denoised)                %6.2f  %6.2f  %6.2f\n", a[1], a[2], a[3]
  printf "  gained                          %6.2f  %6.2f  %6.2f\n", a[1] - b[1], a[2] - b[2], a[3] - b[3]
  if (a[1] - b[1] < 6) { print "demo: less than 6 dB were gained in luma"; exit 1 }
}'
echo
echo "The denoised clip: $PWD/$denoised (ground truth: $PWD/$truth)"
