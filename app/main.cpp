// SPDX-License-Identifier: MIT
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <memory>
#include <new>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/command.h"
#include "app/console/console.h"
#include "app/console/logging.h"
#include "app/console/process.h"
#include "core/base/error.h"
#include "core/base/system.h"
#include "core/base/text.h"
#include "io/media/libav_setup.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

constexpr const char* kFirstSteps =
    R"(limpid denoise noisy.mkv                denoise a video or picture to noisy-denoised.mkv
limpid denoise noisy.mkv -o clean.mkv   denoise it to another file
limpid preview noisy.mkv                play it in a window, noisy and denoised side by side
limpid noise noisy.mkv                  print its noise
limpid filters                          list the filters
limpid --help                           list all commands
limpid denoise --help                   list the options of a command
)";

/// Adds the reading of a number with a decimal comma that a brief sentence quotes.
std::string with_decimal_point(std::string sentence) {
  static const std::regex comma(R"('(?:[^', ]*[:=])?(\d+),(\d+)[A-Za-z]?')");
  std::smatch match;
  if (std::regex_search(sentence, match, comma)) {
    const std::string number = match.str(1) + "." + match.str(2);
    sentence +=
        sentence.find("write " + number) == std::string::npos ? "; decimals have a point: " + number : "";
  }
  return sentence;
}

/// Adds that the flag before a word takes no value, if a sentence is about the word as an input.
std::string with_flag(std::string sentence, int argc, char** argv) {
  for (int i = 3; i < argc; ++i) {  // behind the command
    const std::string word = argv[i];
    const std::string flag = argv[i - 1];
    const bool is_flag = flag.size() > 1 && flag.starts_with('-') && flag != "--";
    if (is_flag && (sentence.starts_with(word + ": no such file") ||
                    sentence.starts_with("'" + word + "' is one argument too many"))) {
      sentence.append("; ").append(flag).append(" takes no value");
      if (flag == "--json") {
        sentence.append(" and prints to standard output (--json > ").append(word).append(")");
      }
      return sentence;
    }
  }
  return sentence;
}

/// Prints every failure as one line, whatever the messages of libraries and the arguments contain.
int fail(std::string sentence, int exit_code, int argc, char** argv) {
  sentence = with_brief_quotes(std::move(sentence), {argv, argv + argc});
  if (exit_code == kExitUsage) {
    sentence = with_flag(with_decimal_point(std::move(sentence)), argc, argv);
  }
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  spdlog::error(sentence);
  return exit_code;
}

/// A report that cannot be written, as on a full disk or to a closed pipe, is a failure.
void require_written() {
  if (!std::cout.flush()) {
    throw Error(std::string("standard output: cannot write: ") + std::strerror(errno));
  }
}

int run(Console& console, int argc, char** argv) {
  const std::unique_ptr<CommandLine> program = make_program();
  for (CommandLine* subcommand : program->get_subcommands()) {
    const std::string own = subcommand->get_footer();
    subcommand->footer((own.empty() ? "" : own + "\n\n") + kExitCodes);
  }
  program->footer("\"limpid COMMAND --help\" lists the options of a command.\n" + std::string(kExitCodes));
  if (argc < 2) {
    std::cout << kFirstSteps;
    return kExitDone;
  }
  if (const auto text = program->parse({argv + 1, argv + argc})) {
    std::cout << *text;
    require_written();
    return kExitDone;
  }
  if (!program->has_command()) {
    throw UsageError("the command is missing; limpid --help lists the commands");
  }
  if (!program->is_given("--quiet")) {
    log_warnings(program->warnings());
  }
  const int exit_code = program->run(console);
  require_written();
  return exit_code;
}

int guarded_run(int argc, char** argv) {
  Console console;
  set_up_logging(console, {});
  try {
    return run(console, argc, argv);
  } catch (const UsageError& error) {
    return fail(error.what(), kExitUsage, argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(kOutOfMemory, kExitFailed, argc, argv);
  } catch (const std::exception& error) {
    return fail(error.what(), kExitFailed, argc, argv);
  }
}

/// Libraries may allocate memory in destructors, as nlohmann's JSON does, where a failure cannot be thrown.
[[noreturn]] void end_without_memory() noexcept {
  try {
    if (const std::exception_ptr failure = std::current_exception()) {
      std::rethrow_exception(failure);
    }
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "limpid: %s\n", kOutOfMemory);
    io::exit_without_temporary_files(kExitFailed);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a fault of the program
  }
  std::abort();
}

}  // namespace
}  // namespace limpid::app

int main(int argc, char** argv) {
  std::set_terminate(limpid::app::end_without_memory);
  limpid::io::take_over_logs();
  limpid::io::limit_libav_threads(limpid::processors());
  try {
    limpid::app::set_up_console();
    std::vector<std::string> words = limpid::app::words_of_command(argc, argv);
    std::vector<char*> arguments;
    std::ranges::transform(words, std::back_inserter(arguments),
                           [](std::string& word) { return word.data(); });
    const int exit_code = limpid::app::guarded_run(static_cast<int>(arguments.size()), arguments.data());
    if (limpid::io::has_abandoned_encoders()) {
      std::fflush(nullptr);
      std::_Exit(exit_code);
    }
    return exit_code;
  } catch (const std::exception&) {  // of the message itself, for which there is no memory
    std::fputs("limpid: ", stderr);
    std::fputs(limpid::kOutOfMemory, stderr);
    std::fputs("\n", stderr);
    return limpid::app::kExitFailed;
  }
}
