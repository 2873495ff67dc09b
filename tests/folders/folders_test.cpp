// SPDX-License-Identifier: MIT
// Checks the includes of each folder against the table of folders in ARCHITECTURE.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace limpid {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = LIMPID_SOURCE_DIR;

// Folders, as paths from the top, and the folders that they may include.
using Folders = std::map<std::string, std::set<std::string>>;

std::string join(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// The table: one line per folder, indented by two more spaces than the folder that contains it. The last of
// three columns, separated by at least two spaces, lists the folders that it may include.
Folders drawn_folders(std::istream& page) {
  static const std::regex kFolder(R"(    ((?:  )*)([a-z0-9_]+)/(?: {2,}(\S.*?)(?: {2,}(\S+(?: \S+)*))?)?)");
  Folders folders;
  std::vector<std::string> path;
  bool drawn = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) {
      drawn = line == "## Folders";
    }
    std::smatch parts;
    if (!drawn || !std::regex_match(line, parts, kFolder)) {
      continue;
    }
    path.resize(static_cast<std::size_t>(parts.length(1)) / 2);
    std::string folder;
    for (const std::string& part : path) {
      folder = join(folder, part);
    }
    path.push_back(parts[2]);
    std::set<std::string>& allowed = folders[join(folder, parts[2])];
    std::istringstream names(parts[4]);
    for (std::string name; names >> name;) {
      if (name != "-") {
        const std::string neighbor = join(folder, name);
        allowed.insert(fs::is_directory(kSource / neighbor) ? neighbor : name);
      }
    }
  }
  return folders;
}

Folders drawn_folders() {
  std::ifstream page(kSource / "ARCHITECTURE.md");
  return drawn_folders(page);
}

bool is_source(const fs::path& file) {
  return file.extension() == ".h" || file.extension() == ".cpp" || file.extension() == ".cu";
}

struct Include {
  std::string file;    ///< file that includes
  std::string folder;  ///< its folder
  std::string header;  ///< header, as a path from the top
};

std::vector<Include> includes() {
  static const std::regex kInclude(
      R"x(\s*#include "((?:app|bench|core|cpu|cuda|io|lib|plugins|samples|tests)/[^"]+)".*)x");
  std::vector<Include> all;
  for (const char* top : {"app", "core", "cpu", "cuda", "io", "lib", "plugins", "samples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / top)) {
      if (!is_source(entry.path())) {
        continue;
      }
      const fs::path file = entry.path().lexically_relative(kSource);
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch header;
        if (std::regex_match(line, header, kInclude)) {
          all.push_back({file.string(), file.parent_path().string(), header[1]});
        }
      }
    }
  }
  return all;
}

// Expects that no line of the source files in a folder matches, except in folders named system.
void expect_outside_of_system_no_line(const char* top, const std::regex& forbidden) {
  for (const auto& entry : fs::recursive_directory_iterator(kSource / top)) {
    std::ifstream text(entry.path());
    const bool is_checked = is_source(entry.path()) && entry.path().parent_path().filename() != "system";
    for (std::string line; is_checked && std::getline(text, line);) {
      EXPECT_FALSE(std::regex_match(line, forbidden))
          << entry.path().lexically_relative(kSource) << ": " << line;
    }
  }
}

TEST(Folders, TheDrawingIsRead) {
  std::istringstream page(
      "## Folders\n"
      "    core/       what denoising is    core/engine\n"
      "      base/     errors; all of them  -\n"
      "      frame/    frames\n"
      "        bm3d/   BM3D                 core/base nosuch\n"
      "    io/\n"
      "## Another\n"
      "    app/        elsewhere            core\n");
  EXPECT_EQ(drawn_folders(page), (Folders{{"core", {"core/engine"}},
                                          {"core/base", {}},
                                          {"core/frame", {}},
                                          {"core/frame/bm3d", {"core/base", "nosuch"}},
                                          {"io", {}}}));
}

TEST(Folders, AreThoseThatAreDrawn) {
  const Folders folders = drawn_folders();
  for (const auto& [folder, allowed] : folders) {
    EXPECT_TRUE(fs::is_directory(kSource / folder))
        << "ARCHITECTURE.md lists " << folder << ", which does not exist";
    for (const std::string& other : allowed) {
      EXPECT_TRUE(folders.contains(other))
          << "ARCHITECTURE.md lets " << folder << " include " << other << ", which it doesn't draw";
    }
  }
  for (const char* top : {"app", "core", "cpu", "cuda", "io", "lib", "plugins", "samples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / top)) {
      const std::string folder = entry.path().parent_path().lexically_relative(kSource).string();
      if (is_source(entry.path())) {
        EXPECT_TRUE(folders.contains(folder)) << "ARCHITECTURE.md doesn't draw " << folder;
      }
    }
  }
}

TEST(Folders, IncludeOnlyWhatTheyMay) {
  const Folders folders = drawn_folders();
  const std::vector<Include> all = includes();
  ASSERT_GT(all.size(), 500U);
  for (const Include& include : all) {
    const std::string folder = fs::path(include.header).parent_path().string();
    const auto room = folders.find(include.folder);
    EXPECT_TRUE(folder == include.folder || (room != folders.end() && room->second.contains(folder)))
        << include.file << " includes " << include.header << ", and ARCHITECTURE.md doesn't allow "
        << include.folder << " to include " << folder;
  }
}

TEST(Folders, MayNotIncludeEachOtherInACircle) {
  const Folders folders = drawn_folders();
  // A folder inside another one may include that one.
  const auto inside = [](const std::string& a, const std::string& b) {
    return a.starts_with(b + "/") || b.starts_with(a + "/");
  };
  std::set<std::string> done;
  for (bool progress = true; progress;) {
    progress = false;
    for (const auto& [folder, allowed] : folders) {
      const bool ready =
          std::all_of(allowed.begin(), allowed.end(), [&, &own = folder](const std::string& other) {
            return done.contains(other) || inside(own, other);
          });
      progress = (ready && done.insert(folder).second) || progress;
    }
  }
  for (const auto& [folder, allowed] : folders) {
    EXPECT_TRUE(done.contains(folder)) << folder << " is in a circle, or includes one";
  }
}

// libstdc++ 12 implements these headers by std::atomic::wait(), which loses wake-ups on Windows
// (docs/portability.md). core/base/system/stop_callback.h has the replacement.
TEST(Folders, OfWindowsHaveNoHeadersThatLoseWakeUps) {
  static const std::regex kInclude(R"(\s*#include <(barrier|latch|semaphore|stop_token)>.*)");
  for (const char* top : {"core", "cpu", "lib", "plugins/openfx", "plugins/vapoursynth", "tests/core"}) {
    expect_outside_of_system_no_line(top, kInclude);
  }
}

// limpid.h is the exception: programs of all systems include it.
TEST(Folders, ForSystemsAloneHaveCodeForWindows) {
  static const std::regex kCondition(R"(\s*#.*\b_WIN32\b.*)");
  for (const char* top : {"core", "cpu", "cuda", "io", "app", "plugins", "python"}) {
    expect_outside_of_system_no_line(top, kCondition);
  }
}

}  // namespace
}  // namespace limpid
