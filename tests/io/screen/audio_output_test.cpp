// SPDX-License-Identifier: MIT
// What is heard, and when, by SDL's driver that writes what it plays to a file.
#include "io/screen/audio_output.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/io/media/media.h"
#include "tests/local_listener.h"

namespace limpid::io {
namespace {

using namespace std::chrono_literals;

constexpr double kRate = 48000;
constexpr std::size_t kBytes = 2 * sizeof(float);  // of a sample of both channels
constexpr double kBuffer = 1024 / kRate;           // that the device plays at a time, seconds
// Sound whose samples tell their time: a tenth of it.
const std::string kRamp = "-f lavfi -i aevalsrc='t/10|t/10:s=48000:d=0.6' ";
const std::string kPictures = "-f lavfi -i testsrc2=size=32x32:rate=10:duration=1 ";

std::int64_t resident_bytes() {
  std::int64_t all = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

class AudioOutputTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    setenv("SDL_AUDIODRIVER", "disk", 1);
    setenv("SDL_DISKAUDIOFILE", path("played.raw").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("SDL_AUDIODRIVER");
    unsetenv("SDL_DISKAUDIOFILE");
  }

  std::size_t played_samples() const { return std::filesystem::file_size(path("played.raw")) / kBytes; }
  /// The left channel from its first sample that isn't silence on; and how much silence was before it.
  struct Played {
    std::size_t silence = 0;
    std::vector<float> sound;
  };
  Played played() const {
    std::ifstream file(path("played.raw"), std::ios::binary);
    std::vector<float> both(2 * played_samples());
    file.read(reinterpret_cast<char*>(both.data()),
              static_cast<std::streamsize>(both.size() * sizeof(float)));
    std::vector<float> left;
    for (std::size_t i = 0; i < both.size(); i += 2) {
      left.push_back(both[i]);
    }
    const auto begin = std::find_if(left.begin(), left.end(), [](float sample) { return sample != 0; });
    const auto end =
        std::find_if(left.rbegin(), left.rend(), [](float sample) { return sample != 0; }).base();
    Played result;
    result.silence = static_cast<std::size_t>(begin - left.begin());
    if (begin < end) {
      result.sound.assign(begin, end);
    }
    return result;
  }

  /// What position() has said, and how much had been played before and after it was asked.
  struct Reading {
    std::size_t before;
    double position;
    std::size_t after;
  };
  /// Plays to the end of the sound.
  std::vector<Reading> play(AudioOutput& audio) const {
    std::vector<Reading> readings;
    audio.set_playing(true);
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    for (;;) {
      const std::size_t before = played_samples();
      const std::optional<double> position = audio.position();
      if (position) {
        readings.push_back({before, *position, played_samples()});
      } else if (!readings.empty()) {
        break;
      }
      if (std::chrono::steady_clock::now() > give_up) {
        ADD_FAILURE() << "the sound doesn't end";
        break;
      }
      std::this_thread::sleep_for(2ms);
    }
    // What the device has taken last is with it.
    for (const std::size_t all = played_samples() + 1024; played_samples() < all;) {
      std::this_thread::sleep_for(2ms);
    }
    return readings;
  }
};

TEST_F(AudioOutputTest, EverySampleIsHeardOnceAtItsTime) {
  const std::string file =
      make("late.mkv", kPictures + "-itsoffset 0.3 " + kRamp + "-c:v ffv1 -c:a pcm_f32le");
  const Reader reader(file);
  std::string why;
  const std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
  ASSERT_NE(audio, nullptr) << why;
  const std::vector<Reading> readings = play(*audio);
  const Played heard = played();
  ASSERT_EQ(heard.sound.size(), std::lround(0.6 * kRate) - 1) << "the first sample is silent itself";
  for (std::size_t i = 0; i < heard.sound.size(); ++i) {
    ASSERT_NEAR(heard.sound[i], static_cast<double>(i + 1) / kRate / 10, 1e-6) << i;
  }
  // The sound begins at 0.3 s. Times in Matroska are in milliseconds.
  const auto time_of = [&](std::size_t sample) {
    return 0.3 + (static_cast<double>(sample) - static_cast<double>(heard.silence)) / kRate;
  };
  ASSERT_GT(readings.size(), 10U);
  EXPECT_LT(readings.front().position, 0.25) << "the silence before the sound counts";
  for (const auto& [before, position, after] : readings) {
    EXPECT_GT(position, time_of(before) - kBuffer - 0.001);
    EXPECT_LT(position, time_of(after) + 0.001);
  }
}

TEST_F(AudioOutputTest, GoesOnExactlyWhereItIsSent) {
  const std::string file = make("ramp.mkv", kPictures + kRamp + "-c:v ffv1 -c:a pcm_f32le");
  const Reader reader(file);
  std::string why;
  const std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
  ASSERT_NE(audio, nullptr) << why;
  audio->seek(0.25);
  play(*audio);
  const std::vector<float> sound = played().sound;
  constexpr double kRounding = 0.001;  // of times in Matroska
  ASSERT_NEAR(static_cast<double>(sound.size()) / kRate, 0.35, kRounding);
  EXPECT_NEAR(sound.front(), 0.025, kRounding / 10);
  EXPECT_NEAR(sound.back(), 0.06, 1e-5) << "the end";
}

TEST_F(AudioOutputTest, HalfSpeedTakesTwiceTheTimeAndPositionsAreThoseOfTheSource) {
  const std::string file =
      make("tone.mkv", kPictures + "-f lavfi -i sine=440:d=0.6 -c:v ffv1 -c:a pcm_s16le");
  const Reader reader(file);
  std::string why;
  const std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
  ASSERT_NE(audio, nullptr) << why;
  audio->set_speed(0.5);
  audio->seek(0);
  const std::vector<Reading> readings = play(*audio);
  const Played told = played();
  const double length = static_cast<double>(told.sound.size()) / kRate;
  EXPECT_NEAR(length, 1.2, 0.25) << "the filter keeps the last samples";
  ASSERT_GT(readings.size(), 10U);
  const Reading& last = readings.back();
  EXPECT_LT(last.position, 0.61);
  const Reading& middle = readings[readings.size() / 2];
  const double heard = static_cast<double>(middle.before - readings.front().before) / kRate;
  EXPECT_NEAR(middle.position - readings.front().position, heard / 2, 0.06);
  const auto time_of = [&](std::size_t sample) {
    return (static_cast<double>(sample) - static_cast<double>(told.silence)) / kRate / 2;
  };
  EXPECT_GT(middle.position, time_of(middle.before) - 0.03);
  EXPECT_LT(middle.position, time_of(middle.after) + 0.012) << "what the filter holds is not heard yet";
}

TEST_F(AudioOutputTest, JoinedRecordingsMayChangeTheirChannelsRateAndClock) {
  const std::string stereo =
      make("stereo.ts", kPictures + "-f lavfi -i aevalsrc='0.5|0.5:s=44100:d=0.4' -c:v mpeg2video -c:a mp2");
  const std::string mono =
      make("mono.ts", kPictures + "-f lavfi -i aevalsrc='0.5:s=48000:d=0.4' -c:v mpeg2video -c:a mp2");
  output_of("cat '" + stereo + "' '" + mono + "' > '" + path("joined.ts") + "'");
  const Reader reader(path("joined.ts"));
  std::string why;
  const std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
  ASSERT_NE(audio, nullptr) << why;
  play(*audio);
  const std::vector<float> sound = played().sound;
  const auto loud = std::count_if(sound.begin(), sound.end(), [](float sample) { return sample > 0.3F; });
  EXPECT_NEAR(static_cast<double>(loud) / kRate, 0.8, 0.06) << "MPEG frames are 26 ms long";
}

TEST_F(AudioOutputTest, PacketsOfManyHoursArePlayedBitByBit) {
  // Of 18 and of 2 hours: converted at once the one has more samples than an int can count, the other takes
  // 3 GB.
  for (const std::string size : {"8192", "65536"}) {
    const std::string file = make("slow" + size + ".nut",
                                  kPictures + "-f lavfi -i aevalsrc='0.5|0.5:s=48000:d=1.4' -af asetrate=1," +
                                      "asetnsamples=" + size + " -c:v ffv1 -c:a pcm_s16le");
    const Reader reader(file);
    std::string why;
    const std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
    ASSERT_NE(audio, nullptr) << why;
    const std::int64_t before = resident_bytes();
    audio->set_playing(true);
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (audio->position().value_or(0) < 0.1 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_GE(audio->position().value_or(0), 0.1) << size << audio->failure();
    EXPECT_LT(resident_bytes() - before, 64 << 20) << size;
  }
}

TEST_F(AudioOutputTest, UnplayableAudioEndsWithAMessage) {
  const std::string file =
      make("fast.nut", kPictures + kRamp + "-af asetrate=5000000 -c:v ffv1 -c:a pcm_s16le");
  const Reader reader(file);
  std::string why;
  const std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
  ASSERT_NE(audio, nullptr) << why;
  audio->set_playing(true);
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (audio->failure().empty() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(audio->failure(), "5000000 samples a second can't be played");
  EXPECT_EQ(audio->position(), std::nullopt);
}

TEST_F(AudioOutputTest, SaysWhyThereIsNone) {
  std::string why;
  const std::string silent = make("silent.mkv", kPictures + "-c:v ffv1");
  EXPECT_EQ(AudioOutput::open(Reader(silent), {}, why), nullptr);
  EXPECT_EQ(why, "") << "there is nothing to be told of";
  setenv("SDL_AUDIODRIVER", "absent", 1);
  const std::string loud = make("loud.mkv", kPictures + kRamp + "-c:v ffv1 -c:a pcm_f32le");
  EXPECT_EQ(AudioOutput::open(Reader(loud), {}, why), nullptr);
  EXPECT_NE(why.find("no audio device"), std::string::npos) << why;
}

TEST_F(AudioOutputTest, TheSourcesOptionsAreItsSoundsToo) {
  const std::string file = make("ramp.mkv", kPictures + kRamp + "-c:v ffv1 -c:a pcm_f32le");
  std::ofstream(path("list.ffconcat")) << "ffconcat version 1.0\nfile '" << file << "'\n";
  // Without it that demuxer takes no absolute paths.
  ReaderOptions options{.options = {{"safe", "0"}}};
  options.allow_references = true;
  std::string why;
  EXPECT_NE(AudioOutput::open(Reader(path("list.ffconcat"), options), options, why), nullptr) << why;
}

/// Accepts connections, sends something to the first ones, and nothing more to anybody; gives up in the end,
/// so that who waits for it fails a test instead of waiting for ever.
class StalledServer {
 public:
  /// `data` fits into a socket's buffer.
  StalledServer(const std::string& data, int served) : thread_([this, data, served] { run(data, served); }) {}
  StalledServer(const StalledServer&) = delete;
  StalledServer& operator=(const StalledServer&) = delete;
  StalledServer(StalledServer&&) = delete;
  StalledServer& operator=(StalledServer&&) = delete;
  ~StalledServer() {
    listener_.shut_down();
    thread_.join();
    for (const int connection : connections_) {
      ::close(connection);
    }
  }

  std::string url() const { return "tcp://" + listener_.address(); }
  bool has_given_up() const { return has_given_up_; }

 private:
  void run(const std::string& data, int served) {
    constexpr std::chrono::milliseconds kPatience = 10s;
    pollfd waiting{listener_.descriptor(), POLLIN, 0};
    while (::poll(&waiting, 1, static_cast<int>(kPatience.count())) > 0) {
      const int connection = ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) {
        return;
      }
      connections_.push_back(connection);
      if (connections_.size() <= static_cast<std::size_t>(served)) {
        EXPECT_EQ(::send(connection, data.data(), data.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(data.size()));
      }
    }
    has_given_up_ = true;
    for (const int connection : connections_) {
      ::shutdown(connection, SHUT_RDWR);
    }
  }

  test::LocalListener listener_;
  std::vector<int> connections_;
  std::atomic<bool> has_given_up_ = false;
  std::thread thread_;
};

class StalledAudioOutputTest : public AudioOutputTest {
 protected:
  /// The beginning of a clip with little sound.
  std::string half_a_clip() const {
    const std::string file =
        make("clip.mkv", kPictures + "-f lavfi -i sine=sample_rate=8000:duration=1 -c:v ffv1 -c:a pcm_s16le");
    std::ifstream stream(file, std::ios::binary);
    std::string clip{std::istreambuf_iterator<char>(stream), {}};
    clip.resize(clip.size() / 2);
    return clip;
  }
};

TEST_F(StalledAudioOutputTest, CanBeLeft) {
  const StalledServer server(half_a_clip(), 2);
  const Reader reader(server.url());
  std::string why;
  std::unique_ptr<AudioOutput> audio = AudioOutput::open(reader, {}, why);
  ASSERT_NE(audio, nullptr) << why;
  play(*audio);  // all that there is
  audio.reset();
  EXPECT_FALSE(server.has_given_up());
}

TEST_F(StalledAudioOutputTest, NeedNotBeWaitedForToOpen) {
  const StalledServer server(half_a_clip(), 1);
  const Reader reader(server.url());
  const auto closing = std::chrono::steady_clock::now() + 50ms;
  std::string why;
  EXPECT_EQ(AudioOutput::open(
                reader, {.interrupted = [&] { return std::chrono::steady_clock::now() > closing; }}, why),
            nullptr);
  EXPECT_FALSE(server.has_given_up());
}

}  // namespace
}  // namespace limpid::io
