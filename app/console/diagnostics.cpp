// SPDX-License-Identifier: MIT
#include "app/console/diagnostics.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

namespace limpid::app {
namespace {

using Kind = io::Diagnostic::Kind;

/// Diagnostics that a Writer has after its construction are reported then, and a failure ends the run.
bool is_told_before(Kind kind) {
  return kind == Kind::kLoss || kind == Kind::kLostData || kind == Kind::kLeftOut || kind == Kind::kFailure;
}

}  // namespace

std::string sentence(const io::Diagnostic& diagnostic, const ReadSource& source) {
  switch (diagnostic.kind) {
    case Kind::kLoss:
    case Kind::kLostData:
    case Kind::kLeftOut:
    case Kind::kLateLoss:
      return diagnostic.text;
    case Kind::kFailure:
      return fmt::format("{}: can't be read to its end: {}", source.name, diagnostic.text);
    case Kind::kDamage:
      return fmt::format("{}: is damaged and can't be read beyond its first {} frames: {}", source.name,
                         source.frames, diagnostic.text);
    case Kind::kShortfall:
      return fmt::format("{}: isn't whole: {}, with {}{} frames", source.name, diagnostic.text, source.frames,
                         source.expected > 0 ? fmt::format(" of about {}", source.expected) : "");
    case Kind::kMissingFrames:
    case Kind::kIgnoredCropping:
    case Kind::kCropping:
      return fmt::format("{}: {}", source.name, diagnostic.text);
    case Kind::kContainerErrors:
      return fmt::format("{}: its container is damaged in {} {}, and frames may be missing there: {}",
                         source.name, diagnostic.count, diagnostic.count == 1 ? "place" : "places",
                         diagnostic.text);
    case Kind::kDecoderErrors:
      return fmt::format(
          "{}: the decoder reports errors in {} {}, and frames may be damaged or missing there: {}",
          source.name, diagnostic.count, diagnostic.count == 1 ? "packet" : "packets", diagnostic.text);
    case Kind::kDamagedPackets:
      return fmt::format("{}: {} damaged packets were skipped", source.name, diagnostic.count);
    case Kind::kDamagedFrames:
      return fmt::format("{}: {} frames are damaged; the decoder filled in the missing parts", source.name,
                         diagnostic.count);
    case Kind::kWrongChecksums:
      return fmt::format(
          "{}: {} frames do not match the checksum in the stream; they were denoised as they were decoded",
          source.name, diagnostic.count);
    case Kind::kWrongTimes:
      return fmt::format("{}: {} {} wrong times, which were replaced by times between their neighbors'",
                         source.name, diagnostic.count, diagnostic.count == 1 ? "frame has" : "frames have");
    case Kind::kConvertedFrames:
      return fmt::format(
          "{}: {} frames differ from the first in size, pixel format, range or matrix and were converted to "
          "match it",
          source.name, diagnostic.count);
    case Kind::kScanChange:
      return fmt::format("{}: {}, unlike the first frame; all frames are encoded as the first one is",
                         source.name, diagnostic.text);
    case Kind::kAspectChange:
    case Kind::kColorChange:
      return fmt::format("{}: {}; most formats store only the properties of the first frame", source.name,
                         diagnostic.text);
  }
  return {};
}

void warn_of_the_whole(const io::Diagnostics& diagnostics, const ReadSource& source) {
  for (const io::Diagnostic& diagnostic : diagnostics) {
    if (!is_told_before(diagnostic.kind)) {
      const bool is_fault = diagnostic.kind != Kind::kCropping;
      spdlog::log(is_fault ? spdlog::level::warn : spdlog::level::info, sentence(diagnostic, source));
    }
  }
}

void warn_of_missing_report(const std::string& output) {
  spdlog::warn(fmt::format("{}: is complete; there was not enough memory for the report", output));
}

std::string strict_objection(const io::Diagnostics& diagnostics) {
  if (std::string lost = text_of(diagnostics, Kind::kLostData); !lost.empty()) {
    return lost;
  }
  if (std::string missing = text_of(diagnostics, Kind::kMissingFrames); !missing.empty()) {
    return missing;
  }
  if (count_of(diagnostics, Kind::kWrongChecksums) > 0) {
    return "has frames that do not match the checksum in the stream";
  }
  if (count_of(diagnostics, Kind::kWrongTimes) > 0) {
    return "has frames with wrong times";
  }
  for (const Kind kind :
       {Kind::kContainerErrors, Kind::kDecoderErrors, Kind::kDamagedPackets, Kind::kDamagedFrames}) {
    if (count_of(diagnostics, kind) > 0) {
      return "is damaged";
    }
  }
  if (!text_of(diagnostics, Kind::kDamage).empty()) {
    return "is damaged";
  }
  return text_of(diagnostics, Kind::kShortfall);
}

}  // namespace limpid::app
