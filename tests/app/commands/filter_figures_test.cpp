// SPDX-License-Identifier: MIT
#include "app/commands/filter_figures.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/filter/filter.h"

namespace limpid::app {
namespace {

nlohmann::json output_of(const std::string& file) {
  return nlohmann::json::parse(std::ifstream(std::string(LIMPID_RESULTS_DIR) + "/" + file)).at("output");
}

/// The `value` in the row whose `key` is `name`.
double value_in(const nlohmann::json& rows, const std::string& key, const std::string& name,
                const std::string& value) {
  for (const nlohmann::json& row : rows) {
    if (row.at(key) == name) {
      return row.at(value).get<double>();
    }
  }
  ADD_FAILURE() << "no row " << name;
  return 0;
}

TEST(FilterFigures, VideoQualityIsThatOfTheResults) {
  const nlohmann::json rows = output_of("video_quality.json").at("sigma 20");
  for (const std::string filter : {"vbm4d", "vnlb", "recursive", "bm3d"}) {
    EXPECT_NEAR(figures_of(filter).video_psnr.value(),
                value_in(rows, "filter", filter + ":profile=np", "mean"), 0.005)
        << filter;
  }
}

TEST(FilterFigures, PictureQualityIsThatOfTheResults) {
  const nlohmann::json output = output_of("cpu_filter_quality.json");
  for (const nlohmann::json& row : output.at("filters")) {
    const auto& psnr = figures_of(row.at("filter").get<std::string>()).picture_psnr;
    if (row.at("sigma") == 25 && psnr) {
      EXPECT_NEAR(*psnr, row.at("psnr_db").get<double>(), 0.005) << row;
    }
  }
}

TEST(FilterFigures, TimesOnTheGpuAreThoseOfTheResults) {
  const auto expect = [](const std::string& filter, double milliseconds) {
    EXPECT_NEAR(figures_of(filter).gpu_ms.value(), milliseconds, 0.01 * milliseconds) << filter;
  };
  const nlohmann::json temporal = output_of("cuda_vbm4d_h200.json").at("frames");
  expect("vbm4d", value_in(temporal, "profile", "np", "ms"));
  expect("vnlb", value_in(temporal, "profile", "vnlb np", "ms"));
  expect("bm3d", value_in(output_of("cuda_bm3d_h200.json").at("settings"), "setting", "np", "frame_ms"));
  const nlohmann::json others = output_of("cuda_edge_preserving_h200.json").at("settings");
  expect("bilateral", value_in(others, "setting", "bilateral, radius 5", "frame_ms"));
  expect("adaptive-bilateral", value_in(others, "setting", "adaptive bilateral, radius 5", "frame_ms"));
  expect("nlm", value_in(others, "setting", "NLM, 7x7 in 21x21", "frame_ms"));
  expect("nlm-bilateral", value_in(others, "setting", "NLM-bilateral, 7x7 in 21x21", "frame_ms"));
}

/// The row of a filter and profile, or of the default profile.
double time_in(const nlohmann::json& rows, const std::string& filter, const std::string& profile) {
  for (const nlohmann::json& row : rows) {
    if (row.at("filter") == filter && row.at("profile") == profile) {
      return row.at("time").get<double>();
    }
  }
  ADD_FAILURE() << "no row " << filter << ":" << profile;
  return 0;
}

TEST(FilterFigures, TimesOnTheCpuAreThoseOfTheResults) {
  const nlohmann::json rows = output_of("cpu_filters.json").at("frames");
  for (const FilterType& type : filter_types()) {
    EXPECT_DOUBLE_EQ(figures_of(type.name).cpu_time.value(),
                     time_in(rows, type.name, type.profiles.empty() ? "" : type.default_profile))
        << type.name;
    for (const std::string& profile : type.profiles) {
      if (const ProfileFigures* const figures = figures_of(type.name, profile)) {
        EXPECT_DOUBLE_EQ(figures->cpu_time.value(), time_in(rows, type.name, profile)) << profile;
      }
    }
  }
}

TEST(FilterFigures, ProfilesHaveTheFiguresOfTheResults) {
  const nlohmann::json video = output_of("video_quality.json").at("sigma 20");
  const nlohmann::json temporal = output_of("cuda_vbm4d_h200.json").at("frames");
  for (const std::string filter : {"vbm4d", "vnlb", "recursive", "bm3d"}) {
    ASSERT_NE(quickest_profile(filter), nullptr) << filter;
    for (const std::string& profile : filter_type(filter).profiles) {
      const ProfileFigures* const figures = figures_of(filter, profile);
      if (figures == nullptr) {
        continue;
      }
      const std::string name = filter + ":profile=" + profile;
      EXPECT_NEAR(figures->video_psnr, value_in(video, "filter", name, "mean"), 0.005) << name;
      EXPECT_GE(*figures->cpu_time, *quickest_profile(filter)->cpu_time) << name;
      if (figures->gpu_ms) {
        const std::string row = filter == "vbm4d" ? profile : filter + " " + profile;
        EXPECT_NEAR(*figures->gpu_ms, value_in(temporal, "profile", row, "ms"), 0.01) << name;
      }
    }
  }
}

TEST(FilterFigures, EveryFilterHasFigures) {
  for (const FilterType& type : filter_types()) {
    const FilterFigures figures = figures_of(type.name);
    EXPECT_TRUE(figures.gpu_ms || figures.video_psnr) << type.name;
  }
}

}  // namespace
}  // namespace limpid::app
