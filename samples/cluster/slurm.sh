#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Denoises a film on Slurm's nodes: plans, then submits an array of workers, and a merge that runs when all have ended. If a
# worker has failed, the merge fails, and merge.log says which segments are missing; run the same command again.
# Usage: slurm.sh INPUT OUTPUT WORKERS [OPTION...]    options of limpid plan
# The input, the output and its folder OUTPUT.job must be in a file system that all nodes share. SBATCH_* variables set the partition and other options.
set -euo pipefail
if [[ $# -lt 3 ]]; then
  echo "usage: $0 INPUT OUTPUT WORKERS [OPTION OF limpid plan...]" >&2
  exit 2
fi
# The words of a command for sh.
quoted() {
  local word
  for word in "$@"; do
    printf "'%s' " "${word//\'/\'\\\'\'}"
  done
}
input=$(realpath -- "$1")
output=$(realpath -m -- "$2")
workers=$3
shift 3
job=$output.job
if [[ ! -f $job/plan.json ]]; then
  limpid plan "$input" -o "$job" "$@"
fi
# Each worker denoises every WORKERS-th segment. A worker whose node fails is queued again and resumes its work.
# --output has patterns, so --chdir names the folder.
array=$(sbatch --parsable --job-name=limpid-work --array="0-$((workers - 1))" --requeue --signal=B:TERM@60 --open-mode=append \
  --chdir="$job" --output=work-%a.log --wrap="exec $(quoted limpid work "$job" --of "$workers")")
merge=$(sbatch --parsable --job-name=limpid-merge --dependency="afterany:$array" --open-mode=append \
  --chdir="$job" --output=merge.log --wrap="exec $(quoted limpid merge "$job" -o "$output" -y)")
echo "workers: job $array, merge: job $merge"
