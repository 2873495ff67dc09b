// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/text.h"

namespace limpid {
namespace {

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
