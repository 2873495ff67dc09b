#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "core/denoiser.h"
#include "core/frame.h"

namespace limpid::app {

/// --engine and --threads, and what follows from them for the stages around the engine.
struct EngineChoice {
  std::string name = "auto";
  int threads = 0;

  void add_to(CLI::App& command);
  std::shared_ptr<Engine> open() const;
};

/// What io::ReaderOptions::allocate should be for frames that go to `engine`.
std::function<Frame(const FrameFormat&)> frame_allocator(const std::shared_ptr<Engine>& engine);

/// The engine has all processors, and the encoder shares them with it.
int encoder_threads();

}  // namespace limpid::app
