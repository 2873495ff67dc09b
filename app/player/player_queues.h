// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/command_queue.h"
#include "app/player/decoded_frames.h"
#include "app/player/presentation_queue.h"

namespace limpid::app {

/// The queues between the threads of a Player.
struct PlayerQueues {
  CommandQueue reading;
  CommandQueue denoising;
  CommandQueue refining;
  CommandQueue looping;
  DecodedFrames decoded;
  PresentationQueue presentation;
};

}  // namespace limpid::app
