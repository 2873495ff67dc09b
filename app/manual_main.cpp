// SPDX-License-Identifier: MIT
// Writes the manual pages and the completions of bash into a folder, when Limpid is built.
// Usage: limpid-manual FOLDER

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "app/commands/command.h"
#include "app/manual/manual.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) {
    throw Error(file.string() + ": can't write");
  }
}

void write_manual(const std::filesystem::path& folder) {
  const CommandText program = make_program()->text();
  const ManualFacts facts{.version = LIMPID_VERSION,
                          .date = LIMPID_VERSION_DATE,
                          .summary = LIMPID_SUMMARY,
                          .exit_codes = kExitCodes};
  write_text(folder / "man" / (program.name + ".1"), program_page(program, facts));
  for (const CommandText& command : program.commands) {
    write_text(folder / "man" / (program.name + "-" + command.name + ".1"),
               command_page(program, command, facts));
  }
  write_text(folder / "bash" / program.name, bash_completion(program));
}

}  // namespace
}  // namespace limpid::app

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: limpid-manual FOLDER\n";
    return EXIT_FAILURE;
  }
  try {
    limpid::app::write_manual(argv[1]);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "limpid-manual: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
