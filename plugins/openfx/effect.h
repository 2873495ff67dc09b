// SPDX-License-Identifier: MIT
#pragma once

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
