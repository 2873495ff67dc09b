// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "plugins/openfx/ofx.h"
#include "plugins/shared/denoiser.h"

// The host's suites in C++.

namespace limpid::openfx {

/// An action that failed: its status for the host, and a sentence for the user, or "".
class Failure : public std::runtime_error {
 public:
  explicit Failure(abi::Status status, const std::string& sentence = "")
      : std::runtime_error(sentence), status_(status) {}
  abi::Status status() const { return status_; }

 private:
  abi::Status status_;
};

/// Throws Failure unless the host has done what it was asked for.
inline void check(abi::Status status, const std::string& sentence = "") {
  if (status != abi::kOk) {
    throw Failure(status, sentence);
  }
}

/// The suites, which live as long as the plug-in is loaded. `progress` is null if the host has none.
struct Suites {
  const abi::PropertySuite* properties = nullptr;
  const abi::EffectSuite* effect = nullptr;
  const abi::ParameterSuite* parameters = nullptr;
  const abi::MessageSuite* message = nullptr;
  int message_version = 0;
  const abi::ProgressSuite* progress = nullptr;
};
/// Throws Failure if the host lacks a suite that the plug-in requires.
void load_suites(const abi::Host* host);
const Suites& suites();

/// A property set of the host.
class Properties {
 public:
  explicit Properties(abi::Properties set) : set_(set) {}

  /// Missing properties have the value "", `otherwise` or null.
  std::string text(const char* name, int index = 0) const;
  int whole(const char* name, int index = 0, int otherwise = 0) const;
  double number(const char* name, int index = 0, double otherwise = 0) const;
  void* pointer(const char* name) const;

  /// Properties that the host lacks stay unset.
  void set(const char* name, const std::string& value, int index = 0) const;
  void set(const char* name, const char* value, int index = 0) const;
  void set(const char* name, int value, int index = 0) const;
  void set(const char* name, double value, int index = 0) const;
  void set(const char* name, void* value) const;

 private:
  abi::Properties set_;
};

/// Shows sentences to the user. May be used on any thread.
class Messages {
 public:
  explicit Messages(abi::Effect effect) : effect_(effect) {}

  /// Shows an error until clear(). Hosts without persistent messages show each sentence once.
  void error(const std::string& sentence);
  /// Shows each sentence once.
  void warn(const std::string& sentence);
  /// The effect works.
  void clear();

 private:
  bool is_new(const std::string& sentence);
  void show_once(const char* type, const std::string& sentence);

  abi::Effect effect_;
  std::mutex mutex_;
  std::set<std::string> shown_;
  std::string persistent_;
};

/// Shows how far an action has come, until the end of its scope. Without the suite, does nothing.
class Progress : plugins::NotCopyable {
 public:
  Progress(abi::Effect effect, const char* label);
  ~Progress();

  /// `part` from 0 to 1. False if the user has canceled the action.
  bool update(double part) const;

 private:
  abi::Effect effect_;
};

}  // namespace limpid::openfx
