// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/base/text.h"

namespace limpid {
namespace {

TEST(BriefTextTest, SentencesWithShortWordsAreUnchanged) {
  std::string sentence;
  for (int i = 0; i < 100; ++i) {
    sentence += "word  ";
  }
  EXPECT_EQ(with_brief_quotes(sentence), sentence);
}

TEST(BriefTextTest, WordsHaveAtMost200Bytes) {
  EXPECT_EQ(with_brief_quotes("no " + std::string(201, 'x') + " here"),
            "no " + std::string(200, 'x') + "... here");
  EXPECT_LT(with_brief_quotes("no '" + std::string(40'000'000, 'x') + "'").size(), 220U);
}

TEST(BriefTextTest, ArgumentsWithSpacesAreShortened) {
  std::string argument;
  for (int i = 0; i < 100; ++i) {
    argument += "a b ";
  }
  EXPECT_EQ(with_brief_quotes("no '" + argument + "'", {argument}),
            "no '" + argument.substr(0, 200) + "...'");
  EXPECT_EQ(with_brief_quotes("no '" + argument + "'", {"key=" + argument}),
            "no '" + argument.substr(0, 200) + "...'");
}

TEST(BriefTextTest, CharactersOfUtf8StayWhole) {
  std::string text(199, 'x');
  for (int i = 0; i < 10; ++i) {
    text += "\xC3\xA4";
  }
  EXPECT_EQ(with_brief_quotes(text), std::string(199, 'x') + "...");
}

}  // namespace
}  // namespace limpid
