// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugins/openfx/host.h"
#include "plugins/openfx/images.h"
#include "plugins/openfx/parameters.h"
#include "plugins/openfx/streams.h"

namespace limpid::openfx {

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
  /// Drops streams and estimates.
  void purge();

  Messages& messages() { return messages_; }

 private:
  struct Range {
    double first_time;
    int count;
  };
  // The noise profile of the frames in the middle of a clip.
  struct Estimate {
    std::string profile;
    std::map<double, std::optional<Fingerprint>> frames;  // by their times; none: missing
  };
  Range range_at(double time) const;
  Image required_image(abi::Clip clip, const char* name, double time) const;
  Sequence sequence_for(const Values& values, const Image& source, double time, double scale);
  plugins::Settings settings_for(const Values& values, const std::string& estimate, double scale) const;
  std::string automatic_noise(const Sequence& sequence, const Image& source, double time);
  bool is_current(const Estimate& estimate, const Image& source, double time) const;
  std::shared_ptr<const Estimate> estimate(const Sequence& sequence) const;
  void measure(double time);

  abi::Effect handle_;
  abi::Clip source_ = nullptr;
  abi::Clip output_ = nullptr;
  Parameters parameters_;
  Messages messages_;
  Streams streams_;
  std::mutex estimating_;                                             // held while noise is estimated
  std::mutex mutex_;                                                  // of the estimates
  std::map<std::string, std::shared_ptr<const Estimate>> estimates_;  // by engine and format of the frames
};

}  // namespace limpid::openfx
