// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/bm3d/bm3d_parameters.h"
#include "core/settings/filter_settings.h"
#include "core/settings/noise_profile.h"
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

TEST(FilterSettings, WhatAnotherFilterHasIsRefusedByName) {
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

TEST(NoiseSettings, AProfileMayBeATextToo) {
  const NoiseProfile profile{NoiseModel{{10, 5, 5}}, ColorModel::kYuv};
  EXPECT_EQ(parse_noise_profile(to_json(profile).dump()), profile);
  EXPECT_THROW(parse_noise_profile("{"), UsageError);
  EXPECT_THROW(parse_noise_profile("{}"), UsageError);
}

TEST(NoiseSettings, WhatIsWrongWithAProfileIsSaid) {
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
  EXPECT_EQ(objection("{" + std::string(kMostProfileBytes, ' ')), "it is larger than 1048576 bytes");
}

}  // namespace
}  // namespace limpid
