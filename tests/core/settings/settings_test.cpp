// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/bm3d/bm3d_parameters.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/filter_settings.h"
#include "core/settings/json_reader.h"
#include "core/settings/noise_settings.h"

namespace limpid {
namespace {

ParameterValue value(const char* filter, const char* parameter, const std::string& text) {
  return parse_value(*find_parameter(filter_type(filter), parameter), text);
}

TEST(FilterSettings, NothingAskedForIsTheDefault) {
  EXPECT_EQ(make_filter({}, true), parse_filter("bm3d"));
  EXPECT_EQ(make_filter({}, false), parse_filter("vbm4d"));
  FilterSettings settings;
  settings.profile = "fast";
  EXPECT_EQ(make_filter(settings, true), Filter(bm3d_profile(Profile::kFast)));
}

TEST(FilterSettings, ValuesAreReadByTheirKind) {
  EXPECT_EQ(value("bm3d", "step", "4"), ParameterValue(4));
  EXPECT_EQ(value("bm3d", "lambda", "2.5"), ParameterValue(2.5F));
  EXPECT_EQ(value("bm3d", "lambda", "2"), ParameterValue(2.0F));
  EXPECT_EQ(value("bm3d", "matching", "Nearest"), ParameterValue("nearest"));
  for (const char* text : {"", "4.5", "4x", " 4", "four", "99999999999"}) {
    EXPECT_THROW(value("bm3d", "step", text), UsageError) << text;
  }
  for (const char* text : {"", "nan", "inf", "1e99", "2,5"}) {
    EXPECT_THROW(value("bm3d", "lambda", text), UsageError) << text;
  }
}

TEST(FilterSettings, SettingsOfAnotherFilterAreRefusedByName) {
  FilterSettings settings{.name = "nlm", .profile = {}, .parameters = {{"radius", 3}}};
  try {
    make_filter(settings, false, "--");
    FAIL();
  } catch (const OtherFiltersSetting& error) {
    EXPECT_STREQ(error.what(),
                 "--radius is no option of the filter nlm, but of bilateral, adaptive-bilateral");
  }
  settings = {.name = "nlm", .profile = "fast", .parameters = {}};
  EXPECT_THROW(make_filter(settings, false), OtherFiltersSetting);
}

TEST(FilterSettings, AreReadBackFromTheirText) {
  FilterSettings settings{.name = "vbm4d", .profile = "np", .parameters = {{"step", 3}, {"lambda", 2.7F}}};
  EXPECT_EQ(to_string(settings), "vbm4d:quality=good:lambda=2.7:step=3");
  settings.parameters["lambda"] = 0.1F + 0.2F;
  const FilterSettings read = parse_filter_settings(to_string(settings));
  EXPECT_EQ(read.profile, settings.profile);
  EXPECT_EQ(read.parameters, settings.parameters);
}

TEST(DenoisingSettings, AreReadBackFromTheirFile) {
  DenoisingSettings settings;
  settings.filter = parse_filter_settings("bm3d:profile=fast:tau=99");
  settings.noise.strength = {1.2F, 0.5F};
  settings.noise.mix = 0.15F;
  settings.fields = FieldChoice::kProgressive;
  NoiseModel noise{{10, 5, 5}};
  noise.shape[0].repetition = 0.25F;
  for (const std::optional<NoiseProfile>& given :
       {std::optional<NoiseProfile>(), std::optional(NoiseProfile{NoiseModel{{7, 7, 7}}, std::nullopt}),
        std::optional(NoiseProfile{NoiseModel{{7, 3, 4}}, std::nullopt}),
        std::optional(NoiseProfile{noise, ColorModel::kYuv})}) {
    settings.noise.noise = given;
    const std::string text = json_text(settings);
    SCOPED_TRACE(text);
    const DenoisingSettings read = parse_settings(text);
    EXPECT_EQ(to_string(read.filter), to_string(settings.filter));
    EXPECT_EQ(read.noise, settings.noise);
    EXPECT_EQ(read.fields, settings.fields);
  }
  const DenoisingSettings defaults = parse_settings(R"({"limpid_settings": 1})");
  EXPECT_EQ(defaults.filter.name, "");
  EXPECT_EQ(defaults.noise, NoiseSettings());
  EXPECT_EQ(parse_settings(R"({"limpid_settings": 1, "strength": "Light", "noise": 9.5})").noise.strength,
            (Strength{0.7F, 0.7F}));
}

TEST(DenoisingSettings, InvalidFilesAreReported) {
  const auto complaint = [](const std::string& members) -> std::string {
    try {
      parse_settings("{" + members + "}");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const std::string mark = "\"limpid_settings\": 1, ";
  EXPECT_EQ(complaint(""), "\"limpid_settings\" is missing");
  EXPECT_EQ(complaint("\"limpid_settings\": 2"), "\"limpid_settings\" must be 1");
  EXPECT_EQ(complaint(mark + "\"sigma\": 3"), "\"sigma\" is not a setting");
  EXPECT_EQ(complaint(mark + "\"mix\": 3"), "\"mix\" is not valid: mix: '3' is not a number from 0 to 1");
  EXPECT_NE(complaint(mark + "\"filter\": \"mean\"").find("\"filter\" is not valid: "), std::string::npos);
  EXPECT_NE(complaint(mark + "\"noise\": {}").find("\"noise\" is not valid: "), std::string::npos);
  EXPECT_NE(complaint(mark + "\"strength\": [1]").find("\"strength\""), std::string::npos);
  EXPECT_THROW(parse_settings("[1]"), UsageError);
  EXPECT_THROW(parse_settings("{"), UsageError);
  EXPECT_THROW(read_settings("nosuch.json"), UsageError);
}

TEST(NoiseSettings, AProfileMayBeATextToo) {
  const NoiseProfile profile{NoiseModel{{10, 5, 5}}, ColorModel::kYuv};
  EXPECT_EQ(parse_noise_profile(to_json(profile).dump()), profile);
  NoiseProfile of_area = profile;
  of_area.noise.area = Region{.x = 48, .y = 0, .width = 96, .height = 64};
  EXPECT_EQ(parse_noise_profile(to_json(of_area).dump()), of_area);
  EXPECT_THROW(parse_noise_profile("{"), UsageError);
  EXPECT_THROW(parse_noise_profile("{}"), UsageError);
}

TEST(NoiseSettings, InvalidProfilesAreReported) {
  const auto objection = [](const std::string& text) -> std::string {
    try {
      parse_noise_profile(text);
      return "none";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  const auto with_plane = [](const std::string& plane) {
    return R"({"limpid_noise_profile": 1, "planes": {"Y": {)" + plane + "}}}";
  };
  EXPECT_EQ(objection(with_plane(R"("sigma": 1)")), "none");
  EXPECT_EQ(objection(R"({"limpid_noise_profile": )" + std::string(300000, '[')),
            "it is nested deeper than 64 levels");
  EXPECT_EQ(objection("{}"), "\"limpid_noise_profile\" is missing");
  EXPECT_EQ(objection(with_plane("")), "\"planes.Y.sigma\" is missing");
  EXPECT_EQ(objection(with_plane(R"("sigma": 1e300)")), "\"planes.Y.sigma\" must be a number from 0 to 255");
  EXPECT_EQ(objection(with_plane(R"("sigma": 1, "curve": [1, 2])")),
            "\"planes.Y.curve\" must be an array of 17 elements");
  EXPECT_EQ(objection(with_plane(R"("sigma": 1, "grain": 2)")),
            "\"planes.Y.grain\" is not a property of this plane's noise");
  EXPECT_EQ(
      objection(R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1}}, "area": [16, 16, 0, 32]})"),
      "\"area[2]\" must be an integer from 1 to 65535");
  EXPECT_EQ(objection("{" + std::string(kMostDocumentBytes, ' ')), "it is larger than 1048576 bytes");
}

}  // namespace
}  // namespace limpid
