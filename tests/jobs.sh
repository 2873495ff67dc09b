#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests shared jobs (app/jobs) with failures: workers killed at random, a full disk, two workers on one segment, different clocks,
# slow file systems, and a Slurm cluster of three nodes, one of which fails; and limpid denoise --resume, killed at random and at each
# of its steps. Takes minutes; not a part of CI.
# Usage: tests/jobs.sh [PART...]    parts: kills resume steps two disk clocks slow parallel slurm; default: all
# Requires root, a built build/release/bin/limpid, and apt. Installs packages into an overlay of this system, which is removed afterwards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=$PWD
export PATH=$tree/build/release/bin:$PATH

if [[ ${LIMPID_JOBS_INSIDE:-} != yes ]]; then
  [[ $(id -u) -eq 0 ]] || { echo "$0: requires root for an overlay of this system" >&2; exit 2; }
  [[ -x build/release/bin/limpid ]] || { echo "$0: build/release/bin/limpid is not built" >&2; exit 2; }
  layer=$(mktemp -d "${TMPDIR:-/tmp}/limpid-jobs.XXXXXX")
  trap 'umount "$layer/own" 2>/dev/null || true; rm -rf --one-file-system "$layer"' EXIT
  mkdir "$layer/own" "$layer/system"
  mount -t tmpfs tmpfs "$layer/own"
  mkdir "$layer/own/upper" "$layer/own/work"
  # Its own mounts, processes and host name: all processes end with it.
  # shellcheck disable=SC2016  # for the inner shell
  LIMPID_JOBS_INSIDE=yes unshare --mount --pid --uts --fork --kill-child --propagation private bash -euc '
    layer=$1; tree=$2; shift 2
    mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/own/upper,workdir=$layer/own/work" "$layer/system"
    mount -t proc proc "$layer/system/proc"
    mount --rbind /sys "$layer/system/sys"
    mount --rbind /dev "$layer/system/dev"
    unset TMPDIR
    exec chroot "$layer/system" "$tree/tests/jobs.sh" "$@"' - "$layer" "$tree" "$@"
  exit
fi

parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(kills resume steps two disk clocks slow parallel slurm)
folder=$(mktemp -d)
cd "$folder"
clip=$tree/samples/sample_noisy.mkv
options=(--filter bm3d --profile fast -c ffv1 --segment-frames 2)

content() { ffmpeg -v error -i "$1" -map 0 -c copy -c:v rawvideo -f framemd5 - | grep -v '^#software'; }
fail() { echo "FAILED: $*"; exit 1; }
install() {
  [[ -f /installed ]] && return
  export DEBIAN_FRONTEND=noninteractive
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d  # no services by themselves
  chmod 755 /usr/sbin/policy-rc.d
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge faketime parallel; } >install.log 2>&1 ||
    fail "apt-get: $(tail -n 3 install.log)"
  touch /installed
}
plan() { limpid plan "$clip" -o "$1" "${options[@]}" -q; }
segments() { find "$1/segments" -name '*.json' | wc -l; }
finished() { find "$1/done" -name '*.json' | wc -l; }
# Merges, compares with one run, and checks that no files are left behind.
check() {
  limpid merge "$1" -o "$1.mkv" -q -y
  cmp -s <(content "$1.mkv") one.txt || fail "$1 differs from one run"
  [[ $(finished "$1") -eq $(segments "$1") ]] || fail "$1 has other segments than planned"
  local claims
  claims=$(find "$1/claims" -type f | wc -l)
  [[ $claims -eq 0 ]] || fail "$1 still has $claims claims"
}

limpid denoise "$clip" -o one.mkv "${options[@]:0:6}" -q
content one.mkv >one.txt

part_kills() {
  local kills=0 jobs=0 workers=() i
  local seconds=$SECONDS
  while [[ $kills -lt 50 ]]; do
    rm -rf kills kills.mkv
    plan kills
    jobs=$((jobs + 1))
    workers=(0 0 0)
    while [[ $(finished kills) -lt $(segments kills) ]]; do
      for i in 0 1 2; do
        if ! kill -0 "${workers[i]}" 2>/dev/null || [[ ${workers[i]} -eq 0 ]]; then
          limpid work kills -q --threads 1 --claim-timeout 5 &
          workers[i]=$!
        fi
      done
      sleep "0.$((RANDOM % 9 + 1))"
      if [[ $kills -lt 50 ]]; then
        i=$((RANDOM % 3))
        kill -KILL "${workers[i]}" 2>/dev/null && kills=$((kills + 1))
        wait "${workers[i]}" 2>/dev/null || true
      fi
    done
    wait
    limpid work kills -q --claim-timeout 1  # removes the claims of the dead
    rm -f kills/claims/*                    # of workers killed between the end of a segment and its release
    check kills
  done
  echo "kills: 50 workers killed in $jobs jobs, $((SECONDS - seconds)) s: identical; left half: $(find kills/data -name '*.tmp' | wc -l)"
}

# A folder with files that --resume must leave alone.
guarded_folder() {
  mkdir -p "$1/other.mkv.limpid-job"
  echo mine >"$1/keep.mkv"
  echo mine >"$1/.limpid-abcdef-out.mkv"
  echo mine >"$1/other.mkv.limpid-job/f"
}
# Compares the film with one run, and checks that no other files of that folder are new or missing.
check_resumed() {
  cmp -s <(content "$1/out.mkv") "$2" || fail "$3: the film differs from one run"
  rm "$1/out.mkv"
  guarded_folder expected
  diff -r expected "$1" || fail "$3: other files are left behind or gone"
}

part_resume() {
  local kills=0 films=0 seconds=$SECONDS begin most code
  guarded_folder resume
  local run=(limpid denoise "$clip" -o resume/out.mkv --resume "${options[@]}" -q)
  begin=$(date +%s%N)
  "${run[@]}"
  most=$((($(date +%s%N) - begin) / 1000000))  # of one run, in ms
  check_resumed resume one.txt "unbroken"
  while [[ $kills -lt 30 ]]; do
    films=$((films + 1))
    code=137
    while [[ $code -eq 137 ]]; do
      "${run[@]}" & local pid=$!
      if [[ $kills -lt 30 ]]; then
        local delay=$((RANDOM % (most * 3 / 2)))
        sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
        kill -KILL "$pid" 2>/dev/null || true
      fi
      code=0
      wait "$pid" 2>/dev/null || code=$?
      [[ $code -eq 137 ]] && kills=$((kills + 1))
    done
    [[ $code -eq 0 ]] || fail "resume: exit code $code after $kills kills"
    [[ ! -e resume/out.mkv.limpid-job ]] || fail "resume: the job's folder is left after $kills kills"
    check_resumed resume one.txt "resume"
  done
  echo "resume: killed $kills times in $films films, $((SECONDS - seconds)) s: identical, nothing left behind, nothing gone"
}

# Killed before each call that changes a folder, in turn; then the command is repeated.
part_steps() {
  cat >steps.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static void step(void) {
  static atomic_int steps;
  if (++steps == atoi(getenv("KILL_AT"))) kill(getpid(), SIGKILL);
}
#define NEXT(name, ...) (step(), ((int (*)())dlsym(RTLD_NEXT, #name))(__VA_ARGS__))
int rename(const char* a, const char* b) { return NEXT(rename, a, b); }
int renameat2(int c, const char* a, int d, const char* b, unsigned f) { return NEXT(renameat2, c, a, d, b, f); }
int unlink(const char* a) { return NEXT(unlink, a); }
int rmdir(const char* a) { return NEXT(rmdir, a); }
int mkdir(const char* a, mode_t m) { return NEXT(mkdir, a, m); }
C
  gcc -shared -fPIC -o steps.so steps.c -ldl
  local short=("${options[@]:0:6}" --frames 4) step=0 code=137 seconds=$SECONDS
  limpid denoise "$clip" -o one_short.mkv "${short[@]}" -q
  content one_short.mkv >one_short.txt
  local run=(limpid denoise "$clip" -o steps/out.mkv --resume "${short[@]}" --segment-frames 2)
  while [[ $code -eq 137 ]]; do
    step=$((step + 1))
    rm -rf steps
    guarded_folder steps
    code=0
    KILL_AT=$step LD_PRELOAD=$PWD/steps.so "${run[@]}" -q 2>/dev/null || code=$?
    [[ $code -eq 0 || $code -eq 137 ]] || fail "steps: exit code $code at step $step"
    "${run[@]}" 2>steps.txt || fail "steps: killed at step $step: $(tail -n 1 steps.txt)"
    check_resumed steps one_short.txt "killed at step $step"
  done
  echo "steps: killed before each of $((step - 1)) calls, $((SECONDS - seconds)) s: identical, nothing left behind, nothing gone"
}

part_two() {
  plan two
  limpid work two -q --index 0 & local first=$!
  limpid work two -q --index 0 & local second=$!
  wait "$first" || fail "the first of two workers on a segment"
  wait "$second" || fail "the second of two workers on a segment"
  limpid work two -q
  check two
  echo "two: two workers on one segment: identical"
}

part_disk() {
  mkdir disk
  mount -t tmpfs -o size=300k tmpfs disk
  plan disk/job
  if limpid work disk/job -q 2>disk.txt; then fail "a full disk was not noticed"; fi
  echo "disk: $(finished disk/job) of $(segments disk/job) done; $(grep -m1 'No space' disk.txt)"
  [[ $(find disk/job/data -name '*.tmp' | wc -l) -eq 0 ]] || fail "half files on a full disk"
  mount -o remount,size=64m disk
  limpid work disk/job -q
  cp -r disk/job full
  check full
  umount disk
  echo "disk: with room again: identical"
}

part_clocks() {
  install
  plan clocks
  # One lives an hour ahead, one an hour behind. The file system has one clock for both: with FAKE_UTIME=1, libfaketime leaves "now" to it.
  FAKE_UTIME=1 NO_FAKE_STAT=1 DONT_FAKE_MONOTONIC=1 faketime -f +1h limpid work clocks -q --threads 1 --claim-timeout 20 & local ahead=$!
  FAKE_UTIME=1 NO_FAKE_STAT=1 DONT_FAKE_MONOTONIC=1 faketime -f -1h limpid work clocks -q --threads 1 --claim-timeout 20 & local behind=$!
  wait "$ahead" "$behind"
  [[ $(finished clocks) -eq $(segments clocks) ]] || fail "clocks: not all is done"
  [[ $(find clocks/data -name '*.packets' | wc -l) -eq $(segments clocks) ]] || fail "clocks: segments were done twice"
  check clocks
  echo "clocks: workers two hours apart: identical, each segment once"
}

part_slow() {
  cat >slow.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void pause_(void) { usleep(1000 * (50 + rand() % 400)); }
int rename(const char* a, const char* b) {
  int (*next)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  pause_();
  int r = next(a, b);
  pause_();
  return r;
}
int unlink(const char* a) {
  int (*next)(const char*) = dlsym(RTLD_NEXT, "unlink");
  pause_();
  return next(a);
}
int fsync(int f) {
  int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
  pause_();
  return next(f);
}
C
  gcc -shared -fPIC -o slow.so slow.c -ldl
  plan slow
  local i
  for i in 1 2 3; do
    LD_PRELOAD=$PWD/slow.so limpid work slow -q --threads 1 --claim-timeout 2 &
  done
  wait
  limpid work slow -q
  check slow
  echo "slow: renames, removals and syncs that take up to a second, claims that die after two: identical," \
    "$(find slow/data -name '*.packets' | wc -l) files for $(segments slow) segments"
}

part_parallel() {
  install
  "$tree/samples/cluster/parallel.sh" "$clip" "$PWD/parallel.mkv" 3 "${options[@]}" >parallel.log 2>&1 || fail "$(tail -n 3 parallel.log)"
  cmp -s <(content parallel.mkv) one.txt || fail "parallel differs from one run"
  echo "parallel: identical"
}

part_slurm() {
  install
  hostname limpid-jobs
  echo "127.0.0.1 localhost limpid-jobs" >/etc/hosts
  mkdir -p /run/munge /var/log/munge /var/lib/munge /var/spool/slurmctld /var/log/slurm /run/slurm /etc/slurm
  chown munge:munge /run/munge /var/log/munge /var/lib/munge
  [[ -f /etc/munge/munge.key ]] || /usr/sbin/mungekey --create
  chown munge:munge /etc/munge/munge.key
  su -s /bin/sh munge -c /usr/sbin/munged
  cat >/etc/slurm/slurm.conf <<'C'
ClusterName=limpid
SlurmctldHost=limpid-jobs
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd.%n
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.%n.pid
SlurmdLogFile=/var/log/slurm/slurmd.%n.log
SlurmctldLogFile=/var/log/slurm/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-3] NodeHostname=limpid-jobs Port=[17001-17003] CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
  echo "CgroupPlugin=cgroup/v1" >/etc/slurm/cgroup.conf  # its own search for one fails where none is mounted
  slurmctld
  local n seconds=$SECONDS
  for n in 1 2 3; do
    mkdir -p "/var/spool/slurmd.n$n"
    slurmd -N "n$n"
  done
  sleep 3
  sinfo
  local all=("${options[@]}")
  all[3]=high  # so that there is time to kill a node
  limpid denoise "$clip" -o one_slurm.mkv "${all[@]:0:6}" -q
  "$tree/samples/cluster/slurm.sh" "$clip" "$PWD/slurm.mkv" 3 "${all[@]}" -q
  sleep 3
  local steps
  steps=$(pgrep -f 'slurmstepd: \[' | tail -n 1)
  local node
  node=$(squeue -h -t R -o %N | tail -n 1)
  echo "killing node $node and all that runs on it, with $(finished slurm.mkv.job) of $(segments slurm.mkv.job) segments done"
  # shellcheck disable=SC2046  # several numbers
  kill -KILL "$(cat "/run/slurm/slurmd.$node.pid")" $(for steps in $(pgrep -f 'slurmstepd: \['); do
    if tr '\0' '\n' <"/proc/$(pgrep -P "$steps" | head -n 1)/environ" | grep -q "SLURMD_NODENAME=$node"; then
      echo "$steps"
      pgrep -P "$steps"
    fi
  done) || true
  for ((n = 0; n < 150; n++)); do
    sleep 2
    [[ -f slurm.mkv ]] && break
    if ((n % 10 == 0)); then squeue -h -o '%i %T %N %r'; fi
  done
  [[ -f slurm.mkv ]] || fail "the merge has not run: $(squeue; tail -n 3 slurm.mkv.job/*.log)"
  cmp -s <(content slurm.mkv) <(content one_slurm.mkv) || fail "slurm differs from one run"
  echo "slurm: three nodes, one killed, $((SECONDS - seconds)) s: identical"
}

for part in "${parts[@]}"; do
  "part_$part"
done
