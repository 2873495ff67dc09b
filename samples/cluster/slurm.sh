#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Denoises a film on Slurm's nodes: plans, then submits an array of workers, and a merge that runs when all are done.
# Usage: slurm.sh INPUT OUTPUT WORKERS [OPTION...]    options of limpid plan
# The input, the output and its folder OUTPUT.job must be in a file system that all nodes share. SBATCH_* variables set the partition and other options.
set -euo pipefail
if [[ $# -lt 3 ]]; then
  echo "usage: $0 INPUT OUTPUT WORKERS [OPTION OF limpid plan...]" >&2
  exit 2
fi
input=$(realpath -- "$1")
output=$(realpath -m -- "$2")
workers=$3
shift 3
job=$output.job
if [[ ! -f $job/plan.json ]]; then
  limpid plan "$input" -o "$job" "$@"
fi
# Each worker denoises every WORKERS-th segment. A worker whose node fails is queued again and resumes its work.
array=$(sbatch --parsable --job-name=limpid-work --array="0-$((workers - 1))" --requeue --signal=B:TERM@60 \
  --open-mode=append --output="$job/work-%a.log" --wrap="exec limpid work '$job' --of $workers")
merge=$(sbatch --parsable --job-name=limpid-merge --dependency="afterok:$array" --open-mode=append \
  --output="$job/merge.log" --wrap="exec limpid merge '$job' -o '$output' -y")
echo "workers: job $array, merge: job $merge"
