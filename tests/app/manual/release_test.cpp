// SPDX-License-Identifier: MIT
// The version and its date are the same wherever a release states them, and the data for desktops is valid.
#include <gtest/gtest.h>
#include <limpid.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace limpid {
namespace {

const std::string kSourceFolder = LIMPID_SOURCE_DIR;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first match's groups, joined by a space.
std::string found(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) {
    return "nothing";
  }
  return match.size() == 2 ? match.str(1) : match.str(1) + " " + match.str(2);
}

TEST(Release, HasOneVersionAndDate) {
  const std::string cmake = contents(kSourceFolder + "/CMakeLists.txt");
  const std::string release =
      found(cmake, R"(project\(limpid VERSION ([0-9.]+)[\s\S]*?LIMPID_VERSION_DATE ([-0-9]+)\))");
  EXPECT_EQ(release.substr(0, release.find(' ')), LIMPID_VERSION);
  EXPECT_EQ(found(contents(kSourceFolder + "/CHANGELOG.md"), R"(## ([0-9.]+) \(([-0-9]+)\))"), release);
  EXPECT_EQ(found(contents(LIMPID_METAINFO), R"x(<release version="([^"]*)" date="([^"]*)")x"), release);
  const std::string debian = contents(kSourceFolder + "/debian/changelog");
  EXPECT_EQ(found(debian, R"(^limpid \(([^)]*)\))"), LIMPID_VERSION);
  const std::string date = found(debian, R"( -- [^\n]*>  \w+, (\d+ \w+ \d+) )");
  const std::string command =
      "test \"$(date -ud '" + date + "' +%F)\" = " + release.substr(release.find(' ') + 1);
  EXPECT_EQ(std::system(command.c_str()), 0) << date;
}

// Reports what the tool prints on failure. Skipped without it.
void expect_valid(const std::string& tool, const std::string& file) {
  if (std::system(("command -v " + tool.substr(0, tool.find(' ')) + " >/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "missing: " << tool;
  }
  EXPECT_EQ(std::system((tool + " '" + file + "' >&2").c_str()), 0);
}

TEST(Release, HasAValidDesktopEntry) {
  const std::string file = kSourceFolder + "/app/desktop/limpid.desktop";
  EXPECT_EQ(found(contents(file), "\nExec=([^\n]*)"), "limpid preview %f");
  expect_valid("desktop-file-validate", file);
}

TEST(Release, HasAValidDescriptionForCatalogs) {
  expect_valid("appstreamcli validate --no-net", LIMPID_METAINFO);
}

}  // namespace
}  // namespace limpid
