// SPDX-License-Identifier: MIT
#include "app/console/json_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace limpid::app {
namespace {

std::string printed(const nlohmann::ordered_json& array, bool shown) {
  testing::internal::CaptureStdout();
  ReportList list(shown);
  for (const auto& report : array) {
    list.add(report);
  }
  list.end();
  return testing::internal::GetCapturedStdout();
}

TEST(ReportList, PrintsWhatAnArrayOfItsReportsWouldBe) {
  for (const char* text :
       {"[]", R"([{"a": 1}])", R"([{"a": [1, 2], "b": "line\nbreak"}, {}, {"c": null}])"}) {
    const auto array = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(printed(array, true), array.dump(2) + "\n");
    EXPECT_EQ(printed(array, false), "");
  }
}

}  // namespace
}  // namespace limpid::app
