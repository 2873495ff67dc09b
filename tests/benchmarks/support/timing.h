#pragma once

#include <benchmark/benchmark.h>

namespace limpid::benchmarks {

/// What main() returns of a program whose benchmarks `add` registers, once the arguments have proved right.
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
