// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <mutex>
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

  void frames_needed(const Properties& in, const Properties& out);
  void regions_of_interest(const Properties& in, const Properties& out);
  /// True, and the frame of the source in `out`, if a render would copy it.
  bool is_identity(const Properties& in, const Properties& out) const;
  /// May be called on several threads at once.
  void render(const Properties& in);
  void changed(const Properties& in);
  /// Frees streams, whose memory a finished sequence no longer needs.
  void end_sequence(const Properties& in);
  void purge();

  Messages& messages() { return messages_; }

 private:
  struct Range {
    double first_time;
    int count;
  };
  Range range_at(double time) const;
  Sequence sequence_for(const Values& values, const Image& source, double time, double scale);
  plugins::Settings settings_for(const Values& values, const std::string& estimate, double scale) const;
  std::string automatic_noise(const Sequence& sequence);
  void measure(double time);

  abi::Effect handle_;
  abi::Clip source_ = nullptr;
  abi::Clip output_ = nullptr;
  Parameters parameters_;
  Messages messages_;
  Streams streams_;
  std::mutex mutex_;
  std::map<std::string, std::string> estimates_;  // noise profiles by the format of the frames
};

}  // namespace limpid::openfx
