// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"

namespace limpid {

/// Engines on which the suites run. Engines that this machine lacks are skipped, with the registry's reason.
inline const auto kSuiteEngines = testing::Values(std::string("cpu"), std::string("cuda:0"));

/// The engine of this name; null if this machine lacks it, with the registry's reason.
inline std::shared_ptr<Engine> open_engine(const std::string& name, std::string& reason) {
  reason = "this build has no such engine";
  for (const EngineInfo& info : engine_registry().list()) {
    if (info.name == name && info.available) {
      return engine_registry().open(name);
    }
    if (name.starts_with(info.name)) {
      reason = info.description;
    }
  }
  return nullptr;
}

/// A test of one engine, by its name in the registry.
class EngineSuite : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string reason;
    engine_ = open_engine(GetParam(), reason);
    if (engine_ == nullptr) {
      GTEST_SKIP() << GetParam() << ": " << reason;
    }
  }

  Engine& engine() { return *engine_; }
  std::shared_ptr<Engine> engine_;
};

inline std::string suite_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// The message of the Error that `call` throws; empty if it throws none.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Filters one frame with its own denoiser.
inline Frame run_filter(Engine& engine, const Frame& frame, const Filter& filter, const NoiseModel& noise) {
  const std::unique_ptr<Denoiser> denoiser = engine.make_denoiser(filter, noise, frame.format);
  denoiser->send(frame);
  denoiser->flush();
  return denoiser->receive().value();
}

}  // namespace limpid
