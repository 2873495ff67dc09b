// SPDX-License-Identifier: MIT
// A module with an engine that acts as a GPU: its memory is the host's, and the CPU engine filters.
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/engine_module.h"
#include "tests/core/engine/forwarding_engine.h"

namespace limpid::test {
namespace {

constexpr MemoryDomain kMemory = cuda_memory(3);

Frame as_host(Frame frame) {
  frame.memory = kHostMemory;
  return frame;
}

class DeviceDenoiser final : public ForwardingDenoiser {
 public:
  using ForwardingDenoiser::ForwardingDenoiser;

  void set_result_frames(const std::function<Frame()>& take) override { take_ = take; }
  void send(Frame frame) override {
    if (!frame.context_only && take_) {
      places_.push_back(take_());
    }
    ForwardingDenoiser::send(as_host(std::move(frame)));
  }
  std::optional<Frame> receive() override {
    std::optional<Frame> result = ForwardingDenoiser::receive();
    if (!result || places_.empty()) {
      return result;
    }
    Frame place = std::move(places_.front());
    places_.pop_front();
    for (int p = 0; p < place.format.plane_count(); ++p) {
      for (int y = 0; y < place.planes[p].height; ++y) {
        std::copy_n(result->planes[p].row<std::byte>(y),
                    place.planes[p].width * place.format.bytes_per_sample(),
                    place.planes[p].row<std::byte>(y));
      }
    }
    pass_on(*result, place);
    return place;
  }
  void reset() override {
    places_.clear();
    ForwardingDenoiser::reset();
  }

 private:
  std::function<Frame()> take_;
  std::deque<Frame> places_;
};

class DeviceEngine final : public ForwardingEngine {
 public:
  DeviceEngine()
      : ForwardingEngine("cuda:3", [](std::unique_ptr<Denoiser> denoiser) {
          return std::make_unique<DeviceDenoiser>(std::move(denoiser));
        }) {}
  MemoryDomain memory() const override { return kMemory; }
  MemoryDomain result_memory() const override { return kMemory; }
  Frame in_host_memory(const Frame& frame) override { return as_host(frame); }
};

}  // namespace
}  // namespace limpid::test

void limpid::provide_engines(EngineModule& module) {
  module.list = [] {
    return std::vector<EngineInfo>{{.name = "cuda:3", .description = "no GPU", .available = true}};
  };
  module.open = [](std::string_view /*name*/, const EngineOptions& /*options*/) -> std::shared_ptr<Engine> {
    return std::make_shared<test::DeviceEngine>();
  };
}
