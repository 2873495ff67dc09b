// SPDX-License-Identifier: MIT
#pragma once

#include <benchmark/benchmark.h>

namespace limpid::benchmarks {

/// The return value of main() in a program whose benchmarks `add` registers, after the arguments have been
/// checked.
inline int run_benchmarks(int argc, char** argv, void (*add)()) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  add();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace limpid::benchmarks
