// SPDX-License-Identifier: MIT
// Numbers and names that documents repeat from the files that define them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace limpid {
namespace {

const std::filesystem::path kTop = LIMPID_SOURCE_DIR;

std::string text_of(const std::string& file) {
  std::ifstream stream(kTop / file);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What the first group of the expression matches in the file, at all places.
std::set<std::string> values_in(const std::string& file, const char* expression) {
  const std::string text = text_of(file);
  const std::regex pattern(expression);
  std::set<std::string> values;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    values.insert((*match)[1]);
  }
  return values;
}

struct Place {
  const char* file;
  const char* expression;
};
struct Fact {
  const char* name;
  std::vector<Place> places;  // the first one defines the value
};

const std::vector<Fact>& facts() {
  static const std::vector<Fact> all{
      {"version",
       {{"CMakeLists.txt", R"(project\(limpid VERSION (\S+))"},
        {"debian/changelog", R"(^limpid \((\S+)\))"},
        {"lib/include/limpid.h", R"(limpid_version\(void\); /\* .([0-9.]+))"},
        {"samples/cluster/kubernetes.yaml", R"(/limpid:(\S+))"}}},
      {"SOVERSION",
       {{"CMakeLists.txt", R"(project\(limpid VERSION (\d+))"},
        {"lib/README.md", R"(liblimpid\.so\.(\d+))"},
        {"debian/liblimpid0.symbols", R"(liblimpid\.so\.(\d+))"},
        {"debian/control", R"(Package: liblimpid(\d+))"},
        {"lib/limpid.map", R"(LIMPID_(\d+) \{)"}}},
      {"oldest FFmpeg",
       {{"README.md", R"(needs Linux, FFmpeg ([0-9.]+) or later)"},
        {"docs/install.md", R"(FFmpeg ([0-9.]+) or later)"}}},
      {"oldest GCC",
       {{"README.md", R"(GCC (\d+) or later)"},
        {"docs/install.md", R"(GCC (\d+) or later)"},
        {"docs/install.md", R"(C\+\+ library of GCC (\d+))"},
        {"docs/portability.md", R"(C\+\+ library of GCC (\d+))"}}},
      {"oldest CUDA",
       {{"README.md", R"(CUDA (\d+) or later)"}, {"docs/install.md", R"(CUDA (\d+)\.0 or later)"}}},
      {"oldest glibc",
       {{"docs/install.md", R"(glibc ([0-9.]+\d), the C)"},
        {"docs/portability.md", R"(glibc ([0-9.]+\d) or later)"}}},
      {"oldest Python",
       {{"python/CMakeLists.txt", R"(find_package\(Python (\S+))"},
        {"pyproject.toml", R"(requires-python = .>=([0-9.]+))"},
        {".ci/python.sh", R"(there is no Python ([0-9.]+))"},
        {"python/README.md", R"(12 or later with Python ([0-9.]+\d))"},
        {"docs/portability.md", R"(package needs Python ([0-9.]+\d))"}}},
      {"oldest VapourSynth in pip",
       {{"plugins/vapoursynth/pyproject.toml", R"(\(R(\d+) or later\))"},
        {"plugins/vapoursynth/README.md", R"(\(R(\d+) or later)"},
        {"docs/install.md", R"(VapourSynth R(\d+))"}}},
      {"tested VapourSynth",
       {{"plugins/README.md", R"(tested with R(\d+))"}, {"docs/portability.md", R"(VapourSynth R(\d+))"}}},
  };
  return all;
}

TEST(Documents, NumbersAreThoseOfTheFilesThatDefineThem) {
  for (const Fact& fact : facts()) {
    const std::set<std::string> defined = values_in(fact.places[0].file, fact.places[0].expression);
    ASSERT_EQ(defined.size(), 1U) << fact.name << " in " << fact.places[0].file;
    for (const Place& place : fact.places) {
      EXPECT_EQ(values_in(place.file, place.expression), defined) << fact.name << " in " << place.file;
    }
  }
}

TEST(Documents, TheVersionOfTheInterfaceIsTheLastInItsList) {
  int last = 0;
  for (const std::string& version : values_in("lib/include/limpid.h", R"(\n \*   (\d+)  )")) {
    last = std::max(last, std::stoi(version));
  }
  EXPECT_EQ(values_in("lib/include/limpid.h", R"(LIMPID_API_VERSION (\d+))"), std::set{std::to_string(last)});
}

TEST(Documents, NameEachPlugIn) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  for (const auto& folder : std::filesystem::directory_iterator(kTop / "plugins")) {
    const std::string name = folder.path().filename();
    if (!folder.is_directory() || name == "shared") {
      continue;
    }
    for (const char* const file : {"README.md", "plugins/README.md", "ARCHITECTURE.md", "docs/install.md"}) {
      EXPECT_NE(lower(text_of(file)).find(name), std::string::npos) << name << " in " << file;
    }
    EXPECT_TRUE(exists(folder.path() / "README.md")) << name;
  }
}

// Both are said in several documents.
TEST(Documents, NamePlatformsAlike) {
  EXPECT_NE(text_of("docs/coming-from.md").find("plugins/openfx), on Linux and Windows"), std::string::npos);
  EXPECT_NE(text_of("plugins/openfx/README.md").find("plug-ins, on Linux and Windows"), std::string::npos);
  EXPECT_NE(text_of("docs/install.md").find("ofx.zip"), std::string::npos);
}

}  // namespace
}  // namespace limpid
