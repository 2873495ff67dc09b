// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/progress.h"
#include "core/filter/filter.h"

namespace limpid::app {
namespace {

nlohmann::json output_of(const std::string& file) {
  return nlohmann::json::parse(std::ifstream(std::string(LIMPID_RESULTS_DIR) + "/" + file)).at("output");
}

/// Of the default profile.
const FilterFigures& default_figures_of(const std::string& filter) {
  const FilterType& type = filter_type(filter);
  return *figures_of(filter, type.profiles.empty() ? "" : type.default_profile);
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
    EXPECT_NEAR(default_figures_of(filter).video_psnr.value(),
                value_in(rows, "filter", filter + ":profile=np", "mean"), 0.005)
        << filter;
  }
}

TEST(FilterFigures, PictureQualityIsThatOfTheResults) {
  const nlohmann::json output = output_of("cpu_filter_quality.json");
  for (const nlohmann::json& row : output.at("filters")) {
    for (const FilterType& type : filter_types()) {
      const auto& psnr = default_figures_of(type.name).picture_psnr;
      if (row.at("filter") == type.name && row.at("sigma") == 25 && psnr) {
        EXPECT_NEAR(*psnr, row.at("psnr_db").get<double>(), 0.005) << row;
      }
    }
  }
}

TEST(FilterFigures, TimesOnTheGpuAreThoseOfTheResults) {
  const auto expect = [](const std::string& filter, double milliseconds) {
    EXPECT_NEAR(default_figures_of(filter).gpu_ms.value(), milliseconds, 0.01 * milliseconds) << filter;
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
    EXPECT_DOUBLE_EQ(default_figures_of(type.name).cpu_time.value(),
                     time_in(rows, type.name, type.profiles.empty() ? "" : type.default_profile))
        << type.name;
    for (const std::string& profile : type.profiles) {
      if (const FilterFigures* const figures = figures_of(type.name, profile)) {
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
      const FilterFigures* const figures = figures_of(filter, profile);
      if (figures == nullptr) {
        continue;
      }
      const std::string name = filter + ":profile=" + profile;
      EXPECT_NEAR(figures->video_psnr.value(), value_in(video, "filter", name, "mean"), 0.005) << name;
      EXPECT_GE(*figures->cpu_time, *quickest_profile(filter)->cpu_time) << name;
      if (figures->gpu_ms && filter != "bm3d") {  // which is measured alone
        const std::string row = filter == "vbm4d" ? profile : filter + " " + profile;
        EXPECT_NEAR(*figures->gpu_ms, value_in(temporal, "profile", row, "ms"), 0.01) << name;
      }
    }
  }
}

/// The cells of a row of a table.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 2, end = 0; (end = line.find('|', begin)) != std::string::npos; begin = end + 2) {
    cells.push_back(line.substr(begin, end == begin ? 0 : end - begin - 1));
  }
  return cells;
}

/// "vbm4d:profile=np" for "`vbm4d`", and so on.
std::string row_name_of(const std::string& cell) {
  static const std::map<std::string, std::string> kNames{{"V-BM3D", "vbm3d:profile=np"},
                                                         {"BM3D, frame by frame", "bm3d:profile=np"},
                                                         {"**Limpid**, default", "vbm4d:profile=np"}};
  if (const auto found = kNames.find(cell); found != kNames.end()) {
    return found->second;
  }
  static const std::regex kSettings(R"(.*`(?:--quality (\w+)|(\w+)(?::quality=(\w+))?(:delay=0)?)`)");
  std::smatch parts;
  EXPECT_TRUE(std::regex_match(cell, parts, kSettings)) << cell;
  const std::string filter = parts[2].length() > 0 ? parts[2].str() : "vbm4d";
  const std::string quality = parts[1].str() + parts[3].str();
  return filter +
         ":profile=" + profile_for(filter_type(filter).profiles, quality.empty() ? "good" : quality) +
         parts[4].str();
}

TEST(FilterFigures, DocumentsHaveThoseOfTheResults) {
  const nlohmann::json results = output_of("video_quality.json");
  int count = 0;
  for (const char* const document : {"README.md", "docs/filters.md"}) {
    std::ifstream stream(std::string(LIMPID_RESULTS_DIR) + "/../../" + document);
    std::vector<std::string> heads;
    for (std::string line; std::getline(stream, line);) {
      const std::vector<std::string> cells = cells_of(line);
      heads = line.starts_with("| seven clips") ? cells : line.starts_with("|") ? heads : decltype(heads)();
      for (std::size_t i = 1; i < heads.size() && line.starts_with("| ") && cells != heads; ++i) {
        const std::string name = row_name_of(cells.at(0));
        const std::string sigma = heads[i].find("40") != std::string::npos ? "sigma 40" : "sigma 20";
        if (const bool is_time = heads[i].starts_with("ms"); is_time && !cells.at(i).empty()) {
          const std::size_t colon = name.find(':');
          const FilterFigures* const figures = figures_of(name.substr(0, colon), name.substr(colon + 9));
          const auto& ms = figures != nullptr && figures->gpu_ms
                               ? figures->gpu_ms
                               : default_figures_of(name.substr(0, colon)).gpu_ms;
          EXPECT_NEAR(std::stod(cells.at(i)), ms.value(), 0.006 * *ms) << document << ": " << line;
        } else if (!is_time) {
          const char* const column = heads[i].starts_with("flicker") ? "flicker" : "mean";
          EXPECT_NEAR(std::stod(cells.at(i)), value_in(results.at(sigma), "filter", name, column), 0.006)
              << document << ": " << line;
        }
        ++count;
      }
    }
  }
  EXPECT_GT(count, 40);
}

/// "1.1 to 1.3 ms" for a profile of V-BM4D on the clips of 1080p, without the unit.
std::string range_on_clips(const std::string& profile) {
  double least = 1e9;
  double most = 0;
  const nlohmann::json output = output_of("cuda_real_clips_h200.json");
  for (const nlohmann::json& row : output.at("clips")) {
    if (row.at("filter") == "vbm4d:profile=" + profile && row.at("format") == "yuv420p") {
      least = std::min(least, row.at("ms").get<double>());
      most = std::max(most, row.at("ms").get<double>());
    }
  }
  return fmt::format("{:.2g} to {:.2g}", least, most);
}

TEST(FilterFigures, ThePageOnPerformanceHasThoseOfTheResults) {
  std::stringstream text;
  text << std::ifstream(std::string(LIMPID_RESULTS_DIR) + "/../../docs/performance.md").rdbuf();
  const std::string page = std::regex_replace(text.str(), std::regex("\\s+"), " ");
  const nlohmann::json frames = output_of("cuda_vbm4d_h200.json").at("frames");
  const auto ms = [&frames](const std::string& profile) {
    return value_in(frames, "profile", profile, "ms");
  };
  const nlohmann::json rates = output_of("cpu_vbm4d_threads_16_cores.json").at("frames per second");
  const auto rate = [&rates](const std::string& profile) {
    return value_in(rates, "profile", profile, "16 threads");
  };
  for (const std::string& sentence :
       {fmt::format("takes {:.2f} ms (profile `fast`), {:.2f} ms (`np`) or {:.1f} ms (`high`)", ms("fast"),
                    ms("np"), ms("high")),
        fmt::format("VNLB {:.1f} ms (`fast`) to {:.0f} ms (`best`)", ms("vnlb fast"), ms("vnlb best")),
        fmt::format("take {} ms (`fast`), {} ms (`np`) or {} ms (`high`)", range_on_clips("fast"),
                    range_on_clips("np"), range_on_clips("high")),
        fmt::format("filters {:.0f} (`fast`) or {:.1f} (`np`) frames", rate("fast"), rate("np"))}) {
    EXPECT_NE(page.find(sentence), std::string::npos) << sentence;
  }
}

TEST(FilterFigures, EveryFilterHasFigures) {
  for (const FilterType& type : filter_types()) {
    const FilterFigures& figures = default_figures_of(type.name);
    EXPECT_TRUE(figures.gpu_ms || figures.video_psnr) << type.name;
  }
}

}  // namespace
}  // namespace limpid::app
