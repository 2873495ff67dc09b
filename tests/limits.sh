#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the program with limited memory (ulimit -v) or threads (ulimit -u). Every run must end within a minute: with exit code
# 0, or with exit code 1 and one sentence, and then without an output under its final name.
# Usage: tests/limits.sh [BUILD_FOLDER]    default build/release; as root, whose other users ulimit -u holds for
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=${1:-build/release}/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$bin/limpid" "$bin/liblimpid.so.0" "$folder"
"$bin/limpid-samples" --size 320x240 --frames 8 --sigma 10 --noisy "$folder/clip.y4m"
"$bin/limpid" denoise "$folder/clip.y4m" -o "$folder/clip.mkv" -c libx264 --sigma 0 -q
mkdir "$folder/out"
chmod 755 "$folder"
chmod 1777 "$folder/out"
cd "$folder"

as_another_user=()
if [[ $(id -u) -eq 0 ]]; then
  as_another_user=(setpriv --reuid 64123 --regid 64123 --clear-groups)  # an unused id
fi
runs=0 failed=0
declare -A ended

# try LIMIT COMMAND...: one run of the program.
try() {
  local limit=$1 rc=0
  shift
  rm -rf out/*
  timeout --signal KILL 60 "${as_another_user[@]}" bash -c 'ulimit -c 0; ulimit $0; exec "$@"' "$limit" ./limpid "$@" >out.txt 2>err.txt || rc=$?
  runs=$((runs + 1))
  ended[$rc]=$((${ended[$rc]:-0} + 1))
  local sentences
  sentences=$(grep -c '^limpid: ' err.txt || true)
  if ((rc > 1)) || { ((rc == 1)) && ((sentences - $(grep -c '^limpid: warning: ' err.txt || true) != 1)); } ||
    { ((rc == 1)) && [[ -n $(ls -A out | grep -v '\.partial\.') ]]; }; then
    failed=1
    echo "ulimit $limit: limpid $*: exit code $rc, left: $(ls -A out)"
    sed 's/^/  /' err.txt
  fi
}

commands=(
  'denoise clip.mkv -o out/clean.mkv -c libx264 --sigma 5'
  'denoise clip.mkv -o out/clean.mkv -c libx265 --profile fast'
  'denoise clip.y4m -o out/clean.mkv -c ffv1 --filter vnlb --profile fast'
  'denoise clip.mkv -o out/clean_%03d.png --filter bilateral'
  'noise clip.mkv'
  'measure clip.y4m clip.mkv'
)
for command in "${commands[@]}"; do
  read -ra words <<<"$command"
  for megabytes in $(seq 300 50 900); do  # with less the loader cannot load the program's libraries
    try "-v ${megabytes}000" "${words[@]}"
  done
  if [[ $(id -u) -eq 0 ]]; then
    for threads in $(seq 1 20); do
      try "-u $threads" "${words[@]}"
    done
  else
    echo "not tested, as that requires root: ulimit -u"
  fi
done
for rc in "${!ended[@]}"; do
  echo "exit code $rc: ${ended[$rc]} of $runs runs"
done
exit "$failed"
