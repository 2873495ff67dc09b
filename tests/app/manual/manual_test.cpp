// SPDX-License-Identifier: MIT
#include "app/manual/manual.h"

#include <gtest/gtest.h>

namespace limpid::app {
namespace {

TEST(Manual, TextsAreNotTakenForWhatReadsThem) {
  CommandText program{.name = "limpid", .help = "Help.", .footer = "", .options = {}, .commands = {}};
  CommandText command{.name = "try", .help = "Try", .footer = "", .options = {}, .commands = {}};
  OptionText option;
  option.names = {"-o", "--out-put"};
  option.value = "[H:]S";
  option.help = ".a \\ of [it's] - \"one\" with --two";
  option.group = "Options";
  option.words = {"it:s"};
  command.options.push_back(option);
  program.commands.push_back(command);
  const std::string page = command_page(program, command, {});
  EXPECT_NE(page.find("\n\\fB\\-o\\fR, \\fB\\-\\-out\\-put\\fR \\fI[H:]S\\fR\n"
                      "\\&.a \\e of [it\\(aqs] \\- \\(dqone\\(dq with \\-\\-two\n"),
            std::string::npos)
      << page;
}

}  // namespace
}  // namespace limpid::app
