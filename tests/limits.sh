#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs each command with limited memory (ulimit -v) or threads (ulimit -u). Every run must end within a minute: with exit code
# 0, or with exit code 1 and a sentence, and then without an output under its final name.
# Usage: tests/limits.sh [BUILD_FOLDER [PATTERN]]    default build/release and all commands; as root, whose other users ulimit -u
# holds for
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=${1:-build/release}/bin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$bin/limpid" "$bin/liblimpid.so.0" "$folder"
"$bin/limpid-samples" --size 320x240 --frames 8 --sigma 10 --noisy "$folder/clip.y4m"
"$bin/limpid" denoise "$folder/clip.y4m" -o "$folder/clip.mkv" -c libx264 --sigma 0 -q
mkdir "$folder/out" "$folder/clips"
cp "$folder/clip.mkv" "$folder/clips/a.mkv"
cp "$folder/clip.mkv" "$folder/clips/b.mkv"
chmod 755 "$folder"
chmod 1777 "$folder/out"
cd "$folder"
job_options=(-c ffv1 --filter bilateral --sigma 5 --segment-frames 4)
./limpid plan clip.mkv -o planned "${job_options[@]}" -q
cp -r planned worked
./limpid work worked -q
export SDL_VIDEODRIVER=offscreen SDL_AUDIODRIVER=dummy HOME=$folder/out
export LP_NUM_THREADS=0  # Mesa's software renderer waits for threads that cannot be started

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
  rm -rf out/* out/.[!.]*
  case $1 in
    work) cp -r planned out/job ;;
    merge | status) cp -r worked out/job ;;
  esac
  chmod -R a+rwX out
  timeout --signal KILL 60 "${as_another_user[@]}" bash -c 'ulimit -c 0; ulimit $0; exec "$@"' "$limit" ./limpid "$@" >out.txt 2>err.txt || rc=$?
  runs=$((runs + 1))
  ended[$rc]=$((${ended[$rc]:-0} + 1))
  # Commands for several segments or files print a sentence for each.
  local sentences most=1
  sentences=$(($(grep -c '^limpid: ' err.txt || true) - $(grep -c '^limpid: warning: ' err.txt || true)))
  [[ $1 == work || $* == *--resume* || $* == *clips* ]] && most=4
  if ((rc > 1)) || ((rc == 1 && (sentences < 1 || sentences > most))) ||
    { ((rc == 1)) && [[ -n $(find out -mindepth 1 -maxdepth 1 -regextype egrep ! -regex '.*(\.partial\..*|/job|/clips|\.limpid-job|/\.(cache|config|local))') ]]; }; then
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
  "plan clip.mkv -o out/planned ${job_options[*]}"
  "denoise clip.mkv -o out/clean.mkv --resume ${job_options[*]}"
  "denoise clips -o out/clips -c ffv1 --filter bilateral --sigma 5"
  'work out/job'
  'merge out/job -o out/clean.mkv'
  'status out/job'
  'compare clip.mkv --filters bilateral --sheet out/sheet.png'
  'benchmark clip.mkv --frames 4 --profile fast'
  'preview clip.mkv --frames 2 --screenshot out/picture.png --sigma 5'
  'webcam testsrc2=s=64x48 --input-format lavfi --frames 3 --record out/clean.mkv --sigma 5 --no-window'
)
for command in "${commands[@]}"; do
  [[ $command == *${2:-}* ]] || continue
  read -ra words <<<"$command"
  if [[ $command != preview* ]]; then  # LLVM, which Mesa's renderer uses, ends the process if memory runs out
    steps=$(seq 300 50 900)  # with less the loader cannot load the program's libraries
    if [[ $command == *--resume* || $command == *clips* ]]; then
      steps=$(seq 296 4 440; seq 500 100 900)  # a failure must not make the next segment or file wait
    fi
    for megabytes in $steps; do
      try "-v ${megabytes}000" "${words[@]}"
    done
  fi
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
