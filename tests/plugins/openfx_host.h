// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/frame/frame.h"
#include "plugins/openfx/ofx.h"

// A small OpenFX host: one effect with a source, an output and parameters.

namespace limpid::lib::openfx {

namespace abi = limpid::openfx::abi;

/// Interleaved pixels. Row bounds.y1, the lowest one, comes first in memory, or last if `is_top_down`.
struct Picture {
  abi::Rectangle bounds{};
  int channels = 4;
  std::string depth = abi::kByte;
  bool is_top_down = false;
  std::vector<std::byte> samples;

  std::size_t sample_bytes() const;
  /// Rows are 24 bytes longer than their pixels.
  std::ptrdiff_t row_size() const;
  std::byte* pixel(int x, int y);
  const std::byte* pixel(int x, int y) const { return const_cast<Picture*>(this)->pixel(x, y); }
  bool same_pixels(const Picture& other) const;
};
Picture empty_picture(const abi::Rectangle& bounds, int channels, const std::string& depth,
                      bool is_top_down = false);
/// The planes of a frame as a picture whose lower left corner is at (x, y).
Picture picture_of(const Frame& frame, int x = 0, int y = 0, bool is_top_down = false);

/// A set of properties. Functions of the suite lock it.
class PropertySet {
 public:
  using Value = std::variant<int, double, std::string, void*>;

  void set(const std::string& name, Value value, int index = 0);
  /// Null if the property is not set.
  const Value* get(const std::string& name, int index) const;
  int dimension(const std::string& name) const;
  std::string text(const std::string& name, int index = 0) const;
  double number(const std::string& name, int index = 0) const;
  int whole(const std::string& name, int index = 0) const;

  abi::Properties handle() { return reinterpret_cast<abi::Properties>(this); }

 private:
  std::map<std::string, std::map<int, Value>> values_;
};

struct HostParameter {
  std::string type;
  PropertySet properties;
  std::vector<double> numbers;  // of doubles and choices
  std::string text;
  abi::Status status = abi::kOk;  // of requests for the value
};

/// What the source gives.
struct SourceClip {
  std::vector<Picture> frames;  // at the times first_time, first_time + 1, ...
  double first_time = 0;
  std::string premultiplication = abi::kUnpremultiplied;
  std::string field = abi::kFieldNone;
  double scale = 1;
  bool has_identifiers = false;
  std::map<double, abi::Status> missing;  // statuses of images that the host does not give, by time
  int row_bytes = 0;                      // a wrong size of rows; 0: the right one
};

/// An effect of the plug-in: its description, or an instance.
class HostEffect {
 public:
  explicit HostEffect(abi::Plugin& plugin) : plugin_(plugin) {}

  abi::Status describe(const char* context);
  /// An instance of a described effect.
  std::unique_ptr<HostEffect> instance(SourceClip source);
  HostEffect(const HostEffect&) = delete;
  HostEffect(HostEffect&&) = delete;
  HostEffect& operator=(const HostEffect&) = delete;
  HostEffect& operator=(HostEffect&&) = delete;
  ~HostEffect();

  abi::Status act(const char* action, PropertySet& in, PropertySet& out);
  /// Renders a frame as hosts do: asks for identity and for the frames that are needed, then renders.
  /// Renders may run at once.
  struct Rendered {
    abi::Status status = abi::kOk;
    bool is_identity = false;
    Picture picture;
  };
  Rendered render(double time, const abi::Rectangle* window = nullptr, const char* field = abi::kFieldNone);
  /// Renders frames in this order, each on one of some threads; results by time.
  std::map<double, Picture> render_all(const std::vector<double>& times, int threads);
  /// By default, of a sequence whose frames the host does not name.
  abi::Status end_sequence(std::optional<std::pair<double, double>> range = std::nullopt);
  abi::Status press(const std::string& parameter, double time);
  abi::Status source_changed(const char* reason = "OfxChangeUserEdited");

  void set(const std::string& parameter, double value);
  void set(const std::string& parameter, double first, double second);
  void set(const std::string& parameter, const std::string& value);
  HostParameter& parameter(const std::string& name);
  bool has_parameter(const std::string& name) const { return parameters_.contains(name); }
  /// Values of parameters as text, and back.
  std::string project() const;
  void load_project(const std::string& text);

  SourceClip& source() { return source_; }
  PropertySet& properties() { return properties_; }
  PropertySet& clip(const std::string& name) { return clips_.at(name); }
  /// Times of the source that renders fetched without having asked for them.
  std::set<double> unannounced() const { return unannounced_; }
  void forget_announced() { announced_times_.clear(); }
  int fetched() const { return fetched_; }

  // What the plug-in has told.
  std::string message;  // the persistent one
  std::vector<std::string> messages;
  std::vector<double> progress;
  bool cancels = false;
  std::atomic<bool> aborts = false;
  std::optional<abi::Rectangle> output_bounds;  // none: those of the source's frame

  // Used by the suites.
  std::map<std::string, HostParameter> parameters_;
  std::map<std::string, PropertySet> clips_;
  PropertySet* image(const std::string& clip, double time);
  abi::Status status_of(const std::string& clip, double time) const;
  std::recursive_mutex mutex;

  abi::Effect handle() { return reinterpret_cast<abi::Effect>(this); }

 private:
  void ask_for_frames(double time);

  abi::Plugin& plugin_;
  PropertySet properties_;
  SourceClip source_;
  bool is_instance_ = false;
  std::map<double, std::map<int, double>> announced_;
  std::set<double> announced_times_;
  std::set<double> unannounced_;
  std::atomic<int> fetched_ = 0;
  std::map<double, Picture*> outputs_;  // by the time of the render in progress
};

/// Loads a plug-in and gives it this host's suites. Fails the test if that is not possible.
abi::Plugin* load_plugin(const char* binary, int message_version = 2);

}  // namespace limpid::lib::openfx
