// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "plugins/shared/denoiser.h"

namespace limpid::plugins {

/// Gives results for the frames of a clip in any order, for hosts that request frames by number. The stream
/// continues while requests are roughly in order, and otherwise restarts with context frames, so that results
/// are bit-exact, also with an estimated noise level. `Source` and `Result` own frames of the host.
template <typename Source, typename Result>
class RandomAccess {
 public:
  /// Requests may skip so many frames without a restart.
  static constexpr int kMostSkipped = 8;

  /// Throws std::runtime_error with a sentence for the user, also if results depend on all earlier frames.
  /// `denoiser` has a stream, which belongs to this object from now on. At most `most_kept` results that come
  /// before the requested one are kept. `host` is the name of the host.
  RandomAccess(Denoiser& denoiser, int frame_count, std::size_t most_kept, const char* host)
      : denoiser_(denoiser), frame_count_(frame_count), most_kept_(most_kept) {
    const limpid_stream_info stream = denoiser.stream();
    if (stream.reach_before == LIMPID_UNBOUNDED) {
      throw std::runtime_error(std::string(host) +
                               " requests frames in any order, so it cannot use the filter " + stream.filter +
                               ", whose results depend on all earlier frames; use vbm4d with delay=0");
    }
    if (stream.level_section == 0) {
      throw std::runtime_error(
          std::string(host) +
          " requests frames in any order, so live needs a noise level; set one, or leave live out");
    }
    before_ = stream.reach_before;
    after_ = denoiser.frames_ahead();
    level_section_ = stream.level_section;
    level_before_ = stream.level_before;
  }

  /// The source frames that the result of frame n may need if the stream continues.
  int first_of(int n) const { return std::max(n - before_ - kMostSkipped, 0); }
  int last_of(int n) const { return std::min(n + after_, frame_count_ - 1); }

  /// The source frame from which on they are needed now, which is before first_of(n) if the stream restarts:
  /// the noise level is then measured from it on.
  int first_needed(int n) const {
    const int first = first_of(n);
    if (!restarts_at(n) || level_section_ <= 1) {
      return first;
    }
    return std::max(std::min(n / level_section_ * level_section_ - level_before_,
                             first / level_section_ * level_section_),
                    0);
  }

  /// The result of frame n. `host` has
  ///   Source source(int n)                                 one of the frames first_needed(n) to last_of(n)
  ///   limpid_frame frame(const Source&)                    its samples, for limpid_send()
  ///   Result result(limpid_frame&, const Source&)          a frame of the host with the samples of a result,
  ///                                                        or the result itself, whose `buffer` is then null
  /// Exceptions pass; the next call then restarts the stream.
  template <typename Host>
  Result get(int n, Host& host) {
    try {
      if (!results_.contains(n)) {
        advance_to(n, host);
      }
    } catch (...) {
      next_result_ = kNone;
      throw;
    }
    return std::move(results_.extract(n).mapped());
  }

  /// Drops results that are kept. Source frames have changed.
  void forget_results() { results_.clear(); }
  /// Drops results, and restarts the stream at the next request.
  void restart() {
    forget_results();
    next_result_ = kNone;
  }

 private:
  static constexpr int kNone = std::numeric_limits<int>::max();

  bool restarts_at(int n) const {
    return !results_.contains(n) && (n < next_result_ || first_of(n) > next_sent_);
  }

  template <typename Host>
  void advance_to(int n, Host& host) {
    if (restarts_at(n)) {
      const int first = first_needed(n);
      denoiser_.reset();
      sources_ = {};
      next_sent_ = first;
      next_result_ = n;
    }
    for (; next_sent_ <= last_of(n); ++next_sent_) {
      send(host.source(next_sent_), host);
    }
    if (next_sent_ == frame_count_) {
      denoiser_.flush();
    }
    for (; next_result_ <= n; ++next_result_) {
      while (results_.size() > most_kept_) {
        results_.erase(results_.begin());
      }
      results_.emplace(next_result_, receive(host));
    }
  }

  template <typename Host>
  void send(Source source, Host& host) {
    limpid_frame frame = host.frame(source);
    const bool is_context = next_sent_ < next_result_;
    const bool is_used = next_sent_ >= next_result_ - before_;
    frame.flags |= !is_context ? 0 : is_used ? LIMPID_CONTEXT_ONLY : LIMPID_LEVEL_ONLY;
    denoiser_.send(frame);
    if (!is_context) {
      sources_.push(std::move(source));
    }
  }

  template <typename Host>
  Result receive(Host& host) {
    auto frame = sized<limpid_frame>();
    denoiser_.receive(frame);
    Result result = host.result(frame, sources_.front());
    limpid_release(&frame);
    sources_.pop();
    return result;
  }

  Denoiser& denoiser_;
  int frame_count_;
  std::size_t most_kept_;
  int before_ = 0;
  int level_section_ = 1;
  int level_before_ = 0;
  int after_ = 0;
  // Frames that are sent before the next result's own are context.
  int next_sent_ = 0;
  int next_result_ = kNone;     // none: the next request restarts the stream
  std::queue<Source> sources_;  // of the results to come
  std::map<int, Result> results_;
};

}  // namespace limpid::plugins
