// How limpid compare uses an engine's streams.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "core/denoiser.h"
#include "core/error.h"
#include "tests/io/media.h"

namespace limpid::app {
namespace {

/// The CPU engine, whose streams hold it against their user if a frame comes behind their end.
class StrictEngine final : public Engine {
 public:
  std::string_view name() const override { return "strict"; }
  std::string description() const override { return ""; }
  std::unique_ptr<Denoiser> make_denoiser(const Filter& filter, const NoiseLevel& noise,
                                          const FrameFormat& format) override {
    return std::make_unique<StrictDenoiser>(cpu_->make_denoiser(filter, noise, format));
  }
  Frame allocate_frame(const FrameFormat& format) override { return limpid::allocate_frame(format); }
  NoiseLevel estimate_noise(const Frame& frame) override { return cpu_->estimate_noise(frame); }
  Brightness brightness(const Frame& frame) override { return cpu_->brightness(frame); }

 private:
  class StrictDenoiser final : public Denoiser {
   public:
    explicit StrictDenoiser(std::unique_ptr<Denoiser> denoiser) : denoiser_(std::move(denoiser)) {}
    void set_noise(const NoiseLevel& noise) override { denoiser_->set_noise(noise); }
    void send(Frame frame) override {
      if (flushed_) {
        throw Error("a frame was sent after flush()");
      }
      denoiser_->send(std::move(frame));
    }
    std::optional<Frame> receive() override { return denoiser_->receive(); }
    void flush() override {
      flushed_ = true;
      denoiser_->flush();
    }
    std::vector<std::string> warnings() const override { return denoiser_->warnings(); }
    int latency() const override { return denoiser_->latency(); }

   private:
    std::unique_ptr<Denoiser> denoiser_;
    bool flushed_ = false;
  };

  std::shared_ptr<Engine> cpu_ = EngineRegistry::instance().open("cpu");
};

using CompareStreamTest = io::MediaTest;

TEST_F(CompareStreamTest, NothingIsSentBehindAStreamsEnd) {
  EngineRegistry::instance().add(
      [] { return std::vector<EngineInfo>{{.name = "strict", .description = "", .available = true}}; },
      [engine = std::make_shared<StrictEngine>()](std::string_view, const EngineOptions&) { return engine; });
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=32x32:r=25:d=0.2 -c:v ffv1");
  CommandLine program;
  Command command;
  add_compare_command(program, command);
  program.parse({"compare", source, "--engine", "strict", "--filters", "bilateral,nlm"});
  static Console console;  // the log keeps it
  testing::internal::CaptureStdout();
  EXPECT_NO_THROW(EXPECT_EQ(command(console), kExitDone));
  const std::string table = testing::internal::GetCapturedStdout();
  EXPECT_NE(table.find("nlm"), std::string::npos) << table;
}

}  // namespace
}  // namespace limpid::app
