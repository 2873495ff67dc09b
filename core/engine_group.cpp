#include "core/engine_group.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"

namespace limpid {
namespace {

// For spatial filters, whose frames have nothing to do with each other.
class DenoiserGroup final : public Denoiser {
 public:
  explicit DenoiserGroup(std::vector<std::unique_ptr<Denoiser>> denoisers)
      : denoisers_(std::move(denoisers)) {}

  void set_noise(const NoiseLevel& noise) override {
    for (const auto& denoiser : denoisers_) {
      denoiser->set_noise(noise);
    }
  }

  void send(Frame frame) override {
    denoisers_[sent_ % denoisers_.size()]->send(std::move(frame));
    ++sent_;
  }

  std::optional<Frame> receive() override {
    if (received_ == sent_) {
      return std::nullopt;
    }
    std::optional<Frame> result = denoisers_[received_ % denoisers_.size()]->receive();
    received_ += result ? 1 : 0;
    return result;
  }

  void flush() override {
    for (const auto& denoiser : denoisers_) {
      denoiser->flush();
    }
  }

  std::vector<std::string> warnings() const override { return denoisers_.front()->warnings(); }
  int latency() const override { return 0; }
  int concurrency() const override {
    return std::accumulate(denoisers_.begin(), denoisers_.end(), 0,
                           [](int sum, const auto& denoiser) { return sum + denoiser->concurrency(); });
  }

 private:
  std::vector<std::unique_ptr<Denoiser>> denoisers_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
};

class EngineGroup final : public Engine {
 public:
  EngineGroup(std::string name, std::vector<std::shared_ptr<Engine>> engines)
      : name_(std::move(name)), engines_(std::move(engines)) {}

  std::string_view name() const override { return name_; }
  std::string description() const override {
    std::string text;
    for (const auto& engine : engines_) {
      text += (text.empty() ? "" : "; ") + engine->description();
    }
    return text;
  }

  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseLevel& noise,
                                          const FrameFormat& format) override {
    std::vector<std::unique_ptr<Denoiser>> denoisers;
    denoisers.reserve(engines_.size());
    for (const auto& engine : engines_) {
      denoisers.push_back(engine->make_denoiser(filter, noise, format));
    }
    return std::make_unique<DenoiserGroup>(std::move(denoisers));
  }

  Frame allocate_frame(const FrameFormat& format) override {
    return engines_.front()->allocate_frame(format);
  }
  bool prefers_own_frames() const override { return engines_.front()->prefers_own_frames(); }

 private:
  std::string name_;
  std::vector<std::shared_ptr<Engine>> engines_;
};

}  // namespace

std::vector<std::string> expand_engine_name(std::string_view name, const std::vector<EngineInfo>& engines) {
  const auto fail = [&](const std::string& why) {
    throw UsageError("the engines \"" + std::string(name) + "\": " + why);
  };
  constexpr std::string_view kAll = "all";
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos ||
      (name.find(',') == std::string_view::npos && name.substr(colon + 1) != kAll)) {
    return {std::string(name)};
  }
  const std::string family(name.substr(0, colon + 1));
  std::vector<std::string> names;
  if (name.substr(colon + 1) == kAll) {
    for (const EngineInfo& engine : engines) {
      if (engine.available && engine.name.starts_with(family)) {
        names.push_back(engine.name);
      }
    }
    if (names.empty()) {
      // What the registry says of the family's first device is why there is none.
      names.push_back(family + "0");
    }
    return names;
  }
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const bool whole = part.find(':') != std::string_view::npos;
    if (part.empty() || (whole && !part.starts_with(family))) {
      fail("all must be of one family, as in " + family + "0,1");
    }
    std::string single = whole ? std::string(part) : family + std::string(part);
    if (std::find(names.begin(), names.end(), single) != names.end()) {
      fail(single + " is named twice");
    }
    names.push_back(std::move(single));
  }
  if (name.back() == ',') {
    fail("one is missing after the last comma");
  }
  return names;
}

std::shared_ptr<Engine> make_engine_group(std::string name, std::vector<std::shared_ptr<Engine>> engines) {
  return std::make_shared<EngineGroup>(std::move(name), std::move(engines));
}

}  // namespace limpid
