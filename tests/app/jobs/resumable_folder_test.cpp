// SPDX-License-Identifier: MIT
// The folder of limpid denoise --resume: its owner, its users, and the removal of its contents.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/job_folder.h"
#include "core/base/error.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;
using Kind = ResumableFolder::Kind;
using Names = std::vector<std::string>;

class ResumableFolderTest : public testing::Test {
 protected:
  static void write(const std::string& path, const std::string& text = "x") { std::ofstream(path) << text; }
  static std::string text_of(const std::string& path) {
    std::string text;
    std::getline(std::ifstream(path), text);
    return text;
  }
  /// Creates the files that a worker, a merge and kills leave.
  void fill() const {
    const JobFolder job(path);
    job.create();
    for (const std::string& file :
         {job.plan(), job.segment(0), job.done(0), job.failed(1), job.claim(1), job.beacon("worker"),
          job.data("00000-worker.packets"), job.data("00001-worker.tmp"), job.merged(0),
          job.plan() + ".worker.tmp", job.claim(1) + ".worker.taken"}) {
      write(file);
    }
  }

  test::TemporaryFolder temporary;
  std::string path = (temporary.path() / "out.mkv.limpid-job").string();
};

TEST_F(ResumableFolderTest, IsMadeMarkedAndRemovedWithAllThatAJobLeaves) {
  EXPECT_EQ(ResumableFolder::kind_of(path), Kind::kNothing);
  ResumableFolder folder(path);
  EXPECT_EQ(ResumableFolder::kind_of(path), Kind::kOwn);
  fill();
  folder.clear();
  EXPECT_EQ(std::distance(fs::directory_iterator(path), {}), 2) << "the mark and the lock stay";
  fill();
  folder.remove();
  EXPECT_EQ(temporary.files(), Names{});
}

TEST_F(ResumableFolderTest, LeavesNothingIfItCannotBeLocked) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THROW(ResumableFolder{path}, Error);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(temporary.files(), Names{});
}

TEST_F(ResumableFolderTest, IsUsedByOneAtATime) {
  std::optional<ResumableFolder> first(path);
  try {
    const ResumableFolder second(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), path + ": another limpid works in this folder; wait until it ends");
  }
  first.reset();
  EXPECT_NO_THROW(ResumableFolder{path}) << "as after a kill";
}

TEST_F(ResumableFolderTest, ForeignFoldersAreRefusedAndStay) {
  const std::string other = (temporary.path() / "other").string();
  fs::create_directory(other);
  write(other + "/f", "mine");
  const auto expect_refused = [&](const char* what) {
    EXPECT_EQ(ResumableFolder::kind_of(path), Kind::kForeign) << what;
    EXPECT_THROW(ResumableFolder{path}, Error) << what;
  };
  fs::create_directory(path);
  expect_refused("an empty folder");
  EXPECT_TRUE(fs::is_empty(path));
  write(path + "/f", "mine");
  expect_refused("a folder with a file");
  write(path + "/resume.json", "{}");
  expect_refused("a folder with another file of that name");
  EXPECT_EQ(text_of(path + "/f"), "mine");
  fs::remove_all(path);
  write(path, "mine");
  expect_refused("a file");
  fs::remove(path);
  { const ResumableFolder own(other + "/job"); }
  fs::create_directory_symlink(other + "/job", path);
  expect_refused("a link");
  fs::remove(path);
  fs::create_directory_symlink("nowhere", path);
  expect_refused("a link to nothing");
  EXPECT_EQ(text_of(other + "/f"), "mine");
}

TEST_F(ResumableFolderTest, FilesOfOthersAndFoldersBehindLinksStay) {
  const std::string other = (temporary.path() / "other").string();
  fs::create_directory(other);
  write(other + "/00000-worker.packets", "mine");
  ResumableFolder folder(path);
  fill();
  write(path + "/notes.txt", "mine");
  write(path + "/data/notes.txt", "mine");
  fs::create_directory(path + "/done/00007.done.json");
  fs::remove_all(path + "/segments");
  fs::create_directory_symlink(other, path + "/segments");
  folder.remove();
  EXPECT_EQ(text_of(path + "/notes.txt"), "mine");
  EXPECT_EQ(text_of(path + "/data/notes.txt"), "mine");
  EXPECT_EQ(text_of(other + "/00000-worker.packets"), "mine");
  EXPECT_TRUE(fs::is_directory(path + "/done/00007.done.json"));
  EXPECT_FALSE(fs::exists(path + "/data/00000-worker.packets"));
  EXPECT_EQ(ResumableFolder::kind_of(path), Kind::kForeign);
}

TEST_F(ResumableFolderTest, RemainsOfAKilledRunAreUsedOrRemoved) {
  const std::string shell = (temporary.path() / ".limpid-out.mkv.limpid-job").string();
  fs::create_directories(shell + "/merged");
  write(shell + "/merged/00000.json");
  write(shell + "/resume.json.worker.tmp");
  write(shell + "/lock", "");
  ResumableFolder::remove_shell(path);
  EXPECT_EQ(temporary.files(), Names{});
  fs::create_directories(shell + "/merged");
  write(shell + "/merged/00000.json");
  ResumableFolder(path).remove();
  EXPECT_EQ(temporary.files(), Names{});
  fs::create_directory(shell);
  write(shell + "/f", "mine");
  ResumableFolder::remove_shell(path);
  EXPECT_EQ(text_of(shell + "/f"), "mine");
}

TEST_F(ResumableFolderTest, AJobIsAdopted) {
  fill();
  EXPECT_EQ(ResumableFolder::kind_of(path), Kind::kJob);
  ResumableFolder folder(path);
  EXPECT_EQ(ResumableFolder::kind_of(path), Kind::kOwn);
  EXPECT_TRUE(file_exists(folder.job().plan()));
  folder.remove();
  EXPECT_EQ(temporary.files(), Names{});
}

}  // namespace
}  // namespace limpid::app
