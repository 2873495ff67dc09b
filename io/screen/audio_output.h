// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/reader.h"

struct AVFrame;

namespace limpid::io {

/// Private to io: changes the speed of interleaved stereo samples and keeps their pitch, by libavfilter's
/// atempo. One thread at a time.
class Tempo : NotCopyable {
 public:
  static constexpr double kSlowest = 0.5;
  static constexpr double kFastest = 2;

  /// `rate`: samples per second and channel.
  explicit Tempo(int rate);
  ~Tempo();

  /// `speed`: kSlowest to kFastest. Another speed drops the samples that have not been returned. Throws Error
  /// if libavfilter refuses.
  void set_speed(double speed);
  double speed() const { return speed_; }
  /// Takes a frame of samples whose times continue the last ones, and returns the samples that are ready.
  std::vector<float> filter(AVFrame& frame);
  /// Drops the samples that have not been returned.
  void reset();
  /// Their length in seconds, at the speed 1.
  double held() const;

 private:
  struct Graph;

  const int rate_;
  double speed_ = 1;
  std::unique_ptr<Graph> graph_;  ///< null at the speed 1
  double taken_ = 0;              ///< seconds, since the graph was made
  double returned_ = 0;           ///< seconds at the speed 1
};

/// Plays the sound of a Reader's source on the default audio device, from a demuxer and a thread of its own,
/// so that sound and pictures do not wait for each other. Silent until set_playing(). Thread-safe. An error
/// while playing ends the sound, not the program: see failure().
class AudioOutput : NotCopyable {
 public:
  /// `options`: those with which `source` was opened. The demuxer's options and `interrupted` are used; the
  /// thread calls `interrupted`, too. Returns nothing if the source has no sound. Also returns nothing, with
  /// the reason as a sentence in `why`, if the sound cannot be decoded, the source cannot be opened twice (a
  /// pipe), there is no audio device, or the call is interrupted.
  static std::unique_ptr<AudioOutput> open(const Reader& source, const ReaderOptions& options,
                                           std::string& why);

  /// Doesn't wait for a source that gives no data.
  ~AudioOutput();

  void set_playing(bool playing);
  /// Factor of the samples that are queued from now on, 0 to 1.
  void set_volume(double volume);
  /// Plays faster or slower at the same pitch. A seek must follow. Accepts 0.5 to 2 (is_speed()).
  void set_speed(double speed);
  static bool is_speed(double speed);
  /// Goes on at a time, in seconds as the Reader's frames have them.
  void seek(double seconds);
  /// The time that is being heard; nothing while that isn't known: before the sound, behind it, or during a
  /// seek.
  std::optional<double> position() const;
  /// Why there is no more sound, in a sentence; empty while nothing has gone wrong.
  std::string failure() const;

 private:
  struct State;
  explicit AudioOutput(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
