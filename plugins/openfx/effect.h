// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/openfx/host.h"
#include "plugins/openfx/images.h"
#include "plugins/openfx/parameters.h"
#include "plugins/shared/denoiser.h"
#include "plugins/shared/random_access.h"

// Streams of the library through which the frames of a clip pass. Hosts render frames in any order, on
// several threads, and change source frames between renders.

namespace limpid::openfx {

/// An engine of the library, which all effects share that name it. Throws Failure for unknown names.
std::shared_ptr<limpid_engine> shared_engine(const std::string& name);

/// The common format and settings of the frames in a stream. Frame n is at the time first_time + n.
struct Sequence {
  Layout layout;
  abi::Rectangle bounds{};
  double first_time = 0;
  int count = 0;
  std::string engine;
  plugins::Settings settings;

  double time_of(int n) const { return first_time + n; }
  bool operator==(const Sequence&) const = default;
};

/// A frame of the library.
struct ReleaseFrame {
  void operator()(limpid_frame* frame) const;
};
using OwnFrame = std::unique_ptr<limpid_frame, ReleaseFrame>;

/// A stream at one place of a clip. One call at a time.
class Stream {
 public:
  explicit Stream(Messages& messages) : messages_(messages) {}

  /// Calls `write` with the result of frame n. Throws std::runtime_error with a sentence for the user, and
  /// Failure with kOk if the host has aborted the render.
  void render(const Sequence& sequence, int n, abi::Effect effect, abi::Clip source,
              const std::function<void(const limpid_frame&)>& write);

 private:
  class Host;
  using Frames = plugins::RandomAccess<int, OwnFrame>;

  void prepare(const Sequence& sequence);
  void restart_if_changed(int n, abi::Clip source);

  Messages& messages_;
  std::shared_ptr<limpid_engine> engine_;
  std::optional<plugins::Denoiser> denoiser_;
  std::optional<Frames> frames_;
  std::optional<Sequence> sequence_;            // none: the next render starts a stream
  std::map<int, Fingerprint> fingerprints_;     // of frames that were sent
  std::pair<int, OwnFrame> last_{-1, nullptr};  // the last result: hosts render frames of two fields twice
};

/// The streams of an effect. May be used on any thread.
class Streams {
 public:
  explicit Streams(Messages& messages) : messages_(messages) {}

  /// See Stream::render(). Frames near the last ones of a stream use that stream; other frames use another
  /// one, of at most three.
  void render(const Sequence& sequence, int n, abi::Effect effect, abi::Clip source,
              const std::function<void(const limpid_frame&)>& write);
  /// The numbers of frames before and after a frame that its render fetches.
  std::pair<int, int> reach(const std::string& engine, const plugins::Settings& settings);
  /// Frees all memory.
  void clear();

 private:
  struct Place {
    explicit Place(Messages& messages) : stream(messages) {}
    std::mutex mutex;
    Stream stream;
    // Changed by place_for() only.
    Sequence sequence;
    int last = 0;
    std::uint64_t used = 0;
  };

  std::shared_ptr<Place> place_for(const Sequence& sequence, int n);

  Messages& messages_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Place>> places_;
  std::uint64_t uses_ = 0;
  std::map<std::pair<std::string, plugins::Settings>, std::pair<int, int>> reaches_;
};

/// An instance of the effect: one function for each action of the host. Functions throw std::runtime_error
/// with a sentence for the user, or Failure.
class Effect {
 public:
  explicit Effect(abi::Effect handle);

  /// Announces the frames that a render fetches.
  void frames_needed(const Properties& in, const Properties& out);
  /// Announces the region that a render fetches.
  void regions_of_interest(const Properties& in, const Properties& out);
  /// If a render would copy a frame of the source, names the frame in `out` and returns true.
  bool is_identity(const Properties& in, const Properties& out) const;
  /// May be called on several threads at once.
  void render(const Properties& in);
  /// A parameter or the source has changed, or a button has been pressed.
  void changed(const Properties& in);
  /// Frees the streams after a sequence of several frames. A host that renders each frame as a sequence of
  /// its own continues them.
  void end_sequence(const Properties& in);
  /// Drops streams.
  void purge() { streams_.clear(); }

  Messages& messages() { return messages_; }

 private:
  struct Range {
    double first_time;
    int count;
  };
  Range range_at(double time) const;
  Image required_image(abi::Clip clip, const char* name, double time) const;
  void measure(double time);

  abi::Effect handle_;
  abi::Clip source_ = nullptr;
  abi::Clip output_ = nullptr;
  Parameters parameters_;
  Messages messages_;
  Streams streams_;
};

}  // namespace limpid::openfx
