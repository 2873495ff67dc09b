#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the program many times; in each run one call of the system fails: a random call of write, rename, fsync, close, lseek, open,
# read, unlink, mkdir, pthread_create, malloc or mmap. Every run must end within a minute with exit code 0, or with 1 and a sentence.
# An output under its final name must be complete, and nothing else may be left behind.
# Usage: tests/failing_calls.sh [BUILD_FOLDER [RUNS [SEED]]]    default: build/release 100, a random seed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$(realpath "${1:-build/release}")
runs=${2:-100}
RANDOM=${3:-$RANDOM}
limpid=$build/bin/limpid
library=$(find "$build/tests" -name 'libfailing_calls.so' | head -n 1)
[[ -n $library ]] || { echo "$0: libfailing_calls.so is not built" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

options=(--filter bilateral --sigma 5 -c ffv1)
"$build/bin/limpid-samples" --size 64x48 --frames 12 --sigma 10 --noisy clip.y4m
"$limpid" denoise clip.y4m -o clip.mkv -c ffv1 --sigma 0 -q
mkdir whole
"$limpid" denoise clip.mkv -o whole/out.mkv "${options[@]}" -q
"$limpid" plan clip.mkv -o whole/planned "${options[@]}" --segment-frames 4 -q
cp -r whole/planned whole/worked
"$limpid" work whole/worked -q
content() { ffmpeg -v error -i "$1" -map 0 -f framemd5 - | grep -v '^#software'; }
content whole/out.mkv >whole/content.txt

# The commands, each in a folder "run" with what it needs.
commands=(
  "denoise ../clip.mkv -o out.mkv ${options[*]}"
  "denoise ../clip.mkv -o out.mkv --resume --segment-frames 4 ${options[*]}"
  "denoise ../clip.mkv -o out.mkv -c ffv1 --profile fast"
  "plan ../clip.mkv -o job --segment-frames 4 ${options[*]}"
  "work job"
  "merge job -o out.mkv"
  "merge job -o out.mkv --json"
  "status job"
  "noise ../clip.mkv -o out.json"
  "measure ../clip.y4m ../clip.mkv"
)
prepare() {
  rm -rf run
  mkdir run
  case $1 in
    work*) cp -r whole/planned run/job ;;
    merge* | status*) cp -r whole/worked run/job ;;
  esac
}
# A report is whole, or there is none.
is_report() { [[ ! -s $1 ]] || python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1" 2>/dev/null; }
# start COMMAND [NAME=VALUE]: runs the program in the folder "run" with that variable.
start() {
  local words
  read -ra words <<<"$1"
  (cd run && timeout --signal KILL 60 env "$2" LD_PRELOAD="$library" "$limpid" "${words[@]}" >../out.txt 2>../err.txt)
}

functions=(write rename fsync close lseek open read unlink mkdir pthread_create malloc mmap)
for i in "${!commands[@]}"; do
  prepare "${commands[i]}"
  start "${commands[i]}" LIMPID_TEST_COUNTS="$folder/counts$i" || { cat err.txt; exit 1; }
done

failed=0
declare -A ended
# complain SENTENCE: prints what is wrong with this run.
complain() {
  failed=1
  echo "$call: limpid $command: exit code $rc: $1"
  sed 's/^/  /' err.txt
}
check() {
  if ((rc > 2)); then
    complain "not 0, 1 or 2"
  elif ((rc > 0)) && ! grep -v '^limpid: warning: ' err.txt | grep -q '^limpid: '; then
    complain "no sentence"
  fi
  if [[ $command == *--json ]] && ! is_report out.txt; then
    complain "half a report"
  fi
  local warned=no
  grep -q '^limpid: warning: ' err.txt && warned=yes
  if [[ -e run/out.mkv ]] && ! cmp -s <(content run/out.mkv 2>/dev/null) whole/content.txt && [[ $warned == no ]] &&
    [[ $command != *"--profile fast" ]]; then
    complain "out.mkv is not complete"
  fi
  if ((rc == 0)) && [[ $command == *" -o out."* && -z $(find run -maxdepth 1 -name 'out.*' -type f) ]]; then
    complain "no output"
  fi
  if ((rc > 0)) && [[ -e run/out.mkv && $call != close:* ]]; then
    complain "failed, but its output is there"
  fi
  # An unlink that fails leaves its file.
  local left
  left=$(find run \( -name '*.tmp' -o -name '.limpid-*' -o -name '*.claim' -o -name '*.taken' -o -path '*/workers/*' \) |
    tr '\n' ' ')
  if [[ $command == plan* ]] && ((rc > 0)) && [[ -e run/job && ! -e run/job/plan.json ]]; then
    left+="run/job"
  fi
  if [[ $command == *--resume* ]] && ((rc == 0)) && [[ -e run/out.mkv.limpid-job ]]; then
    complain "left behind: run/out.mkv.limpid-job"
  fi
  if [[ -n $left && $call != unlink:* ]]; then
    complain "left behind: $left"
  fi
}

for ((run = 0; run < runs; ++run)); do
  i=$((RANDOM % ${#commands[@]}))
  command=${commands[i]}
  function=${functions[RANDOM % ${#functions[@]}]}
  count=$(awk -v name="$function" '$1 == name {print $2}' "counts$i")
  if ((count == 0)); then
    run=$((run - 1))
    continue
  fi
  call=$function:$(((RANDOM * 32768 + RANDOM) % count + 1))
  [[ $function != mmap ]] || call+=+  # and all later ones: memory stays short
  prepare "$command"
  rc=0
  start "$command" LIMPID_TEST_FAIL="$call" || rc=$?
  ended[$rc]=$((${ended[$rc]:-0} + 1))
  check
done
for rc in "${!ended[@]}"; do
  echo "exit code $rc: ${ended[$rc]} of $runs runs"
done
exit "$failed"
