#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints CMake's arguments for the CUDA engine, one per line, and reports in one line on standard error what will be built. The engine is
# built if there are a GPU and an nvcc that supports C++20, for the GPUs of this machine. Without a GPU it could not run, and building for
# all architectures takes ten times as long as for one.
# Environment: LIMPID_CUDA=OFF leaves it out; LIMPID_CUDA=ON builds it without a GPU too, for all architectures that nvcc supports;
# LIMPID_CUDA_ARCHITECTURES, such as 90, is used instead of the machine's; LIMPID_CUDA_FAST_COMPILE=ON reduces
# nvcc's optimization without a GPU, if nvcc supports that.
set -euo pipefail

leave_out() {
  if [[ $# -gt 0 ]]; then
    echo "Without the CUDA engine: $*" >&2
  fi
  echo -DLIMPID_CUDA=OFF
  exit 0
}

if [[ ${LIMPID_CUDA:-} == OFF ]]; then
  leave_out "LIMPID_CUDA=OFF"
fi
nvcc=
for candidate in "$(command -v nvcc || true)" "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
  if [[ -z $nvcc && -x $candidate ]]; then
    nvcc=$candidate
  fi
done
if [[ -z $nvcc ]]; then
  leave_out
fi

version=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')
if [[ $(printf '%s\n' 12.0 "${version:-0}" | sort -V | head -n 1) != 12.0 ]]; then
  leave_out "$nvcc is of CUDA ${version:-unknown}, and C++20 needs 12.0"
fi
# Each nvcc supports compilers up to a certain version: 12.0 to 12.3 GCC 12, 12.4 to 12.7 GCC 13, 12.8 GCC 14, 13.0 GCC 15.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '#include <vector>\nint main() { return static_cast<int>(std::vector<int>(0).size()); }\n' >"$folder/trial.cu"
if ! "$nvcc" -std=c++20 -o "$folder/trial" "$folder/trial.cu" >"$folder/log" 2>&1; then
  leave_out "$nvcc $version can't compile with this C++ compiler: $(grep -m 1 -i error "$folder/log" || head -n 1 "$folder/log")"
fi

known=$("$nvcc" --list-gpu-arch | sed -n 's/^compute_\([0-9]*\)$/\1/p')
gpus=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | grep -E '^[0-9]+$' | sort -un || true)
architectures=${LIMPID_CUDA_ARCHITECTURES:-}
where="as asked"
if [[ -z $architectures ]]; then
  for gpu in $gpus; do
    if [[ $gpu -ge 75 ]] && grep -qx "$gpu" <<<"$known"; then
      architectures+="${architectures:+;}$gpu"
    fi
  done
  where="for the GPUs here"
  if [[ -n $gpus && -z $architectures ]]; then
    leave_out "CUDA $version or Limpid supports no GPU of this machine (architecture ${gpus//$'\n'/, })"
  fi
fi
if [[ -z $architectures && ${LIMPID_CUDA:-} != ON ]]; then
  leave_out "there is an nvcc ($version) but no GPU that it could run on; LIMPID_CUDA=ON builds it for all"
fi
if [[ -z $architectures ]]; then
  newest=
  for architecture in 75 80 86 89 90 100 120; do
    if grep -qx "$architecture" <<<"$known"; then
      architectures+="${architectures:+;}$architecture-real"
      newest=$architecture
    fi
  done
  architectures+=";$newest-virtual"
  where="for any GPU, as there is none here"
fi
echo "With the CUDA engine: CUDA $version, architectures ${architectures//;/, } ($where)" >&2
if [[ ${LIMPID_CUDA_FAST_COMPILE:-} == ON && -z $gpus && $("$nvcc" --help) == *Ofast-compile* ]]; then
  echo -DCMAKE_CUDA_FLAGS=--Ofast-compile=max
fi
printf '%s\n' -DLIMPID_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc" "-DLIMPID_CUDA_ARCHITECTURES=$architectures"
