// SPDX-License-Identifier: MIT
#include "app/manual/manual.h"

#include <gtest/gtest.h>

namespace limpid::app {
namespace {

TEST(Manual, HelpInAFewWordsEndsWhereItGoesIntoDetails) {
  EXPECT_EQ(brief("Frames to take, at most [16]"), "Frames to take, at most");
  EXPECT_EQ(brief("First sentence. Second"), "First sentence");
  EXPECT_EQ(brief("Noise: auto, or a number"), "Noise");
  EXPECT_EQ(brief(std::string(30, 'a') + " " + std::string(30, 'b') + " " + std::string(30, 'c')),
            std::string(30, 'a') + " " + std::string(30, 'b') + " ...");
}

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
  const std::string zsh = zsh_completion(program);
  EXPECT_NE(zsh.find(R"('(-o --out-put)'{-o+,--out-put=}'[.a \ of]:[H\:]S:(it\:s)')"), std::string::npos)
      << zsh;
  option.help = "it's";
  program.commands.front().options = {option};
  EXPECT_NE(fish_completion(program).find(R"( -s o -l out-put -x -a 'it:s' -d 'it\'s')"), std::string::npos);
}

}  // namespace
}  // namespace limpid::app
