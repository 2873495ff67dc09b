// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/player/played_frame.h"
#include "app/player/view.h"
#include "app/player/viewer_options.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"

namespace limpid::app {

/// The samples of a pixel, noisy and denoised.
class PixelValues {
 public:
  /// `options` must outlive this object. `engine`: of the frames.
  PixelValues(const ViewerOptions& options, std::shared_ptr<Engine> engine)
      : options_(options), engine_(std::move(engine)) {}

  /// "x 12, y 34: noisy Y 120 U 128 V 131, denoised ...", with the values as stored (behind
  /// ViewerOptions::after), at a position of the displayed picture; empty outside of it.
  std::string text(const PlayedFrame& shown, View::Point at);

 private:
  static std::string samples(const Frame& frame, int x, int y);

  const ViewerOptions& options_;
  const std::shared_ptr<Engine> engine_;
  const PlayedFrame* last_ = nullptr;  ///< whose frames are kept; only compared
  Frame noisy_;
  Frame denoised_;
};

}  // namespace limpid::app
