// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The C library in C++, for plug-ins whose users change settings while a stream runs.

namespace limpid::plugins {

/// A struct of the C library with struct_size set.
template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

/// Base of classes whose objects are neither copied nor moved.
class NotCopyable {
 public:
  NotCopyable() = default;
  NotCopyable(const NotCopyable&) = delete;
  NotCopyable& operator=(const NotCopyable&) = delete;
};

/// The library's filters.
std::vector<limpid_filter_info> filters();

bool has_profile(const limpid_filter_info& filter, const std::string& profile);

/// "default", then the names of the profiles of all filters.
const std::vector<std::string>& profile_names();
/// The library's name as one of hosts, which may have no dashes.
std::string with_underscores(std::string name);

/// Settings by their names in the library. Missing ones have default values.
using Settings = std::map<std::string, std::string>;

/// Removes empty settings, and replaces the entry "settings" by the settings that it contains, NAME=VALUE
/// separated by spaces. Throws std::runtime_error with a sentence for the user.
Settings expanded(Settings settings);

/// A number as text for settings, in any locale.
std::string text_of(double number);

/// Owns a limpid_denoiser. All functions throw std::runtime_error with a message for the user. After an
/// exception, a frame may be lost, and start(), take() or reset() begins a new stream.
class Denoiser : NotCopyable {
 public:
  using Warn = std::function<void(const char* sentence)>;

  /// `warn` is called, during calls of other functions, with settings that cannot be applied fully. `engine`
  /// may be shared with other denoisers and must outlive the first start(); null: the settings "engine" and
  /// "threads" select an own one.
  explicit Denoiser(Warn warn, limpid_engine* engine = nullptr) : warn_(std::move(warn)), engine_(engine) {}
  ~Denoiser() = default;

  /// Begins a stream; drops the current one.
  void start(const limpid_format& format, const Settings& settings);
  /// True if take() continues the current stream: only noise and strength differ.
  bool goes_on_with(const limpid_format& format, const Settings& settings) const;
  /// Sets the settings of later frames. Starts a stream unless the current one can continue.
  void take(const limpid_format& format, const Settings& settings);

  limpid_stream_info stream();
  /// The number of later frames to send before a result is fetched, to keep the engine busy.
  int frames_ahead();

  void send(const limpid_frame& frame);
  void send_to(const limpid_frame& frame, const limpid_frame& result);
  /// The next result. Enough frames must have been sent.
  void receive(limpid_frame& result);
  void receive_into(limpid_frame& place);
  /// The noise of the frame whose result was received last.
  limpid_noise noise_of_result();
  void flush();
  void reset();

 private:
  void check(limpid_status status);
  void check_result(limpid_status status);
  void set(const std::string& name, const char* value);

  struct Free {
    void operator()(limpid_denoiser* denoiser) const { limpid_free(&denoiser); }
  };

  Warn warn_;
  limpid_engine* engine_;
  std::unique_ptr<limpid_denoiser, Free> handle_;
  limpid_format format_{};
  std::optional<Settings> settings_;  // of the stream; empty if it cannot continue
};

}  // namespace limpid::plugins
