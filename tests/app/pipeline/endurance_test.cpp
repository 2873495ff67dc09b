// SPDX-License-Identifier: MIT
// The whole chain from decoder to muxer in this process: the cost of a steady state, leaks after ten thousand
// frames, and damaged files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/command.h"
#include "app/console/console.h"
#include "app/console/process.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/bm3d/bm3d_parameters.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/noise/noise_model.h"
#include "io/media/reader.h"
#include "io/media/writer.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/io/media/media.h"

namespace limpid::app {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Copies {
  std::int64_t frames = 0;
  std::int64_t reader = 0;
  std::int64_t writer = 0;
};

class Endurance : public io::MediaTest {
 protected:
  /// Denoises `from` to `to` as limpid denoise does. `watch` receives each frame's number when it is written,
  /// and the number of frames read by then.
  Copies denoise(const std::string& from, const std::string& to, const std::string& codec = "",
                 const std::function<void(std::int64_t, std::int64_t)>& watch = {},
                 std::int64_t frame_limit = 0) {
    io::Reader reader(from);
    io::WriterOptions options;
    options.codec = codec;
    options.overwrite = io::Overwrite::kAlways;
    io::Writer writer(to, reader, options);
    StreamCounters counters;
    StreamParts stages;
    stages.read = [&] { return reader.read(); };
    GivenLevels levels([](const Frame&) { return NoiseModel{{10, 10, 10}}; });
    stages.noise = &levels;
    stages.make_denoiser = [&](const Frame& frame, const NoiseModel& level) {
      return engine_->make_denoiser(bm3d_profile(Profile::kFast), level, frame.format);
    };
    stages.write_frame = [&](const Frame& frame) {
      writer.write(frame);
      if (watch) {
        watch(frame.index, counters.read.frames);
      }
    };
    stages.write_packet = [&](const io::Packet& packet) { writer.write(packet); };
    StreamOptions pipeline_options;
    pipeline_options.frame_limit = frame_limit;
    run_stream(stages, pipeline_options, counters, {});
    writer.finish();
    return {counters.write.frames, reader.copies(), writer.copies()};
  }

 private:
  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");
};

TEST_F(Endurance, ASteadyStateAllocatesNoFramesAndCopiesEachAtMostOnceEachWay) {
  struct Case {
    std::string name;
    std::string format;
    std::string codec;
    std::int64_t copies;  // per frame and direction
    // Frames alive at once: results in their queue, in each stage and in the encoder; and, if the reader
    // copies, its frames in two queues and in three stages.
    std::int64_t most_allocated;
  };
  constexpr std::int64_t kFrames = 200;
  for (const Case& test : std::vector<Case>{{"planar.mkv", "yuv420p", "ffv1", 0, 24},
                                            {"deep.mkv", "yuv422p10le", "ffv1", 0, 24},
                                            {"packed.nut", "rgb24", "png", 1, 32}}) {
    SCOPED_TRACE(test.name);
    const std::string encoder = test.name == "packed.nut" ? "rawvideo" : "ffv1";
    const std::string source =
        make(test.name, "-f lavfi -i testsrc2=s=32x32:r=25:d=8 -pix_fmt " + test.format + " -c:v " + encoder);
    const std::int64_t before = allocated_frames();
    const Copies copies = denoise(source, path("out.mkv"), test.codec);
    EXPECT_EQ(copies.frames, kFrames);
    EXPECT_EQ(copies.reader, test.copies * kFrames);
    EXPECT_EQ(copies.writer, test.copies * kFrames);
    EXPECT_LE(allocated_frames() - before, test.most_allocated);
  }
}

TEST_F(Endurance, TenThousandFramesLeaveNothingBehind) {
  const std::int64_t frames = kSanitized ? 500 : 10'000;
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=32x32:r=25 -f lavfi -i sine -frames:v " +
                             std::to_string(frames) + " -shortest -c:v mpeg2video -g 10 -c:a pcm_s16le");
  struct Usage {
    std::int64_t memory = 0;
    std::int64_t files =
        std::numeric_limits<std::int64_t>::max();  // minimum, as libraries open some temporarily
    std::int64_t under_way = 0;                    // maximum so far
  };
  Usage early;
  Usage late;
  const auto watch = [&](std::int64_t index, std::int64_t read) {
    constexpr std::int64_t kLooks = 20;
    late.under_way = std::max(late.under_way, read - index);
    if (index > frames / 5 - kLooks && index <= frames / 5) {
      early = {resident_bytes(), std::min(early.files, open_files()), late.under_way};
    } else if (index >= frames - kLooks) {
      late.memory = resident_bytes();
      late.files = std::min(late.files, open_files());
    }
  };
  EXPECT_EQ(denoise(source, path("out.mkv"), "mpeg2video", watch).frames, frames);
  EXPECT_EQ(late.files, early.files);
  constexpr std::int64_t kMostUnderWay = 25;  // in the queues and in each stage
  EXPECT_LE(early.under_way, kMostUnderWay);
  EXPECT_LE(late.under_way, kMostUnderWay);
  if (!kSanitized) {                               // these keep freed memory for a while
    constexpr std::int64_t kMostGrowth = 8 << 20;  // a frame is 1.5 KiB, and 8000 of them are 12 MiB
    EXPECT_LE(late.memory - early.memory, kMostGrowth);
  }
}

/// Works until a frame of this number.
class FailingDenoiser final : public test::ForwardingDenoiser {
 public:
  static constexpr std::int64_t kFailing = 12;
  using ForwardingDenoiser::ForwardingDenoiser;
  std::optional<Frame> receive() override {
    std::optional<Frame> frame = ForwardingDenoiser::receive();
    return !frame || frame->index < kFailing ? frame : throw Error("the GPU reports \"launch failure\"");
  }
};

TEST_F(Endurance, AnEngineThatFailsInMidRunLeavesTheFramesBefore) {
  test::ForwardingEngine::add_to_registry("failing", [](std::unique_ptr<Denoiser> denoiser) {
    return std::make_unique<FailingDenoiser>(std::move(denoiser));
  });
  const std::string source =
      make("source.mkv", "-f lavfi -i testsrc2=s=32x32:r=25:d=1 -f lavfi -i sine=d=1 -c:v ffv1 -c:a flac");
  for (const std::string extension : {".mkv", ".mp4"}) {
    SCOPED_TRACE(extension);
    const std::string name = "out.partial" + extension;
    CommandLine program;
    add_denoise_command(program);
    program.parse(
        {"denoise", source, "-o", path("out" + extension), "--engine", "failing", "--sigma", "10", "-q"});
    static Console console;  // referenced by the log
    try {
      program.run(console);
      FAIL() << "the failure was swallowed";
    } catch (const UsageError&) {
      FAIL() << "the failure is not the user's";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "the GPU reports \"launch failure\"; " + path(name) + " has the 12 frames before that");
    }
    const io::Clip clip = io::read_clip(path(name));
    EXPECT_EQ(static_cast<std::int64_t>(clip.frames.size()), FailingDenoiser::kFailing);
    EXPECT_EQ(clip.damaged_packets, 0);
    EXPECT_GT(clip.packets, 0);
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"out.partial.mkv", "out.partial.mp4", "source.mkv"}));
}

class Fuzz : public Endurance {
 protected:
  /// Small files of many kinds, so that damage has an effect.
  std::vector<std::string> make_sources() {
    const std::string picture = "-f lavfi -i testsrc2=s=64x32:r=25:d=0.32 ";
    const std::string sound = "-f lavfi -i sine=d=0.32 ";
    return {
        make("h264.mkv", picture + sound + "-c:v libx264 -bf 2 -c:a aac"),
        make("h264.mp4", picture + sound + "-c:v libx264 -bf 2 -c:a aac"),
        make("hevc.mov", picture + sound +
                             "-c:v libx265 -x265-params log-level=none -pix_fmt yuv420p10le -c:a pcm_s16le"),
        make("mpeg2.ts", picture + sound + "-c:v mpeg2video -g 4 -c:a mp2"),
        make("mpeg4.avi", picture + sound + "-c:v mpeg4 -bf 1 -c:a mp3"),
        make("vp9.webm", picture + sound + "-c:v libvpx-vp9 -deadline realtime -c:a libopus"),
        make("ffv1.mkv", picture + "-c:v ffv1 -level 3 -pix_fmt gbrp"),
        make("mjpeg.avi", picture + "-c:v mjpeg -pix_fmt yuvj422p"),
        make("plain.y4m", picture + "-pix_fmt yuv422p"),
        make("raw.h264", picture + "-c:v libx264"),
        make("flash.flv", picture + sound + "-c:v flv -c:a mp3 -ar 44100"),
        make("moving.gif", picture),
        make("picture.png", picture + "-frames:v 1 -update 1"),
        make("picture.jpg", picture + "-frames:v 1 -update 1"),
        make("picture.tiff", picture + "-frames:v 1 -update 1")};
  }

  static std::string damaged(std::string bytes, std::uint32_t seed) {
    std::mt19937 random(seed);  // gives equal numbers on all machines
    const auto pick = [&](std::size_t count) { return count == 0 ? 0 : random() % count; };
    if (pick(4) == 0) {
      bytes.resize(pick(bytes.size()));
    }
    // Damage in headers is more effective.
    const std::size_t reach = pick(2) == 0 ? std::min<std::size_t>(bytes.size(), 600) : bytes.size();
    constexpr std::array<std::size_t, 4> kFlips{1, 4, 16, 64};
    for (std::size_t i = 0; i < kFlips[pick(kFlips.size())] && reach > 0; ++i) {
      char& byte = bytes[pick(reach)];
      byte = static_cast<char>(byte ^ (1 << pick(8)));
    }
    if (pick(4) == 0 && !bytes.empty()) {
      const std::size_t at = pick(bytes.size());
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(pick(200), bytes.size() - at),
                  '\xFF');
    }
    return bytes;
  }
};

volatile std::sig_atomic_t fuzz_seed = 0;

/// Reports the hanging case and ends the process, which is the only way to end a hanging thread.
void give_up_on_seed(int /*signal*/) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "seed %d takes too long\n", fuzz_seed);
  static_cast<void>(::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length)) == length);
  ::_exit(1);
}

TEST_F(Fuzz, DamagedFilesEndWithASentenceOrAFile) {
  const char* const asked = std::getenv("LIMPID_FUZZ_CASES");
  const unsigned cases = asked == nullptr ? (kSanitized ? 30 : 100) : static_cast<unsigned>(std::atoi(asked));
  const std::vector<std::string> sources = make_sources();
  std::signal(SIGALRM, give_up_on_seed);
  unsigned written = 0;
  for (unsigned seed = 0; seed < cases; ++seed) {
    const std::string& source = sources[seed % sources.size()];
    std::ifstream in(source, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const std::string file = path("damaged" + std::filesystem::path(source).extension().string());
    std::ofstream(file, std::ios::binary) << damaged(bytes, seed);
    const std::string target = path(seed % 2 == 0 ? "out.mkv" : "out.mp4");
    RecordProperty("seed", static_cast<int>(seed));
    SCOPED_TRACE(seed);
    fuzz_seed = static_cast<int>(seed);
    constexpr unsigned kPatience = 60;  // a busy machine takes seconds
    ::alarm(kPatience);
    try {
      constexpr std::int64_t kMostFrames = 20;
      denoise(file, target, "", {}, kMostFrames);
      ++written;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
    ::alarm(0);
  }
  EXPECT_GT(written, cases / 4) << "most damage is survived";
  EXPECT_LT(written, cases) << "some isn't";
}

}  // namespace
}  // namespace limpid::app
