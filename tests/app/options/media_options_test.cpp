// SPDX-License-Identifier: MIT
#include "app/options/media_options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace limpid::app {
namespace {

// An option and its legal values.
template <typename Options>
std::vector<std::string> argument_of(const MediaField<Options>& field) {
  using Field = MediaField<Options>;
  if (field.value.empty()) {
    return {field.option()};
  }
  return {field.option(), std::holds_alternative<typename Field::Pairs Options::*>(field.member)  ? "a=b"
                          : std::holds_alternative<typename Field::Time Options::*>(field.member) ? "1:02.5"
                                                                                                  : "text"};
}

template <typename Options>
Options parsed(const MediaFields<Options>& fields, const std::vector<std::string>& arguments) {
  std::vector<std::string> keys;
  for (const MediaField<Options>& field : fields) {
    keys.push_back(field.key());
  }
  MediaOptions<Options> values(fields);
  CommandLine command;
  values.add_to(command, {keys.begin(), keys.end()});
  EXPECT_FALSE(command.parse(arguments));
  Options options;
  values.apply_to(options);
  return options;
}

template <typename Options>
void expect_each_to_survive_json(const MediaFields<Options>& fields) {
  const nlohmann::json standard = to_json(fields, Options());
  for (const MediaField<Options>& field : fields) {
    SCOPED_TRACE(field.option());
    const Options options = parsed(fields, argument_of(field));
    const nlohmann::json json = to_json(fields, options);
    EXPECT_NE(json[field.key()], standard[field.key()]);
    const JsonDocument document(json.dump(), "test.json");
    Options read;
    read_json(fields, document.root(), read);
    EXPECT_EQ(nlohmann::json(to_json(fields, read)), json);
  }
}

TEST(MediaOptions, EachOptionOfTheCommandLineSurvivesJson) {
  expect_each_to_survive_json(reader_fields());
  expect_each_to_survive_json(writer_fields());
}

TEST(MediaOptions, ValuesReachTheOptions) {
  const auto reader = parsed(reader_fields(), {"--start", "1:02.5", "--no-audio", "--input-option", "a=b=c",
                                               "--input-option", "d=", "--input-format", "lavfi"});
  EXPECT_EQ(reader.start, 62.5);
  EXPECT_FALSE(reader.end);
  EXPECT_FALSE(reader.audio);
  EXPECT_TRUE(reader.subtitles);
  EXPECT_EQ(reader.input_format, "lavfi");
  EXPECT_EQ(reader.options, (std::vector<std::pair<std::string, std::string>>{{"a", "b=c"}, {"d", ""}}));
  const auto writer = parsed(writer_fields(), {"-c", "ffv1", "-f", "matroska", "--crf", "20"});
  EXPECT_EQ(writer.codec, "ffv1");
  EXPECT_EQ(writer.container, "matroska");
  EXPECT_EQ(writer.crf, "20");
}

TEST(MediaOptions, JsonWithOtherMembersOrTypesIsRefused) {
  for (const auto& [json, sentence] :
       {std::pair(R"({"cofec": "ffv1"})", R"(test.json: "cofec" is not a known option)"),
        {R"({"codec": 5})", R"(test.json: "codec" must be a text)"},
        {R"({"encoder_option": ["fast"]})",
         R"(test.json: "encoder_option[0]" must be of the form KEY=VALUE)"}}) {
    const JsonDocument document(json, "test.json");
    io::WriterOptions options;
    try {
      read_json(writer_fields(), document.root(), options);
      FAIL() << json;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), sentence);
    }
  }
}

/// The passage of these arguments.
io::ReaderOptions passage(const std::vector<std::string>& arguments) {
  MediaOptions<io::ReaderOptions> values(reader_fields());
  DurationOption duration;
  CommandLine command;
  values.add_to(command, {"start", "end"});
  duration.add_to(command);
  EXPECT_FALSE(command.parse(arguments));
  io::ReaderOptions options;
  values.apply_to(options);
  duration.apply_to(options);
  return options;
}

TEST(MediaOptions, TheEndIsLaterThanTheStart) {
  EXPECT_EQ(passage({"--start", "1", "--end", "2"}).end, 2);
  EXPECT_THROW(passage({"--start", "2", "--end", "2"}), UsageError);
  EXPECT_THROW(passage({"--end", "0"}), UsageError);
  EXPECT_THROW(passage({"--start", "1:60"}), UsageError);
}

TEST(MediaOptions, ADurationIsCountedFromTheStart) {
  EXPECT_EQ(passage({"--duration", "1:02.5"}).end, 62.5);
  EXPECT_EQ(passage({"--start", "10", "--duration", "5"}).end, 15);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--duration", "0"},
                                             {"--duration", "5", "--end", "9"},
                                             {"--duration", "-1"},
                                             {"--duration", "x"}}) {
    EXPECT_THROW(passage(wrong), UsageError) << wrong.at(1);
  }
}

}  // namespace
}  // namespace limpid::app
