#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the templates of samples/cluster with stand-ins of the schedulers, in a folder whose name has all sorts of characters.
# Usage: cluster.sh FOLDER_OF_PROGRAMS EMPTY_FOLDER
set -euo pipefail
programs=$1 folder=$2
templates=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../samples/cluster" && pwd)
trap 'echo "failed: line $LINENO: $BASH_COMMAND"' ERR
cd "$folder"
mkdir bin
export PATH=$PWD/bin:$programs:$PATH

# Runs each --wrap at once, by sh as Slurm does. In an array, the task $FAILING fails.
cat >bin/sbatch <<'E'
#!/bin/bash
set -euo pipefail
last=
for option in "$@"; do
  case $option in
    --array=0-*) last=${option#--array=0-} ;;
    --chdir=*) cd "${option#--chdir=}" ;;
    --output=*) output=${option#--output=} ;;
    --dependency=afterany:1) ;;
    --dependency=*) exit 1 ;;  # may never be fulfilled
    --wrap=*) wrapped=${option#--wrap=} ;;
  esac
done
printf '#!/bin/sh\n%s\n' "$wrapped" >script
for task in $(seq 0 "${last:-0}"); do
  if [[ -n $last ]]; then
    export SLURM_ARRAY_TASK_ID=$task
  fi
  if [[ -z $last || $task != "${FAILING:-}" ]]; then
    sh script >>"${output//%a/$task}" 2>&1 || true
  fi
done
echo 1
E
chmod +x bin/sbatch

work="O'Brien \"x\" \$HOME 100% %a;&(*) \\ ü"
mkdir "$work"
cd "$work"
limpid-samples --size 64x48 --frames 6 --sigma 20 --noisy "in'.y4m"
options=(--filter bilateral -c ffv1 --segment-frames 2 -q)
limpid denoise "in'.y4m" -o expected.mkv --filter bilateral -c ffv1 -q
frames() { ffmpeg -v error -i "file:$1" -f framemd5 - </dev/null | grep -v '^#software'; }
same() { cmp <(frames "$1") <(frames expected.mkv); }

bash "$templates/slurm.sh" "in'.y4m" "slurm'.mkv" 2 "${options[@]}" >/dev/null
same "slurm'.mkv"
[[ -f "slurm'.mkv.job/work-1.log" ]]
FAILING=1 bash "$templates/slurm.sh" "in'.y4m" failed.mkv 2 "${options[@]}" >/dev/null
[[ ! -e failed.mkv ]]
grep -q 'segment' failed.mkv.job/merge.log
bash "$templates/slurm.sh" "in'.y4m" failed.mkv 2 "${options[@]}" >/dev/null # the missing segments
same failed.mkv

# The steps of the template by a small reader of it.
python3 - "$templates/openjd.yaml" <<'E'
import json, os, re, subprocess, sys
text = open(sys.argv[1], encoding="utf-8").read().split("steps:")[1]
values = {"Param.Input": os.path.abspath("in'.y4m"), "Param.Output": os.path.abspath("openjd'.mkv"), "Param.Job": os.path.abspath("job'"),
          "Param.Options": "--filter bilateral -c ffv1 --segment-frames 2 -q", "Param.Workers": "2", "Task.File.Run": os.path.abspath("run")}
def filled(word):
    return re.sub(r"{{(.*?)}}", lambda match: values[match[1]], word)
for step in text.split("\n  - name: ")[1:]:
    if data := re.search(r"data: \|\n((?: {12}.*\n)+)", step + "\n"):
        open("run", "w", encoding="utf-8").write(filled(re.sub("^ {12}", "", data[1], flags=re.M)))
    command = [re.search(r"command: (\w+)", step)[1], *json.loads(re.search(r"args: (\[.*\])", step)[1])]
    for index in ("1", "2") if "Index" in step else ("1",):
        values["Task.Param.Index"] = index
        subprocess.run([filled(word) for word in command], check=True)
E
same "openjd'.mkv"

if command -v parallel >/dev/null; then
  bash "$templates/parallel.sh" "in'.y4m" "parallel'.mkv" 2 "${options[@]}" 2>/dev/null
  same "parallel'.mkv"
fi

# The image has a version, and no GPU is required.
version=$(limpid --version | sed -n 's/^limpid \([0-9.]*\).*/\1/p')
[[ $(sed -n 's/^ *image: //p' "$templates/kubernetes.yaml") == "registry.example/limpid:$version" ]]
[[ $(grep -o "limpid:$version" "$templates/kubernetes.yaml" | wc -l) -eq 3 ]]
if grep -v '^ *#' "$templates/kubernetes.yaml" | grep nvidia; then
  exit 1
fi
