// SPDX-License-Identifier: MIT
// The registry of engines: the families that it calls, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/event_count.h"

namespace limpid {
namespace {

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
