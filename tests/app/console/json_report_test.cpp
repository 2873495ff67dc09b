// SPDX-License-Identifier: MIT
#include "app/console/json_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace limpid::app {
namespace {

std::string printed(const nlohmann::ordered_json& files, const nlohmann::ordered_json& summary, bool shown) {
  testing::internal::CaptureStdout();
  ReportList list(shown);
  for (const auto& report : files) {
    list.add(report);
  }
  list.end(summary);
  return testing::internal::GetCapturedStdout();
}

TEST(ReportList, PrintsOneObjectWithTheListAndTheSummary) {
  for (const char* summary_text : {R"({"status": "done", "totals": {"done": 2}})", "{}"}) {
    for (const char* text :
         {"[]", R"([{"a": 1}])", R"([{"a": [1, 2], "b": "line\nbreak"}, {"c": {}}, {"d": null}])"}) {
      const auto summary = nlohmann::ordered_json::parse(summary_text);
      nlohmann::ordered_json whole = {{"files", nlohmann::ordered_json::parse(text)}};
      whole.update(summary);
      EXPECT_EQ(printed(whole["files"], summary, true), whole.dump(2) + "\n");
      EXPECT_EQ(printed(whole["files"], summary, false), "");
    }
  }
}

TEST(ReportList, IsAnObjectWithoutItsEnd) {
  testing::internal::CaptureStdout();
  { ReportList(true).add({{"a", 1}}); }
  EXPECT_EQ(nlohmann::json::parse(testing::internal::GetCapturedStdout()),
            nlohmann::json::parse(R"({"files": [{"a": 1}]})"));
}

TEST(PrintReport, NumbersHaveTheDigitsOfSinglePrecision) {
  testing::internal::CaptureStdout();
  print_report({{"certainty", 0.87F}, {"list", {0.1F, 1}}, {"fps", 23.976023976}, {"bytes", 12345678901}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "{\n  \"certainty\": 0.87,\n  \"list\": [\n    0.1,\n    1\n  ],\n  \"fps\": 23.976025,\n"
            "  \"bytes\": 12345678901\n}\n");
}

}  // namespace
}  // namespace limpid::app
