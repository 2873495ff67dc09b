// SPDX-License-Identifier: MIT
// Names and permissions of outputs.
#include "io/media/output_file.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/io/media/media.h"
#include "tests/temporary_folder.h"

namespace limpid::io {
namespace {

using Names = std::vector<std::string>;

/// Records what is synchronized with the disk during its lifetime: names of files, and the contents of
/// folders at that time.
class Syncs {
 public:
  explicit Syncs(bool fail = false) : fail_(fail) { current = this; }
  Syncs(const Syncs&) = delete;
  Syncs& operator=(const Syncs&) = delete;
  ~Syncs() { current = nullptr; }

  const std::vector<Names>& seen() const { return seen_; }
  static bool let_pass(int descriptor) {
    if (current == nullptr) {
      return true;
    }
    const std::filesystem::path path =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
    Names names;
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::directory_iterator(path)) {
        names.push_back(entry.path().filename());
      }
    } else {
      names.push_back(path.filename());
    }
    std::ranges::sort(names);
    current->seen_.push_back(names);
    errno = EIO;
    return !current->fail_;
  }

 private:
  static inline Syncs* current = nullptr;
  bool fail_;
  std::vector<Names> seen_;
};

template <typename Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Replaces the system's function, for the code under test as well.
extern "C" int fsync(int descriptor) {
  return Syncs::let_pass(descriptor) ? next_of<int(int)>("fsync")(descriptor) : -1;
}
extern "C" int syncfs(int descriptor) noexcept {
  return Syncs::let_pass(descriptor) ? next_of<int(int)>("syncfs")(descriptor) : -1;
}

namespace {

class OutputFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Names files() const { return folder_.files(); }

  void write_text(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  mode_t permissions(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }

  static void write(const OutputFile& file, const std::string& text) {
    avio_write(file.bytes(), reinterpret_cast<const unsigned char*>(text.data()),
               static_cast<int>(text.size()));
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(OutputFileTest, PartsHaveNamesOfTheirOwnAndReplaceNothing) {
  write_text("out.mkv", "whole");
  for (const char* text : {"one", "two", "three"}) {
    OutputFile file(path("out.mkv"), "", Overwrite::kAlways);
    write(file, text);
    file.commit_partial();
  }
  EXPECT_EQ(files(), (Names{"out.mkv", "out.partial-2.mkv", "out.partial-3.mkv", "out.partial.mkv"}));
  EXPECT_EQ(text_of("out.mkv"), "whole");
  EXPECT_EQ(text_of("out.partial.mkv"), "one");
  EXPECT_EQ(text_of("out.partial-3.mkv"), "three");

  const std::string name = std::string(250, 'n') + ".mkv";
  OutputFile file(path(name), "", Overwrite::kNever);
  write(file, "long");
  EXPECT_EQ(file.commit_partial(), path(std::string(243, 'n') + ".partial.mkv"));
}

TEST_F(OutputFileTest, TheSearchForAFreeNameEnds) {
  write_text("out.partial.mkv", "");
  for (int number = 2; number <= 1000; ++number) {
    write_text("out.partial-" + std::to_string(number) + ".mkv", "");
  }
  OutputFile file(path("out.mkv"), "", Overwrite::kNever);
  write(file, "text");
  EXPECT_THROW(file.commit_partial(), Error);
}

TEST_F(OutputFileTest, TemporaryFoldersAreRemovedWithTheirFiles) {
  const TemporaryFolder removed_by_interrupts;
  std::ofstream(removed_by_interrupts.file("a")) << "text";
  std::string name;
  {
    const TemporaryFolder removed;
    name = removed.file("b");
    std::ofstream(name) << "text";
    EXPECT_TRUE(std::filesystem::exists(name));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(name).parent_path()));
  EXPECT_EXIT(exit_without_temporary_files(1), testing::ExitedWithCode(1), "");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(removed_by_interrupts.file("a")).parent_path()));
}

TEST_F(OutputFileTest, AFileThatHasComeIntoBeingMeanwhileStaysAndSoDoesTheResult) {
  OutputFile file(path("out.mkv"), "", Overwrite::kNever);
  write(file, "result");
  write_text("out.mkv", "precious");
  try {
    file.commit();
    FAIL() << "it was replaced";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), path("out.mkv") +
                                             ": the finished file can't be renamed to it and is called " +
                                             path("out.new.mkv") + " instead: File exists");
  }
  EXPECT_EQ(text_of("out.mkv"), "precious");
  EXPECT_EQ(text_of("out.new.mkv"), "result");
}

TEST_F(OutputFileTest, IsOnTheDiskBeforeItHasItsNameAndThenTheNameIs) {
  {
    const Syncs syncs;
    OutputFile file(path("out.mkv"), "", Overwrite::kNever);
    write(file, "result");
    const std::string temporary = std::filesystem::path(file.temporary()).filename();
    file.commit();
    EXPECT_EQ(syncs.seen(), (std::vector<Names>{{temporary}, {"out.mkv"}}));
  }
  {
    const Syncs syncs;
    OutputFile file(path("out.mkv"), "", Overwrite::kAlways);
    write(file, "part");
    const std::string temporary = std::filesystem::path(file.temporary()).filename();
    file.commit_partial();
    EXPECT_EQ(syncs.seen(), (std::vector<Names>{{temporary}, {"out.mkv", "out.partial.mkv"}}));
  }
  const Syncs syncs(true);
  OutputFile file(path("out.mkv"), "", Overwrite::kAlways);
  write(file, "lost");
  try {
    file.commit();
    ADD_FAILURE() << "it isn't on the disk";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path("out.mkv") + ": can't write: Input/output error");
  }
  EXPECT_EQ(text_of("out.mkv"), "result");
}

// Other users with write access to the folder could replace the file before it is opened again.
TEST_F(OutputFileTest, TheTemporaryFileIsNotOpenedByItsNameAgain) {
  const int events = ::inotify_init1(IN_NONBLOCK);
  ASSERT_GE(events, 0);
  const std::string folder = std::filesystem::path(path("out.mkv")).parent_path();
  EXPECT_GE(::inotify_add_watch(events, folder.c_str(), IN_CREATE | IN_OPEN | IN_CLOSE), 0);
  std::string temporary;
  {
    OutputFile file(path("out.mkv"), "", Overwrite::kNever);
    temporary = std::filesystem::path(file.temporary()).filename();
    write(file, "result");
    file.commit();
  }
  int made = 0;
  int opened = 0;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  const ssize_t size = ::read(events, buffer.data(), buffer.size());
  for (ssize_t at = 0; at < size;) {
    const auto& event = *reinterpret_cast<const inotify_event*>(buffer.data() + at);
    if (event.len > 0 && event.name == temporary) {
      made += (event.mask & IN_CREATE) != 0 ? 1 : 0;
      opened += (event.mask & IN_OPEN) != 0 ? 1 : 0;
    }
    at += static_cast<ssize_t>(sizeof(event) + event.len);
  }
  ::close(events);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(opened, 1);
}

using PictureSequenceTest = MediaTest;

TEST_F(PictureSequenceTest, IsSynchronizedWithTheDiskOnceInTheEnd) {
  const std::string source = make("a.y4m", "-f lavfi -i testsrc2=s=32x32:r=25:d=0.12 -pix_fmt yuv444p");
  const Syncs syncs;
  transcode(source, path("p_%d.png"));
  EXPECT_EQ(syncs.seen(), (std::vector<Names>{{"a.y4m", "p_1.png", "p_2.png", "p_3.png"}}));
}

TEST_F(OutputFileTest, TheReplacedFilesPermissionsAreKept) {
  for (const mode_t mode : {0600, 0640, 0777}) {
    write_text("out.mkv", "old");
    ASSERT_EQ(::chmod(path("out.mkv").c_str(), mode), 0);
    OutputFile file(path("out.mkv"), "", Overwrite::kAlways);
    struct stat meanwhile {};
    ASSERT_EQ(::stat(file.temporary().c_str(), &meanwhile), 0);
    EXPECT_EQ(meanwhile.st_mode & 0077, 0U);
    write(file, "new");
    file.commit();
    EXPECT_EQ(permissions("out.mkv"), mode);
    EXPECT_EQ(text_of("out.mkv"), "new");
  }
  const mode_t mask = ::umask(027);
  OutputFile fresh(path("fresh.mkv"), "", Overwrite::kNever);
  fresh.commit();
  ::umask(mask);
  EXPECT_EQ(permissions("fresh.mkv"), 0640U);
}

/// Runs `body` in a separate process as the user "nobody", which requires root, and returns its result.
std::string as_nobody(const std::function<std::string()>& body) {
  constexpr uid_t kNobody = 65534;
  int ends[2]{};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = ::setuid(kNobody) == 0 ? body() : "can't be nobody";
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text(1000, ' ');
  const ssize_t count = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

TEST_F(OutputFileTest, IrreplaceableOutputsAreReportedBeforeTheWork) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be another user";
  }
  write_text("protected.mkv", "root's");
  write_text("open.mkv", "root's");
  ASSERT_EQ(::chmod(path("protected.mkv").c_str(), 0644), 0);
  ASSERT_EQ(::chmod(path("open.mkv").c_str(), 0666), 0);
  const auto message = [this](const char* name) {
    return as_nobody([this, name] {
      try {
        const OutputFile file(path(name), "", Overwrite::kAlways);
        return std::string("no error");
      } catch (const Error& error) {
        return std::string(error.what());
      }
    });
  };
  ASSERT_EQ(::chmod(path(".").c_str(), 0777), 0);
  EXPECT_EQ(message("protected.mkv"), path("protected.mkv") + ": can't overwrite it: Permission denied");
  EXPECT_EQ(message("open.mkv"), "no error");
  ASSERT_EQ(::chmod(path(".").c_str(), 01777), 0);
  EXPECT_EQ(message("open.mkv"), path("open.mkv") + ": can't overwrite it: Operation not permitted");
}

TEST_F(OutputFileTest, ANameThatBeginsLikeAPipesIsAFiles) {
  EXPECT_TRUE(has_protocol("pipe:"));
  EXPECT_TRUE(has_protocol("pipe:1"));
  EXPECT_TRUE(has_protocol("rtsp://host/stream"));
  EXPECT_FALSE(has_protocol("pipe:1.mkv"));
  EXPECT_FALSE(has_protocol("12:30.mkv"));
}

}  // namespace
}  // namespace limpid::io
