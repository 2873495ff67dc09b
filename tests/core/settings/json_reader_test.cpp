// SPDX-License-Identifier: MIT
#include "core/settings/json_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/base/system.h"
#include "tests/temporary_folder.h"

namespace limpid {
namespace {

/// The error message when `read` gets the document.
std::string objection(const std::string& text, const std::function<void(const JsonValue&)>& read) {
  try {
    read(JsonDocument(text, "job/plan.json").root());
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(JsonReader, ValuesAreReadByTheirTypes) {
  const JsonDocument document(
      R"({"a": {"list": [1, 2.5, "x", null]}, "yes": true, "most": 9223372036854775807})", "");
  const JsonValue root = document.root();
  const std::vector<JsonValue> list = root.at("a").at("list").items(4);
  EXPECT_EQ(list[0].integer(), 1);
  EXPECT_EQ(list[0].number(0, 9), 1);
  EXPECT_EQ(list[1].number(0, 9), 2.5);
  EXPECT_EQ(list[2].text(), "x");
  EXPECT_TRUE(list[3].is_null());
  EXPECT_TRUE(root.at("yes").boolean());
  EXPECT_EQ(root.at("most").integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(root.find("absent"));
  EXPECT_EQ(root.members().size(), 3U);
}

TEST(JsonReader, EveryObjectionNamesTheFileAndTheValue) {
  EXPECT_EQ(objection("[1]", [](const JsonValue& v) { v.items(1)[0].integer(2, 12); }),
            R"(job/plan.json: "[0]" must be an integer from 2 to 12)");
  EXPECT_EQ(
      objection(R"({"inputs": [{"frames": -1}]})",
                [](const JsonValue& v) { v.at("inputs").items(1)[0].at("frames").integer<int>(0, 12); }),
      R"(job/plan.json: "inputs[0].frames" must be an integer from 0 to 12)");
  EXPECT_EQ(objection("{}", [](const JsonValue& v) { v.at("path"); }), R"(job/plan.json: "path" is missing)");
  EXPECT_EQ(objection("5", [](const JsonValue& v) { v.at("path"); }), "job/plan.json: must be an object");
  EXPECT_EQ(objection("5", [](const JsonValue& v) { v.for_each([](const JsonValue&) {}); }),
            "job/plan.json: must be an array");
  EXPECT_EQ(objection("[5]", [](const JsonValue& v) { v.items(2); }),
            "job/plan.json: must be an array of 2 elements");
  EXPECT_EQ(objection("[5]", [](const JsonValue& v) { v.items(1)[0].text(); }),
            R"(job/plan.json: "[0]" must be a text)");
  EXPECT_EQ(objection(R"(["a\u0000b"])", [](const JsonValue& v) { v.items(1)[0].text(); }),
            R"(job/plan.json: "[0]" must be a text)");
  EXPECT_EQ(objection("[5]", [](const JsonValue& v) { v.items(1)[0].boolean(); }),
            R"(job/plan.json: "[0]" must be true or false)");
  EXPECT_EQ(objection("[5]", [](const JsonValue& v) { v.items(1)[0].number(0, 1.5); }),
            R"(job/plan.json: "[0]" must be a number from 0 to 1.5)");
}

TEST(JsonReader, IntegersAreNotNarrowed) {
  for (const char* text : {"1.5e+78", "1e3", "2.0", "4294967296", "18446744073709551615", "-3000000000",
                           "99999999999999999999999", "\"1\"", "null", "true", "[1]"}) {
    EXPECT_EQ(
        objection(std::string("[") + text + "]", [](const JsonValue& v) { v.items(1)[0].integer<int>(); }),
        R"(job/plan.json: "[0]" must be an integer from -2147483648 to 2147483647)")
        << text;
  }
}

TEST(JsonReader, DeepOnesAreRefusedBeforeTheyAreParsed) {
  const auto nested = [](int depth, const std::string& end) {
    std::string text;
    for (int i = 0; i < depth; ++i) {
      text += i % 2 == 0 ? "[" : R"({"]": )";
    }
    text += end;
    for (int i = depth; i-- > 0;) {
      text += i % 2 == 0 ? "]" : "}";
    }
    return text;
  };
  const auto nothing = [](const JsonValue&) {};
  EXPECT_EQ(objection(nested(kMostJsonDepth, R"("[[\"[[")"), nothing), "none");
  EXPECT_EQ(objection(nested(kMostJsonDepth + 1, "1"), nothing),
            "job/plan.json: is nested deeper than 64 levels");
  EXPECT_EQ(objection(nested(1000000, "1"), nothing), "job/plan.json: is nested deeper than 64 levels");
  EXPECT_EQ(objection(std::string(1000000, '['), nothing), "job/plan.json: is nested deeper than 64 levels");
}

TEST(JsonReader, InvalidJsonIsRefused) {
  for (const char* text : {"", "{", "nothing", "{\"a\": nan}", "[1,]", "[1] 2", "[\"\xFF\"]", "[1e999]"}) {
    EXPECT_EQ(objection(text, [](const JsonValue&) {}), "job/plan.json: is not valid JSON") << text;
  }
}

TEST(JsonReader, ManyNamesTakeNoLongerThanTheyAreMany) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) {
    text += '"' + std::to_string(i) + "\":0,";
  }
  EXPECT_EQ(objection(text + "\"z\":0}", [](const JsonValue& v) { v.at("a"); }),
            R"(job/plan.json: "a" is missing)");
}

TEST(JsonReader, FilesAreRegularOnesUpToALimit) {
  const test::TemporaryFolder folder;
  const std::string path = text_of(folder.path() / "file.json");
  std::ofstream(path) << "[1, 2, 3]";
  EXPECT_EQ(JsonDocument::read(path, 9).root().items(3).size(), 3U);
  EXPECT_THROW(JsonDocument::read(path, 8), Error);
  EXPECT_THROW(JsonDocument::read("/dev/zero", 8), Error);
  EXPECT_THROW(JsonDocument::read(text_of(folder.path()), 8), Error);
}

}  // namespace
}  // namespace limpid
