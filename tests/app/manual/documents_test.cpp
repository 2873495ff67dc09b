// SPDX-License-Identifier: MIT
// Checks the documents: links point to files and headings that exist, and commands have options that exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = LIMPID_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> all;
  const std::set<std::string> skipped = {"build", "out", ".git", ".ci"};
  for (fs::recursive_directory_iterator file(kSource), end; file != end; ++file) {
    if (file->is_directory() && skipped.contains(file->path().filename().string())) {
      file.disable_recursion_pending();
    } else if (file->path().extension() == ".md") {
      all.push_back(file->path());
    }
  }
  return all;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The anchor that GitHub gives to a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

bool has_anchor(const fs::path& document, const std::string& anchor) {
  return std::ranges::any_of(lines_of(document), [&](const std::string& line) {
    return line.starts_with("#") && anchor_of(line.substr(line.find_first_not_of("# "))) == anchor;
  });
}

TEST(Documents, LinksPointToFilesAndHeadings) {
  static const std::regex kLink(R"(\]\(([^)\s]+)\))");
  for (const fs::path& document : documents()) {
    std::stringstream text;
    text << std::ifstream(document).rdbuf();
    const std::string all = text.str();
    for (std::sregex_iterator link(all.begin(), all.end(), kLink), end; link != end; ++link) {
      const std::string target = (*link)[1];
      if (target.find("://") != std::string::npos) {
        continue;
      }
      const std::size_t hash = std::min(target.find('#'), target.size());
      const fs::path file = hash == 0 ? document : document.parent_path() / target.substr(0, hash);
      EXPECT_TRUE(fs::exists(file)) << document << ": " << target;
      if (hash < target.size() && file.extension() == ".md") {
        EXPECT_TRUE(has_anchor(file, target.substr(hash + 1))) << document << ": " << target;
      }
    }
  }
}

/// The arguments of the limpid commands in an indented line of a document; explanations follow three blanks.
std::vector<std::vector<std::string>> commands_in(const std::string& line) {
  std::vector<std::vector<std::string>> commands;
  if (!line.starts_with("    ")) {
    return commands;
  }
  std::istringstream parts(line.substr(0, line.find("   ", 4)));
  for (std::string part; std::getline(parts, part, '|');) {
    std::istringstream words(part);
    std::vector<std::string> arguments;
    bool is_limpid = false;
    for (std::string word; words >> word;) {
      if (is_limpid) {
        arguments.push_back(word);
      }
      is_limpid = is_limpid || word == "limpid";
    }
    if (!arguments.empty()) {
      commands.push_back(arguments);
    }
  }
  return commands;
}

TEST(Documents, CommandsHaveTheirOptions) {
  int count = 0;
  for (const fs::path& document : documents()) {
    for (const std::string& line : lines_of(document)) {
      for (const std::vector<std::string>& arguments : commands_in(line)) {
        ++count;
        EXPECT_NO_THROW(make_program()->parse(arguments)) << document << ":\n" << line;
      }
    }
  }
  EXPECT_GT(count, 30);
}

/// The first cells of the tables of a document.
std::vector<std::string> first_cells(const fs::path& document) {
  std::vector<std::string> cells;
  for (const std::string& line : lines_of(document)) {
    if (line.starts_with("| ")) {
      cells.push_back(line.substr(2, line.find(" |", 2) - 2));
    }
  }
  return cells;
}

TEST(Documents, NamesOfOtherProgramsHaveHints) {
  static const std::regex kOption(R"((^|[ `])(--?[A-Za-z][^ `=]*))");
  int count = 0;
  for (const std::string& cell : first_cells(kSource / "docs" / "coming-from.md")) {
    for (std::sregex_iterator option(cell.begin(), cell.end(), kOption), end; option != end; ++option) {
      const std::string name = (*option)[2];
      ++count;
      try {
        make_program()->parse({"denoise", "in.mkv", name});
      } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()).find("lists the options"), std::string::npos) << error.what();
      }
    }
  }
  EXPECT_GT(count, 50);
}

TEST(Documents, TheReadmeIsShort) { EXPECT_LT(lines_of(kSource / "README.md").size(), 150U); }

}  // namespace
}  // namespace limpid::app
