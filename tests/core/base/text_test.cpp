// SPDX-License-Identifier: MIT

#include "core/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(NearestName, IsTheOneThatWasMeant) {
  const std::vector<std::string> names{"denoise", "benchmark", "compare", "devices",
                                       "--sigma", "libx264",   "libx265"};
  EXPECT_EQ(nearest_name("denoice", names), "denoise");
  EXPECT_EQ(nearest_name("dneoise", names), "denoise");
  EXPECT_EQ(nearest_name("Benchmrk", names), "benchmark");
  EXPECT_EQ(nearest_name("--sigmaa", names), "--sigma");
  EXPECT_EQ(nearest_name("compute", names), "compare");
  EXPECT_EQ(nearest_name("sigm", names), "--sigma");
  EXPECT_EQ(nearest_name("sgm", names), "") << "two letters of five";
  for (const std::string& nothing_like_it :
       {std::string("polish"), std::string("x"), std::string(), std::string(1000, 'd')}) {
    EXPECT_EQ(nearest_name(nothing_like_it, names), "");
  }
  EXPECT_EQ(did_you_mean("device", names), "; did you mean 'devices'?");
  EXPECT_EQ(did_you_mean("polish", names), "");
}

}  // namespace

}  // namespace limpid
