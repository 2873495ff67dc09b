// SPDX-License-Identifier: MIT
// Modules of engines: search folders, and rejection of modules of other builds without calling them.
#include "core/engine/engine_module.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/shared_library.h"
#include "core/base/utf8_path.h"
#include "core/engine/engine_module_names.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/environment.h"
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
            "not installed (" + built("engines").filename().string() + " not found)");
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

}  // namespace
}  // namespace limpid
