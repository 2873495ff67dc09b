// SPDX-License-Identifier: MIT
#pragma once

// The thread of a Writer's encoder. Private to io.

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "core/base/not_copyable.h"
#include "io/media/encoder.h"

namespace limpid::io {

/// Calls an encoder on a thread of its own. A single call may take minutes, and no encoder can be
/// interrupted: some time after an interrupt, an unfinished call is abandoned. The encoder's threads then
/// run until the process ends; see has_abandoned_encoders().
class EncoderThread : NotCopyable {
 public:
  /// Time from an interrupt until the encoder is abandoned. The program drops frames that have not reached
  /// the encoder after three seconds, and Docker kills after ten.
  static constexpr std::chrono::milliseconds kPatience{8000};

  /// Throws Error if the system cannot start a thread.
  explicit EncoderThread(std::unique_ptr<Encoder> encoder, std::chrono::milliseconds patience = kPatience);
  /// Closes the encoder, or abandons it.
  ~EncoderThread();

  /// For properties that are set when the encoder is opened.
  const Encoder& encoder() const;

  /// Calls `task` on the thread and waits until it returns; throws what it throws. Returns false, now and
  /// later, if it takes too long after an interrupt. `task` may then still run, so it must own what it uses.
  bool run(std::function<void(Encoder&)> task);

 private:
  struct State;
  static void serve(State& state);
  bool wait_until_idle();

  std::chrono::milliseconds patience_;
  std::shared_ptr<State> state_;
  std::jthread thread_;
};

}  // namespace limpid::io
