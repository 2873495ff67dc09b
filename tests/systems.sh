#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the two commands (demo and tests) for the last commit in fresh Debian base systems, each in a temporary folder, and compiles each
# file by itself there.
# Usage: tests/systems.sh [SYSTEM...]    Debian's names, such as trixie; without, bookworm, trixie and sid
# sid changes every day: it runs only the demo, and its failures do not fail the script.
# Requires root and debootstrap. Uses this machine's mirror and proxies. Logs are kept in out/systems/. LIMPID_CCACHE=FOLDER is ccache's
# folder, for a faster second run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

systems=("$@")
if [[ ${#systems[@]} -eq 0 ]]; then
  systems=(bookworm trixie sid)
fi
source tests/fresh_root.sh

logs=$PWD/out/systems
mkdir -p "$logs"
folder=$(mktemp -d "${TMPDIR:-/tmp}/limpid-systems.XXXXXX")
chmod 755 "$folder"
trap 'rm -rf --one-file-system "$folder"' EXIT

# Prints one line for the summary.
# Usage: try SYSTEM
try() {
  local system=$1 root=$folder/$1 result
  local start=$SECONDS
  echo "==== $system: making it" >&2
  make_root "$system" "$root" >"$logs/$system-root.log" 2>&1 || {
    echo "$system  can't be made: see $logs/$system-root.log"
    return 1
  }
  git clone --quiet --no-hardlinks . "$root/limpid"
  if [[ -n ${LIMPID_CCACHE:-} ]]; then
    in_root "$root" sh -c 'apt-get update -qq && apt-get install -qq -y --no-install-recommends ccache' >>"$logs/$system-root.log" 2>&1
  fi
  local words=("$system") failed=0 command
  # The presets of both commands compile several files as one unit; this checks that each file includes all headers that it uses.
  local commands=(samples/demo.sh tests/run.sh
    'cmake --preset debug -DLIMPID_TESTS=ON -DLIMPID_WERROR=OFF && cmake --build --preset debug --parallel "$(nproc)"')
  if [[ $system == sid ]]; then
    commands=(samples/demo.sh)
  fi
  for command in "${commands[@]}"; do
    echo "==== $system: $command" >&2
    local name=${command%% *}
    result=ok
    in_root "$root" bash -c "cd /limpid && $command" >"$logs/$system-$(basename "$name").log" 2>&1 || { result=FAILED; failed=1; }
    words+=("$name: $result;")
  done
  words+=("$(in_root "$root" sh -c 'g++ -dumpfullversion; dpkg-query --show --showformat "\${Version}\n" libavcodec-dev | sed "s/^[0-9]*://; s/-.*//"' 2>/dev/null |
    paste -sd ' ' | sed 's/^/GCC /; s/ \([^ ]*\)$/, FFmpeg \1;/')")
  words+=("$(grep -sE '^[0-9]+ passed, ' "$logs/$system-run.sh.log" | tail -n 1 || true)" "$((SECONDS - start)) s")
  echo "${words[*]}"
  rm -rf --one-file-system "$root"
  return "$failed"
}

summary=()
failed=0
for system in "${systems[@]}"; do
  line=$(try "$system") || [[ $system == sid ]] || failed=1
  summary+=("$line")
done
echo "==== Summary (logs: $logs)"
printf '%s\n' "${summary[@]}"
exit "$failed"
