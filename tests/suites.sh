#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests of a build by ctest and lists skipped tests with the reasons and failed tests with the end of their output.
# Usage: tests/suites.sh PRESET [-R NAME] [--include A|B] [CTEST'S OPTIONS]
# NAME: only tests that have it in theirs, or A|B for several; --include: only these suites
# GTEST_FILTER works as in GoogleTest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -R | --tests-regex)
      export GTEST_FILTER="*${2//|/*:*}*"
      shift 2
      ;;
    --include)
      options+=(--tests-regex "^($2)\\.")
      shift 2
      ;;
    *)
      options+=("$1")
      shift
      ;;
  esac
done

# Many tests wait: runs 2 parts per processor.
rc=0
ctest --preset "$preset" --parallel "$(($(nproc) * 2))" "${options[@]}" || rc=$?

log=build/$preset/Testing/Temporary/LastTest.log
# A test's result line ends in its time; in the lists at the end of a part it is repeated without. Its output precedes the result.
awk -v filter="${GTEST_FILTER:-}" '
  function fail(how, from) {
    failed[++failures] = running how
    for (from = lines > 20 ? lines - 19 : 1; from <= lines; ++from) { failed[failures] = failed[failures] "\n    " line[from] }
    running = ""
  }
  /^\[ RUN      \] / { running = $4; said = ""; lines = 0; next }
  /^\[       OK \] .* ms\)$/ { ++passed; running = ""; next }
  /^\[  FAILED  \] .* ms\)$/ { fail(""); next }
  /^\[  SKIPPED \] .* ms\)$/ { skipped[++skips] = running ": " said; running = ""; next }
  # A part that ended within a test: it crashed or hung.
  /^(Test time|<end of output>)/ { if (running != "") { fail(" (did not end)") } next }
  /^SUMMARY: .*Sanitizer: / { reports[++reported] = $0 }
  running != "" && NF > 0 { said = line[++lines] = $0 }
  END {
    if (skips > 0) { print "Skipped:"; for (i = 1; i <= skips; ++i) print "  " skipped[i] }
    if (failures > 0) { print "Failed:"; for (i = 1; i <= failures; ++i) print "  " failed[i] }
    if (reported > 0) { print "Reports of the sanitizers:"; for (i = 1; i <= reported; ++i) print "  " reports[i] }
    printf "%d passed, %d failed, %d skipped\n", passed, failures, skips
    if (passed + failures + skips == 0 && filter != "") print "No test has such a name: " filter
    exit passed + failures + skips == 0 || failures + reported > 0
  }' "$log" | tee "build/$preset/results.txt" || rc=${rc/#0/1}
exit "$rc"
