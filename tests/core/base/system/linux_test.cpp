// SPDX-License-Identifier: MIT
// Files that only Linux has.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system.h"
#include "tests/temporary_folder.h"

namespace limpid {
namespace {

std::string refusal_on_linux(const std::string& path, std::size_t most = 100) {
  try {
    read_regular_file(path, most);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(LinuxFiles, OfProcAreRead) {
  EXPECT_NE(read_regular_file("/proc/self/status", 1 << 20), "") << "its size is said to be 0";
  EXPECT_EQ(refusal_on_linux("/proc/self/status", 10), "/proc/self/status: is larger than 0 KiB");
}

TEST(LinuxFiles, PipesAndDevicesAreRefusedWithoutWaiting) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  EXPECT_EQ(refusal_on_linux(path), path + ": is not a regular file");
  EXPECT_EQ(refusal_on_linux("/dev/zero"), "/dev/zero: is not a regular file");
}

/// A file system with control groups.
class CgroupProcessors : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void set_up_second(const std::string& group, const std::string& root = "/") const {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "24 1 0:22 / /proc rw,nosuid shared:2 - proc proc rw\n"
          "31 24 0:27 " +
              root + " /sys/fs/cgroup rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  std::optional<int> limit() const { return cgroup_processors(folder_.path()); }

  test::TemporaryFolder folder_;
};

TEST_F(CgroupProcessors, AreUnlimitedWithoutGroups) { EXPECT_EQ(limit(), std::nullopt); }

TEST_F(CgroupProcessors, AreTheQuotaOverThePeriodRoundedUp) {
  set_up_second("/");
  const std::string file = "sys/fs/cgroup/cpu.max";
  write(file, "max 100000\n");
  EXPECT_EQ(limit(), std::nullopt);
  for (const auto& [text, processors] : {std::pair{"200000 100000\n", 2},
                                         {"150000 100000\n", 2},
                                         {"1000 100000\n", 1},
                                         {"100001 100000\n", 2},
                                         {"50000 25000\n", 2}}) {
    write(file, text);
    EXPECT_EQ(limit(), processors) << text;
  }
  for (const char* text : {"", "max", "0 100000", "-1 100000", "100000 0", "many 100000"}) {
    write(file, text);
    EXPECT_EQ(limit(), std::nullopt) << text;
  }
}

TEST_F(CgroupProcessors, AreLimitedByEveryParent) {
  set_up_second("/batch.slice/job.scope/step");
  write("sys/fs/cgroup/batch.slice/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/batch.slice/job.scope/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/batch.slice/job.scope/step/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/other.slice/cpu.max", "100000 100000\n");
  EXPECT_EQ(limit(), 3);
}

TEST_F(CgroupProcessors, AreFoundInAContainer) {
  // The host names the group, and only the group itself is mounted.
  set_up_second("/docker/0123", "/docker/0123");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(limit(), 4);
  set_up_second("/docker/0123/below", "/docker/0123");
  write("sys/fs/cgroup/below/cpu.max", "200000 100000\n");
  EXPECT_EQ(limit(), 2);
  set_up_second("/../..");
  EXPECT_EQ(limit(), 4) << "a group outside of the namespace";
}

TEST_F(CgroupProcessors, AreLimitedByVersion1) {
  write("proc/self/cgroup", "12:cpuset:/other\n4:cpu,cpuacct:/slurm/job 7\n1:name=systemd:/\n0::/\n");
  write("proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/cpu\\040time rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
        "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n");
  const std::string group = "sys/fs/cgroup/cpu time/slurm/job 7";
  write(group + "/cpu.cfs_quota_us", "-1\n");
  write(group + "/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limit(), std::nullopt);
  write("sys/fs/cgroup/cpu time/slurm/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu time/slurm/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limit(), 3);
  write(group + "/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(limit(), 1);
}

}  // namespace

}  // namespace limpid
