// SPDX-License-Identifier: MIT
// Modules of engines: search folders, and rejection of modules of other builds without calling them.
// The registry of engines: the families that it calls, and when.

#include "core/engine/engine_module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/system.h"
#include "core/engine/denoiser.h"
#include "core/engine/engine_module_names.h"
#include "core/engines.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/environment.h"
#include "tests/event_count.h"
#include "tests/temporary_folder.h"

namespace limpid {
namespace {

using std::filesystem::path;

// A folder to which modules, and a library that loads them, are copied.
class EngineModuleTest : public testing::Test {
 protected:
  void TearDown() override { test::set_variable("LIMPID_ENGINE_PATH", ""); }

  static path built(const std::string& module) {
    return path(LIMPID_TEST_MODULES) / module / ("liblimpid_test-" + std::string(kVersion) + kModuleSuffix);
  }
  path put(const std::string& module, const path& folder) const {
    std::filesystem::create_directories(place_ / folder);
    path file = place_ / folder / built(module).filename();
    std::filesystem::copy_file(built(module), file);
    return file.make_preferred();
  }
  // The engine that is listed for the modules in these folders.
  EngineInfo listed(const std::vector<path>& folders) const {
    std::vector<path> places;
    for (const path& folder : folders) {
      places.push_back(place_ / folder);
    }
    const std::vector<EngineInfo> engines = load_engine_module("test", places).list();
    EXPECT_EQ(engines.size(), 1U);
    return engines.at(0);
  }
  // The reason why there is none.
  std::string problem(const std::vector<path>& folders) const {
    const EngineInfo info = listed(folders);
    EXPECT_EQ(info.name, "test");
    EXPECT_FALSE(info.available);
    EXPECT_EQ(info.description.find('\n'), std::string::npos) << info.description;
    return info.description;
  }
  // The file of the engines that a library in `folder` finds.
  std::string found_by_host_in(const path& folder) const {
    std::filesystem::create_directories(place_ / folder);
    const path file = place_ / folder / (std::string("libhost") + kModuleSuffix);
    std::filesystem::copy_file(LIMPID_TEST_HOST, file, std::filesystem::copy_options::skip_existing);
    void* const library = load_library(file);
    std::string found;
    reinterpret_cast<void (*)(std::string&)>(find_function(library, "list_test_engines"))(found);
    return found;
  }

  test::TemporaryFolder folder_;
  const path place_ = std::filesystem::canonical(folder_.path());
};

TEST_F(EngineModuleTest, ModuleOfThisBuildIsLoaded) {
  const path file = put("engines", "here");
  const EngineModule module = load_engine_module("test", {place_ / "none", place_ / "here"});
  const std::vector<EngineInfo> engines = module.list();
  ASSERT_EQ(engines.size(), 1U);
  EXPECT_EQ(engines[0].name, "test:0");
  EXPECT_EQ(engines[0].description, text_of(file));
  EXPECT_EQ(message_of([&] { module.open("test:0", {}); }), "opened test:0");
}

TEST_F(EngineModuleTest, TheFirstFolderThatHasOneWins) {
  const path first = put("engines", "a");
  put("engines", "b");
  EXPECT_EQ(listed({"a", "b"}).description, text_of(first));
  EXPECT_EQ(listed({"none", "a", "b"}).description, text_of(first));
}

TEST_F(EngineModuleTest, FoldersMayHaveNamesOfAnyScript) {
  const path folder = path_of("Z\xC3\xBCrich \xE9\x9B\xAA");
  const path file = put("engines", folder);
  EXPECT_EQ(listed({folder}).description, text_of(file));
}

TEST_F(EngineModuleTest, OneThatCanNotBeLoadedIsPassedOver) {
  put("other_version", "a");
  put("no_engines", "b");
  const path good = put("engines", "c");
  EXPECT_EQ(listed({"a", "b", "c"}).description, text_of(good));
}

TEST_F(EngineModuleTest, MissingModuleIsNotInstalled) {
  EXPECT_EQ(problem({"a", "b", "c"}),
            "not installed (" + built("engines").filename().string() + " not found); see docs/install.md");
}

TEST_F(EngineModuleTest, ModuleNamedForAnotherVersionIsReported) {
  const std::string suffix = kModuleSuffix;
  for (const std::string& name : {"liblimpid_test" + suffix, "liblimpid_test-0.0.9" + suffix}) {
    const path file = put("engines", name);
    const path renamed = file.parent_path() / name;
    std::filesystem::rename(file, renamed);
    EXPECT_EQ(problem({"none", name}),
              text_of(renamed) + " belongs to a different version of Limpid; this is version " + kVersion);
  }
  put("engines", "other");
  std::filesystem::rename(place_ / "other" / built("engines").filename(),
                          place_ / "other" / ("liblimpid_testament" + suffix));
  EXPECT_NE(problem({"other"}).find("not installed"), std::string::npos);
}

TEST_F(EngineModuleTest, ModuleOfOtherHeadersIsReportedAndNotCalled) {
  const path file = put("other_version", "a");
  EXPECT_EQ(problem({"a"}), text_of(file) + " belongs to a different build of Limpid " + kVersion +
                                ": it has no " + kEngineModuleEntry);
}

TEST_F(EngineModuleTest, ModuleWithoutEnginesIsReported) {
  EXPECT_EQ(problem({put("no_engines", "a").parent_path()}),
            text_of(place_ / "a" / built("engines").filename()) + " provides no engines");
  EXPECT_EQ(problem({put("throwing", "b").parent_path()}),
            text_of(place_ / "b" / built("engines").filename()) + ": the device is on fire");
}

TEST_F(EngineModuleTest, FileThatIsNoLibraryIsReported) {
  const path file = place_ / built("engines").filename();
  std::ofstream(file) << "What is written here is no machine code, however long it is made. "
                      << std::string(999, '.');
  const std::string cannot = "cannot load " + text_of(file) + ": ";
  const std::string reason = "it is not a DLL for this processor";
  EXPECT_EQ(problem({""}), cannot + (test::kIsWindows ? reason : "invalid ELF header"));
  std::filesystem::resize_file(file, 0);
  EXPECT_EQ(problem({""}), cannot + (test::kIsWindows ? reason : "file too short"));
  std::filesystem::remove(file);
  if (!test::kIsWindows) {
    std::filesystem::create_symlink("nowhere", file);
    EXPECT_NE(problem({""}).find("No such file"), std::string::npos);
    std::filesystem::remove(file);
  }
  std::filesystem::create_directory(file);
  EXPECT_TRUE(problem({""}).starts_with(cannot)) << problem({""});
}

TEST_F(EngineModuleTest, ModuleWithMissingDependencyIsReported) {
  const path file = put("missing_dependency", "a");
  const std::string why = problem({"a"});
  const std::string reason =
      test::kIsWindows ? "it, or a DLL that it needs, is missing" : "libtest_dependency.so: cannot open";
  EXPECT_TRUE(why.starts_with("cannot load " + text_of(file) + ": " + reason)) << why;
}

// As in python3, whose own folder is unrelated to Limpid's.
TEST_F(EngineModuleTest, AreLookedForBesideTheLibraryThatHasCore) {
  const path by_path = put("engines", "elsewhere");
  test::set_variable("LIMPID_ENGINE_PATH",
                     "relative/none" + std::string(2, kFolderSeparator) + text_of(place_ / "elsewhere"));
  EXPECT_EQ(found_by_host_in("lib"), text_of(by_path));
  const path installed = put("engines", "site/lib/limpid");
  EXPECT_EQ(found_by_host_in("site/bin"), text_of(installed));
  const path multiarch = put("engines", "lib/x86_64-linux-gnu/limpid");
  EXPECT_EQ(found_by_host_in("lib/x86_64-linux-gnu"), text_of(multiarch));
  const path beside = put("engines", "site/bin");
  EXPECT_EQ(found_by_host_in("site/bin"), text_of(beside));
}

TEST_F(EngineModuleTest, FoldersAreThoseOfTheProgramThenThoseOfTheEnvironment) {
  test::set_variable("LIMPID_ENGINE_PATH", std::string("/tmp/a") + kFolderSeparator + "/tmp/b/");
  const path program = own_file().parent_path();
  std::vector<path> expected{program, program / "limpid", (program / "../lib/limpid").lexically_normal()};
  if (!test::kIsWindows) {
    expected.emplace_back(kInstalledModuleFolder);
  }
  expected.push_back(path("/tmp/a").make_preferred());
  expected.push_back(path("/tmp/b/").make_preferred());
  EXPECT_EQ(engine_module_folders(), expected);
}

TEST(EngineRegistry, ListsTheCpuAsAvailable) {
  const std::vector<EngineInfo> engines = engine_registry().list();
  std::set<std::string> names;
  for (const EngineInfo& info : engines) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " is listed twice";
    EXPECT_FALSE(info.description.empty()) << info.name;
    if (info.name == "cpu") {
      EXPECT_TRUE(info.available);
    }
  }
  EXPECT_TRUE(names.contains("cpu"));
}

TEST(EngineRegistry, AutoIsTheFirstThatIsAvailable) {
  const std::vector<EngineInfo> engines = engine_registry().list();
  const auto first =
      std::find_if(engines.begin(), engines.end(), [](const auto& info) { return info.available; });
  ASSERT_NE(first, engines.end());
  EXPECT_EQ(engine_registry().open("auto")->name(), first->name);
}

TEST(EngineRegistry, AnUnknownNameIsAUsageErrorThatNamesIt) {
  for (const char* name : {"gpu", "cpu:1", "", "CPU", "cuda:x"}) {
    EXPECT_THROW(engine_registry().open(name), UsageError) << name;
  }
  EXPECT_NE(message_of([] { engine_registry().open("gpu"); }).find("gpu"), std::string::npos);
}

// A registry with a test's own families ahead of Limpid's, which counts the calls of each.
class CountedFamilies : public testing::Test {
 protected:
  struct Counts {
    int listed = 0;
    int opened = 0;
  };

  void add(const std::string& family, const std::vector<EngineInfo>& engines) {
    registry_.add(
        family,
        [this, family, engines] {
          const std::scoped_lock lock(mutex_);
          ++counts_[family].listed;
          return engines;
        },
        [this, family](std::string_view name, const EngineOptions& /*options*/) -> std::shared_ptr<Engine> {
          {
            const std::scoped_lock lock(mutex_);
            ++counts_[family].opened;
            last_opened_ = name;
          }
          return registry_.open("cpu");
        });
  }
  void SetUp() override {
    add_engines(registry_);
    add("slow", {{.name = "slow:0", .description = "", .available = true}});
    add("fast", {{.name = "fast:0", .description = "", .available = true},
                 {.name = "fast:1", .description = "in use elsewhere"},
                 {.name = "fast:2", .description = "", .available = true}});
    add("absent", {{.name = "absent", .description = "there is no driver"}});
  }

  EngineRegistry registry_;
  std::mutex mutex_;  // families may be called on several threads
  std::map<std::string, Counts> counts_;
  std::string last_opened_;
};

TEST_F(CountedFamilies, OpeningByNameAsksNoOtherFamily) {
  EXPECT_EQ(registry_.open("cpu")->name(), "cpu");
  EXPECT_TRUE(counts_.empty());
  registry_.open("slow:0");
  EXPECT_EQ(last_opened_, "slow:0");
  EXPECT_EQ(counts_.size(), 1U);
}

TEST_F(CountedFamilies, OpeningAsksOnce) {
  for (const char* name : {"fast:2", "fast:0,2", "fast:all"}) {
    counts_.clear();
    registry_.open(name);
    EXPECT_EQ(counts_["fast"].listed, 1) << name;
    EXPECT_EQ(counts_["fast"].opened, std::string(name) == "fast:2" ? 1 : 2) << name;
    EXPECT_EQ(counts_.size(), 1U) << name;
  }
}

TEST_F(CountedFamilies, AFamilyIsItsFirstDeviceThatCanRun) {
  registry_.open("slow");
  EXPECT_EQ(last_opened_, "slow:0");
  registry_.open("fast");
  EXPECT_EQ(last_opened_, "fast:0");
  add("busy", {{.name = "busy:0", .description = "in use elsewhere"},
               {.name = "busy:1", .description = "", .available = true}});
  registry_.open("busy");
  EXPECT_EQ(last_opened_, "busy:1");
}

TEST_F(CountedFamilies, AutoAsksNoneBehindTheFirstThatHasAnEngine) {
  registry_.open("auto");
  EXPECT_EQ(last_opened_, "fast:0");
  EXPECT_EQ(counts_["absent"].listed, 1);
  EXPECT_EQ(counts_["fast"].listed, 1);
  EXPECT_FALSE(counts_.contains("slow"));
}

TEST_F(CountedFamilies, FailureToOpenIsReported) {
  const auto complaint = [&](const char* name) { return message_of([&] { registry_.open(name); }); };
  for (const char* name : {"absent", "absent:0", "absent:all", "absent:0,1"}) {
    EXPECT_NE(complaint(name).find("there is no driver"), std::string::npos) << complaint(name);
  }
  EXPECT_NE(complaint("fast:0,1").find("\"fast:1\" is not available: in use elsewhere"), std::string::npos);
  EXPECT_EQ(counts_["fast"].opened, 0) << "none is opened if one is not available";
  for (const char* name : {"fast:3", "fas", "fast:", "absent:x", "slow:0,fast:0"}) {
    EXPECT_THROW(registry_.open(name), UsageError) << name;
  }
  EXPECT_NE(complaint("fast:3").find("absent, fast:0, fast:1, fast:2, slow:0, "), std::string::npos)
      << complaint("fast:3");
}

// An opener may call the registry and block while other threads do.
TEST_F(CountedFamilies, MayBeAskedByListersAndOpenersAndOnSeveralThreads) {
  test::EventCount inside;
  registry_.add(
      "nested",
      [this] {
        registry_.add("late", [] { return std::vector<EngineInfo>(); }, {});
        return std::vector<EngineInfo>{{.name = "nested", .description = "", .available = true}};
      },
      [&](std::string_view, const EngineOptions& options) {
        inside.add();
        inside.wait_for(2);
        EXPECT_FALSE(registry_.list().empty());
        return registry_.open("cpu", options);
      });
  std::thread other([&] { registry_.open("nested"); });
  EXPECT_EQ(registry_.open("nested")->name(), "cpu");
  other.join();
}

}  // namespace

}  // namespace limpid
