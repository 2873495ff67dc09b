#pragma once

#include <limpid.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The C library in C++, for plug-ins whose users change settings while frames come.

namespace limpid::plugins {

/// One of the library's structs.
template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

/// The library's filters.
std::vector<limpid_filter_info> filters();
/// Their names: "bm3d, vbm4d, ...". Stays as long as the program.
const std::string& filter_names();

/// By the library's names; those that aren't there have their defaults.
using Settings = std::map<std::string, std::string>;

/// Without those that are empty, and with those that the entry "settings" holds, NAME=VALUE between spaces,
/// in its place. Throws std::runtime_error with a sentence for the user.
Settings expanded(Settings settings);

/// As settings have numbers, whatever the locale.
std::string text_of(double number);

/// A limpid_denoiser. All throw std::runtime_error with a sentence for the user; after that, a frame may be
/// lost, and start(), take() or reset() begin anew.
class Denoiser {
 public:
  using Warn = std::function<void(const char* sentence)>;

  /// `warn` is told, during calls, what won't be filtered as asked.
  explicit Denoiser(Warn warn) : warn_(std::move(warn)) {}
  Denoiser(const Denoiser&) = delete;
  Denoiser(Denoiser&&) = delete;
  Denoiser& operator=(const Denoiser&) = delete;
  Denoiser& operator=(Denoiser&&) = delete;
  ~Denoiser() = default;

  /// Begins a stream; drops the one that was under way.
  void start(const limpid_format& format, const Settings& settings);
  /// Whether take() lets the stream under way go on: the format and all but noise and strength are its own.
  bool goes_on_with(const limpid_format& format, const Settings& settings) const;
  /// For the frames from now on. Begins a stream unless the one under way goes on.
  void take(const limpid_format& format, const Settings& settings);

  limpid_stream_info stream();
  /// So many frames are sent after one before its result is fetched, and the engine always has enough to do.
  int frames_ahead();

  void send(const limpid_frame& frame);
  void send_to(const limpid_frame& frame, const limpid_frame& result);
  /// The next result. It is there: enough frames have been sent.
  void receive(limpid_frame& result);
  void receive_into(limpid_frame& place);
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
  std::unique_ptr<limpid_denoiser, Free> handle_;
  limpid_format format_{};
  std::optional<Settings> settings_;  // of the stream; none if it can't go on
};

}  // namespace limpid::plugins
