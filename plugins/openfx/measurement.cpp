// SPDX-License-Identifier: MIT
#include "plugins/openfx/measurement.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "plugins/shared/denoiser.h"

namespace limpid::openfx {

MeasuredNoise measure_noise(limpid_engine& engine, const std::vector<Framed>& frames) {
  limpid_denoiser* made = nullptr;
  if (limpid_new(&made, &engine) != LIMPID_OK) {
    throw std::bad_alloc();
  }
  const auto free = [](limpid_denoiser* own) { limpid_free(&own); };
  const std::unique_ptr<limpid_denoiser, decltype(free)> denoiser(made, free);
  std::vector<limpid_frame> views;
  views.reserve(frames.size());
  for (const Framed& frame : frames) {
    if (frame.pixels().layout != frames.front().pixels().layout) {
      throw Failure(abi::kUnsupported,
                    "noise cannot be measured in frames of different components or bit depths");
    }
    views.push_back(frame_of(frame.pixels()));
    views.back().flags = frame.is_interlaced() ? LIMPID_INTERLACED : 0;
  }
  std::vector<const limpid_frame*> pointers;
  pointers.reserve(views.size());
  for (const limpid_frame& view : views) {
    pointers.push_back(&view);
  }
  const limpid_format format = format_of(frames.front().pixels());
  auto noise = plugins::sized<limpid_noise>();
  if (limpid_estimate_noise(made, &format, pointers.data(), static_cast<std::int32_t>(pointers.size()),
                            &noise) != LIMPID_OK) {
    throw Failure(abi::kFailed, limpid_error(made));
  }
  MeasuredNoise measured{noise.profile, ""};
  std::replace(measured.profile.begin(), measured.profile.end(), '\n', ' ');
  constexpr float kDigits = 100;
  for (int c = 0; c < std::min(frames.front().pixels().layout.channels, 3); ++c) {
    measured.level +=
        (c == 0 ? "" : ", ") +
        plugins::text_of(std::round(static_cast<double>(noise.sigma[c] * kDigits)) / double{kDigits});
  }
  return measured;
}

}  // namespace limpid::openfx
