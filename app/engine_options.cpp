#include "app/engine_options.h"

#include <algorithm>
#include <thread>

namespace limpid::app {

void EngineChoice::add_to(CLI::App& command) {
  constexpr const char* kGroup = "Engine";
  command
      .add_option("--engine", name,
                  "auto, a name that limpid devices lists, or several: cuda:0,1 or cuda:all [auto]")
      ->type_name("NAME")
      ->group(kGroup);
  command.add_option("--threads", threads, "Threads of the CPU engine [all processors]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->group(kGroup);
}

std::shared_ptr<Engine> EngineChoice::open() const {
  return EngineRegistry::instance().open(name, EngineOptions{threads});
}

std::function<Frame(const FrameFormat&)> frame_allocator(const std::shared_ptr<Engine>& engine) {
  if (!engine->prefers_own_frames()) {
    return {};
  }
  return [engine](const FrameFormat& format) { return engine->allocate_frame(format); };
}

int encoder_threads() { return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 2, 16); }

}  // namespace limpid::app
