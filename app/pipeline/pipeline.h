// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "core/stream/noise_control.h"
#include "core/stream/stream.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// One line per stage: frames, the rate that the stage would reach alone, the shares of its time (working,
/// waiting for input, waiting for output), and the median, 99th percentile and maximum of its latency in ms.
/// Devices add lines for uploads, filtering and downloads, without latencies.
std::vector<std::string> to_table(const StreamCounters& counters);

/// The stage that the others waited for: "decoding", "noise estimation", "filtering" or "encoding", or
/// "input" if frames come at a pace of their own (`paced`).
std::string_view limit_of(const StreamCounters& counters, bool paced);

/// For reports: the counters, and the median, the 99th percentile and the largest latency.
nlohmann::ordered_json to_json(const StreamCounters& counters);
nlohmann::ordered_json to_json(const Latencies& latencies);

/// Keeps the output that `writer` had written before `failure` as NAME.partial.EXT. Returns an error that
/// describes both. Throws the errors of renaming.
Error broken_off(io::Writer& writer, const std::string& failure);

/// The frames before a range of a file on which the noise levels in it depend, so that they are the levels of
/// the whole file.
class LevelLead {
 public:
  /// Opens the file once more. `options`: of the reader of the range. `first`: the first frame that this
  /// reader has delivered.
  LevelLead(const std::string& path, io::ReaderOptions options, const Frame& first, const LevelGrid& grid);

  /// The next frame, marked as `level_only`; nothing after the last one before `first`.
  std::optional<Frame> next();

 private:
  io::Reader reader_;
  LevelGrid grid_;
  double end_ = 0;  ///< seconds, as in presentation_time()
  bool has_begun_ = false;
};

}  // namespace limpid::app
