// SPDX-License-Identifier: MIT
// Use of an engine's streams by limpid compare.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "app/commands/command.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

/// Fails if a frame is sent after the end.
class StrictDenoiser final : public test::ForwardingDenoiser {
 public:
  using ForwardingDenoiser::ForwardingDenoiser;
  void send(Frame frame) override {
    if (flushed_) {
      throw Error("a frame was sent after flush()");
    }
    ForwardingDenoiser::send(std::move(frame));
  }
  void flush() override {
    flushed_ = true;
    ForwardingDenoiser::flush();
  }
  void reset() override {
    flushed_ = false;
    ForwardingDenoiser::reset();
  }

 private:
  bool flushed_ = false;
};

using CompareStreamTest = io::MediaTest;

TEST_F(CompareStreamTest, NothingIsSentBehindAStreamsEnd) {
  test::ForwardingEngine::add_to_registry("strict", [](std::unique_ptr<Denoiser> denoiser) {
    return std::make_unique<StrictDenoiser>(std::move(denoiser));
  });
  const std::string source = make("source.mkv", "-f lavfi -i testsrc2=s=32x32:r=25:d=0.2 -c:v ffv1");
  CommandLine program;
  add_compare_command(program);
  program.parse({"compare", source, "--engine", "strict", "--filters", "bilateral,nlm"});
  static Console console;  // referenced by the log
  testing::internal::CaptureStdout();
  EXPECT_NO_THROW(EXPECT_EQ(program.run(console), kExitDone));
  const std::string table = testing::internal::GetCapturedStdout();
  EXPECT_NE(table.find("nlm"), std::string::npos) << table;
}

}  // namespace
}  // namespace limpid::app
