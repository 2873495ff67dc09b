#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the tests under sanitizers and runs them; a report fails the run.
# Usage: tests/sanitizers.sh [asan-ubsan | tsan] [--brief] [SUITE...]    default: both presets, and all useful suites
# --brief: without tests that repeat the memory accesses of others, at other noise levels or over longer clips
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

presets=(asan-ubsan tsan)
if [[ ${1:-} == asan-ubsan || ${1:-} == tsan ]]; then
  presets=("$1")
  shift
fi
brief=
if [[ ${1:-} == --brief ]]; then
  brief=':NoiseTrackerTest.AStep*On:NoiseTrackerTest.AStepIsFound*:NoiseTrackerTest.AModelDepends*:NoiseTrackerTest.SectionsOf*'
  brief+=':NoiseTrackerTest.AnInset*:NoiseTrackerTest.AWindow*:GrainModel.ChromaHas*:GrainModel.HasTheDeviation*:Clipping.IsUndoneAs*'
  brief+=':*Vbm4dTest.MixesVnlb*:*Vbm4dTest.FollowsMotion*:*Vbm4dTest.AgreesWithTheOracleIn*Noise*:*Vbm4dTest.*NoiseThatRepeats*'
  brief+=':*Vbm4dTest.*DifferOverTime*:*Vbm4dTest.BestIsNotWorse*:*Bm3dTest.NoiseThat*:*RepeatedPicturesAreNoEvidence*'
  brief+=':*IsBitExactFromRunToRun*vnlb*:Motion.FollowsShifts:NoiseTrackerTest.IsNotMoved*:GrainModel.HasTheSpectrum*'
  # Of one SIMD level, which all other tests use, too.
  brief+=':Cpu/EveryFilterSimdTest*:Cpu/Bm3dSimdTest*'
  shift
fi

# Tests of quality, of false detection of noise and combing, and of long clips: other tests run the same code.
without='*BetterPictures*:*IsNotFoundIn*:*ScenesAndFlashesAreFiltered*:*ExtremePictures*:NoiseStatistics.*'
# The sanitizers' memory layout does not fit every kernel's randomization of addresses.
fixed_addresses=()
if setarch --addr-no-randomize true 2>/dev/null; then
  fixed_addresses=(setarch --addr-no-randomize)
fi
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

rc=0
for preset in "${presets[@]}"; do
  suites=("$@")
  filter=-$without$brief
  if [[ $preset == tsan ]]; then
    # Oracles have no threads, and tracking the estimate over time adds none.
    filter+=':*AgreesWithTheOracle*:*AgreeWithTheOracle*:*OracleDenoise*:*NoiseTracker*:*CodedNoise*'
    # Code with threads: the engines, the noise estimate, the program's stages in one process, and the library.
    [[ ${#suites[@]} -gt 0 ]] || suites=(core_tests app_tests lib_tests lib_device_tests)
  fi
  if [[ $preset == asan-ubsan ]]; then
    # Tests that preload a library or limit the address space, which AddressSanitizer does not support, and a
    # test of libavdevice's lavfi and ALSA inputs, which leak a frame and a configuration.
    filter+=':LimitsTest.*:*DeepPlansAndSizesThatOverflow*:WebcamTest.RecordingsHaveSoundInStep*'
  fi
  targets=()
  chosen=()
  if [[ ${#suites[@]} -gt 0 ]]; then
    targets=(--target "${suites[@]}")
    chosen=(--include "$(IFS='|'; echo "${suites[*]}")")
  fi
  cmake --preset "$preset"
  "${fixed_addresses[@]}" cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
  GTEST_FILTER=$filter "${fixed_addresses[@]}" bash tests/suites.sh "$preset" "${chosen[@]}" || rc=1
done
exit "$rc"
