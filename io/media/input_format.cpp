// SPDX-License-Identifier: MIT
#include "io/media/input_format.h"

#include <algorithm>
#include <array>

namespace limpid::io {
namespace {

/// A demuxer needs a row if it differs from the default.
constexpr std::array kInputs{
    InputTraits{.name = "matroska", .is_matroska = true},
    InputTraits{.name = "mov", .is_mp4 = true},
    InputTraits{.name = "image2", .is_image2 = true},
    // For AVI, libav computes the length of a truncated file from its remaining data.
    InputTraits{.name = "avi", .counts_frames = true},
    InputTraits{.name = "mxf", .exact_length = true},
    InputTraits{.name = "ivf", .exact_length = true},
    InputTraits{.name = "yuv4mpegpipe", .exact_length = true, .hides_errors = true},
    InputTraits{.name = "mpeg", .has_steady_clock = true},
    InputTraits{.name = "gif", .has_loops = true, .end = InputTraits::End::kGif},
    InputTraits{.name = "apng", .has_loops = true, .end = InputTraits::End::kPng},
    InputTraits{.name = "ogg", .end = InputTraits::End::kOgg},
    InputTraits{.name = "mpegts", .end = InputTraits::End::kTs},
    InputTraits{.name = "tty", .draws_text = true},
    InputTraits{.name = "bin", .draws_text = true},
    InputTraits{.name = "xbin", .draws_text = true},
    InputTraits{.name = "adf", .draws_text = true},
    InputTraits{.name = "idf", .draws_text = true},
};

}  // namespace

const InputTraits& traits_of(const AVInputFormat& format) {
  static constexpr InputTraits kNone;
  const std::string_view names = format.name;
  const auto* const found = std::ranges::find(kInputs, names.substr(0, names.find(',')), &InputTraits::name);
  return found == kInputs.end() ? kNone : *found;
}

}  // namespace limpid::io
