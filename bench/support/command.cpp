// SPDX-License-Identifier: MIT
#include "bench/support/command.h"

#include <exception>
#include <iostream>

#include "app/commands/command.h"
#include "core/base/error.h"

namespace limpid::benchmarks {

int run_command(app::CommandLine& command, int argc, char** argv, const std::function<void()>& run) {
  try {
    if (const auto text = command.parse({argv + 1, argv + argc})) {
      std::cout << *text;
    } else {
      run();
    }
    return app::kExitDone;
  } catch (const UsageError& error) {
    std::cerr << error.what() << '\n';
    return app::kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return app::kExitFailed;
  }
}

}  // namespace limpid::benchmarks
