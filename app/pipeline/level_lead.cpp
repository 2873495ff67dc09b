// SPDX-License-Identifier: MIT
#include "app/pipeline/level_lead.h"

#include <utility>
#include <variant>

namespace limpid::app {
namespace {

io::ReaderOptions lead_options(io::ReaderOptions options) {
  options.end.reset();
  options.context_before = options.context_after = 0;
  options.audio = options.subtitles = options.data = false;
  return options;
}

}  // namespace

LevelLead::LevelLead(const std::string& path, io::ReaderOptions options, const Frame& first,
                     const LevelGrid& grid)
    : reader_(path, lead_options(std::move(options))), grid_(grid) {
  const double rate = reader_.video().frames_per_second;
  const std::optional<double> time = io::presentation_time(first);
  if (rate > 0 && time && reader_.can_seek()) {
    end_ = *time - 0.5 / rate;
    reader_.seek(*time - static_cast<double>(grid.lead()) / rate);
  }
}

std::optional<Frame> LevelLead::next() {
  for (;;) {
    io::Reader::Item item = reader_.read();
    Frame* const frame = std::get_if<Frame>(&item);
    if (std::holds_alternative<io::Reader::End>(item) ||
        (frame != nullptr && !(io::presentation_time(*frame) < end_))) {
      return std::nullopt;
    }
    has_begun_ = has_begun_ || (frame != nullptr && grid_.may_begin(frame->index));
    if (frame != nullptr && has_begun_) {
      frame->context_only = frame->level_only = true;
      return std::move(*frame);
    }
  }
}

}  // namespace limpid::app
