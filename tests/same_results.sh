#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the results of two builds bit by bit: of every filter, format and content (result_digests), at each
# instruction set of this processor, and of the whole program on the sample clip.
# Usage: tests/same_results.sh OLD_COMMIT
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

old=$PWD/build/same_results/$(git rev-parse --short "$1")
[[ -d $old ]] || git worktree add --detach "$old" "$1"

build() {
  cmake --preset release -DLIMPID_TESTS=ON
  cmake --build --preset release --parallel "$(nproc)" --target limpid result_digests
}
(cd "$old" && build)
build

# The digests of one build: of the program's bin folder.
digests() {
  local bin=$1 level options
  for level in SSE4 AVX2 AVX3 AVX3_DL; do
    echo "== $level"
    "$bin/result_digests" --simd "$level" || [[ $? -eq 2 ]]  # 2: this processor lacks it
  done
  while read -r options; do
    echo "$options $("$bin/limpid" denoise samples/sample_noisy.mkv -o - -q $options | sha256sum)"
  done <<'END'
--frames 20
--profile fast --sigma 12
--profile lc --sigma 12,6,6 --frames 10
--profile high --frames 5
--filter bilateral --strength strong
--filter adaptive-bilateral
--filter nlm --planes luma
--filter nlm-bilateral --frames 10
--pix-fmt yuv444p10 --frames 5
--start 0.5 --end 1 --profile fast
END
}

digests "$old/build/release/bin" >build/same_results/old.txt
digests build/release/bin >build/same_results/new.txt
git worktree remove --force "$old"
if diff build/same_results/old.txt build/same_results/new.txt; then
  echo "the same: $(wc -l <build/same_results/new.txt) digests"
else
  exit 1
fi
