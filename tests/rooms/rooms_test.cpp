// Which folder may include which: README.md draws the folders and says it, and this holds the code to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace limpid {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = LIMPID_SOURCE_DIR;

// Folders, as paths from the top, with what they may include.
using Rooms = std::map<std::string, std::set<std::string>>;

std::string join(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// The drawing: a line for each folder, two spaces deeper than the one that it is in; the last of three
// columns, which two spaces or more separate, lists what it may include.
Rooms drawn_rooms(std::istream& readme) {
  static const std::regex kRoom(R"(    ((?:  )*)([a-z0-9_]+)/(?: {2,}(\S.*?)(?: {2,}(\S+(?: \S+)*))?)?)");
  Rooms rooms;
  std::vector<std::string> path;
  bool drawn = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("## ")) {
      drawn = line == "## The rooms";
    }
    std::smatch parts;
    if (!drawn || !std::regex_match(line, parts, kRoom)) {
      continue;
    }
    path.resize(static_cast<std::size_t>(parts.length(1)) / 2);
    std::string folder;
    for (const std::string& part : path) {
      folder = join(folder, part);
    }
    path.push_back(parts[2]);
    std::set<std::string>& allowed = rooms[join(folder, parts[2])];
    std::istringstream names(parts[4]);
    for (std::string name; names >> name;) {
      if (name != "-") {
        const std::string neighbour = join(folder, name);
        allowed.insert(fs::is_directory(kSource / neighbour) ? neighbour : name);
      }
    }
  }
  return rooms;
}

Rooms drawn_rooms() {
  std::ifstream readme(kSource / "README.md");
  return drawn_rooms(readme);
}

bool is_source(const fs::path& file) {
  return file.extension() == ".h" || file.extension() == ".cpp" || file.extension() == ".cu";
}

struct Include {
  std::string file;    ///< that includes
  std::string folder;  ///< that it is in
  std::string header;  ///< from the top
};

std::vector<Include> includes() {
  static const std::regex kInclude(
      R"x(\s*#include "((?:app|core|cuda|io|lib|plugins|samples|tests)/[^"]+)".*)x");
  std::vector<Include> all;
  for (const char* top : {"app", "core", "cuda", "io", "lib", "plugins", "samples"}) {
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

TEST(Rooms, TheDrawingIsRead) {
  std::istringstream readme(
      "## The rooms\n"
      "    core/       what denoising is    core/engine\n"
      "      base/     errors; all of them  -\n"
      "      cpu/      an engine\n"
      "        bm3d/   BM3D                 core/base nosuch\n"
      "    io/\n"
      "## Another\n"
      "    app/        elsewhere            core\n");
  EXPECT_EQ(drawn_rooms(readme), (Rooms{{"core", {"core/engine"}},
                                        {"core/base", {}},
                                        {"core/cpu", {}},
                                        {"core/cpu/bm3d", {"core/base", "nosuch"}},
                                        {"io", {}}}));
}

TEST(Rooms, AreThoseThatAreDrawn) {
  const Rooms rooms = drawn_rooms();
  for (const auto& [folder, allowed] : rooms) {
    EXPECT_TRUE(fs::is_directory(kSource / folder)) << "README.md draws " << folder << ", which isn't there";
    for (const std::string& other : allowed) {
      EXPECT_TRUE(rooms.contains(other))
          << "README.md lets " << folder << " include " << other << ", which it doesn't draw";
    }
  }
  for (const char* top : {"app", "core", "cuda", "io", "lib", "plugins", "samples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / top)) {
      const std::string folder = entry.path().parent_path().lexically_relative(kSource).string();
      if (is_source(entry.path())) {
        EXPECT_TRUE(rooms.contains(folder)) << "README.md doesn't draw " << folder;
      }
    }
  }
}

TEST(Rooms, IncludeOnlyWhatTheyMay) {
  const Rooms rooms = drawn_rooms();
  const std::vector<Include> all = includes();
  ASSERT_GT(all.size(), 500U);
  for (const Include& include : all) {
    const std::string folder = fs::path(include.header).parent_path().string();
    const auto room = rooms.find(include.folder);
    EXPECT_TRUE(folder == include.folder || (room != rooms.end() && room->second.contains(folder)))
        << include.file << " includes " << include.header << ", and README.md doesn't allow "
        << include.folder << " to include " << folder;
  }
}

TEST(Rooms, MayNotIncludeEachOtherInACircle) {
  const Rooms rooms = drawn_rooms();
  // The parts of a room may know the room itself.
  const auto inside = [](const std::string& a, const std::string& b) {
    return a.starts_with(b + "/") || b.starts_with(a + "/");
  };
  std::set<std::string> done;
  for (bool progress = true; progress;) {
    progress = false;
    for (const auto& [folder, allowed] : rooms) {
      const bool ready =
          std::all_of(allowed.begin(), allowed.end(), [&, &own = folder](const std::string& other) {
            return done.contains(other) || inside(own, other);
          });
      progress = (ready && done.insert(folder).second) || progress;
    }
  }
  for (const auto& [folder, allowed] : rooms) {
    EXPECT_TRUE(done.contains(folder)) << folder << " is in a circle, or includes one";
  }
}

}  // namespace
}  // namespace limpid
