#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Denoises a film with WORKERS workers, started by GNU parallel; with PARALLEL="--sshlogin node1,node2" on other machines.
# Usage: parallel.sh INPUT OUTPUT WORKERS [OPTION...]    options of limpid plan
set -euo pipefail
job=$2.job
[[ -f $job/plan.json ]] || limpid plan "$1" -o "$job" "${@:4}"
seq 0 $(($3 - 1)) | parallel --will-cite --quote --halt soon,fail=1 --retries 3 -j "$3" limpid work "$job" --index {} --of "$3"
limpid merge "$job" -o "$2" -y
