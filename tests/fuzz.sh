#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the fuzz targets with Clang, AddressSanitizer and UBSan, and runs each on its seeds and on inputs found by earlier runs. A report
# ends the run; the input that caused it is then in build/fuzz/corpus/TARGET.
# Usage: tests/fuzz.sh [SECONDS [TARGET...]]    SECONDS for each target, default 60; targets: job_files library picture_metadata y4m
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
targets=("${@:2}")
[[ ${#targets[@]} -gt 0 ]] || targets=(job_files library picture_metadata y4m)
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
cmake --preset fuzz
cmake --build --preset fuzz --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"
bash tests/fuzz/seeds.sh build/fuzz/seeds

rc=0
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  echo "== $target"
  # libFuzzer's handlers end a process that hangs or uses too much memory.
  "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -close_fd_mask=1 \
    -artifact_prefix="$corpus/" "$corpus" "build/fuzz/seeds/$target" 2>&1 | tail -n 40 || rc=1
done
exit "$rc"
