// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/denoise_job.h"
#include "app/commands/jobs.h"
#include "app/console/console.h"
#include "app/options/command_line.h"
#include "app/options/engine_options.h"
#include "app/options/settings_options.h"
#include "app/player/played_frame.h"
#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engine/engine_group.h"
#include "core/engines.h"
#include "core/frame/frame.h"
#include "core/settings/denoising_settings.h"
#include "core/settings/noise_settings.h"
#include "core/stream/noise_control.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/oracle/pictures.h"
#include "tests/temporary_folder.h"

namespace limpid::app {
namespace {

NoiseSettings parse_noise(std::vector<std::string> arguments) {
  CommandLine command;
  NoiseOptions options;
  options.add_to(command);
  EXPECT_FALSE(command.parse(std::move(arguments)));
  return options.settings();
}

TEST(NoiseOptions, SigmaIsOneOrThreeNumbersOrAuto) {
  EXPECT_EQ(parse_noise({}), NoiseSettings{});
  EXPECT_EQ(parse_noise({"--sigma", "12.5"}).noise->noise, (NoiseModel{{12.5F, 12.5F, 12.5F}}));
  EXPECT_EQ(parse_noise({"--sigma", "10,4,5"}).noise->noise, (NoiseModel{{10, 4, 5}}));
  EXPECT_EQ(parse_noise({"--sigma", "0"}).noise->noise, NoiseModel{});
  EXPECT_EQ(parse_noise({"--sigma", "auto"}).noise, std::nullopt);
}

TEST(NoiseOptions, NoiseIsALevelToo) {
  EXPECT_EQ(parse_noise({"--sigma", "10,4,5"}).noise->noise, (NoiseModel{{10, 4, 5}}));
  EXPECT_THROW(parse_noise({"--noise", "10,4,5"}), UsageError) << "--sigma sets levels";
  EXPECT_EQ(parse_noise({"--noise", "auto"}), NoiseSettings{});
  EXPECT_THROW(parse_noise({"--noise", "10", "--sigma", "10"}), UsageError);
  EXPECT_THROW(parse_noise({"--noise", "loud"}), UsageError);
  EXPECT_THROW(parse_noise({"--noise", "there-is-no-such.json"}), UsageError);
}

std::string profile_file(const std::string& text) {
  const std::string path = testing::TempDir() + "limpid-noise-profile.json";
  std::ofstream(path) << text;
  return path;
}

TEST(NoiseOptions, AProfileComesBackAsItWasSaved) {
  NoiseProfile profile{NoiseModel{{10, 4, 5}}, ColorModel::kRgb};
  for (int i = 0; i < 64; ++i) {
    profile.noise.shape[1].spectrum[i] = i < 32 ? 1.75F : 0.25F;
  }
  profile.noise.shape[2].curve[3] = 0.5F;
  profile.noise.shape[2].repetition = 0.65F;
  profile.noise.opponent[0] = {7, profile.noise.shape[1]};
  for (const bool opponent : {false, true}) {
    if (!opponent) {
      profile.noise.opponent = {};
    }
    const auto read = parse_noise({"--noise", profile_file(to_json(profile).dump())}).noise;
    ASSERT_TRUE(read);
    EXPECT_EQ(read->color_model, ColorModel::kRgb);
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(read->noise.sigma[p], profile.noise.sigma[p]);
      EXPECT_EQ(read->noise.opponent[p].sigma, profile.noise.opponent[p].sigma);
      EXPECT_EQ(read->noise.shape[p].curve, profile.noise.shape[p].curve);
      EXPECT_EQ(read->noise.shape[p].repetition, profile.noise.shape[p].repetition);
      for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_NEAR(read->noise.shape[p].spectrum[i], profile.noise.shape[p].spectrum[i], 1e-3);
      }
    }
    profile.noise.opponent[0] = {7, profile.noise.shape[1]};
  }
}

TEST(NoiseOptions, AProfileKeepsHowStronglyChromaIsFiltered) {
  NoiseProfile profile{NoiseModel{{10, 4, 5}}, ColorModel::kYuv};
  profile.chroma_strength = {0, 1.125F, 0};
  EXPECT_EQ(parse_noise({"--noise", profile_file(to_json(profile).dump())}).noise, profile);
}

TEST(NoiseOptions, InvalidProfilesAreRefusedByName) {
  for (const char* const text :
       {"", "{", "[]", "{}", R"({"limpid_noise_profile": 2, "planes": {"Y": {"sigma": 1}}})",
        R"({"limpid_noise_profile": 1})", R"({"limpid_noise_profile": 1, "planes": {"X": {"sigma": 1}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": 5}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": -1}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": "1"}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1, "repetition": 1}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1, "grain": 2}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1, "strength": 1.1}}})",
        R"({"limpid_noise_profile": 1,
            "planes": {"Y": {"sigma": 1}, "U": {"sigma": 1, "strength": 0}, "V": {"sigma": 1}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1, "curve": [1, 2]}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1, "spectrum": [[1]]}}})",
        R"({"limpid_noise_profile": 1, "planes": {"Y": {"sigma": 1}}, "opponent": {}})"}) {
    try {
      parse_noise({"--noise", profile_file(text)});
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("limpid-noise-profile.json"), std::string::npos)
          << error.what();
    }
  }
}

TEST(NoiseOptions, StrengthIsANumberOrHasAName) {
  EXPECT_FLOAT_EQ(parse_noise({"--strength", "2.5"}).strength.luma, 2.5F);
  EXPECT_THROW(parse_noise({"--strength", "-1"}), UsageError);
  EXPECT_THROW(parse_noise({"--strength", "11"}), UsageError);

  EXPECT_FLOAT_EQ(parse_noise({"--strength", "light"}).strength.luma, 0.7F);
  EXPECT_FLOAT_EQ(parse_noise({"--strength", "Strong"}).strength.luma, 1.4F);
  EXPECT_THROW(parse_noise({"--strength", "heavy"}), UsageError);
}

TEST(NoiseOptions, LumaAndChromaHaveStrengthsOfTheirOwn) {
  EXPECT_EQ(parse_noise({"--strength", "light,0.5"}).strength, (Strength{0.7F, 0.5F}));
  for (const auto& [text, strength] : std::vector<std::pair<std::string, Strength>>{
           {"1,0.7", {1, 0.7F}}, {"0.3,1", {0.3F, 1}}, {"0.0,5", {0, 5}}, {"1,light", {1, 0.7F}}}) {
    EXPECT_EQ(parse_noise({"--strength", text}).strength, strength) << text;
    EXPECT_EQ(parse_noise({"--strength", to_string(strength)}).strength, strength) << text;
  }
  for (const auto& [text, readings] : std::vector<std::pair<std::string, std::string>>{
           {"0,5", "write 0.5, or 0.0,5.0 for luma and chroma; --planes chroma leaves luma as it is"},
           {"1,5", "write 1.5, or 1.0,5.0 for"},
           {"10,0", "write 10.0, or 10.0,0.0 for"}}) {
    try {
      parse_noise({"--strength", text});
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(readings), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(parse_noise({}).strength, (Strength{1, 1}));
  EXPECT_EQ(parse_noise({"--planes", "luma"}).strength, (Strength{1, 0}));
  EXPECT_EQ(parse_noise({"--planes", "Chroma", "--strength", "2"}).strength, (Strength{0, 2}));
  for (const char* const wrong : {"1,", ",1", "1,2,3", "1;2"}) {
    EXPECT_THROW(parse_noise({"--strength", wrong}), UsageError) << wrong;
  }
  EXPECT_THROW(parse_noise({"--planes", "alpha"}), UsageError);
  EXPECT_EQ(parse_noise({"--mix", "0.25"}).mix, 0.25F);
  EXPECT_THROW(parse_noise({"--mix", "1.5"}), UsageError);
}

TEST(SettingsOptions, OtherOptionsOverrideTheFile) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "look.json").string();
  std::ofstream(file) << R"({"limpid_settings": 1, "filter": "vbm4d:profile=fast:reach=2", "noise": "9,4,5",
                             "strength": 1.5, "mix": 0.25, "fields": "interlaced"})";
  const auto read = [&](std::vector<std::string> arguments) {
    CommandLine command;
    SettingsOptions options;
    options.add_to(command);
    options.fields.add_to(command);
    arguments.insert(arguments.begin(), {"--settings", file});
    EXPECT_FALSE(command.parse(std::move(arguments)));
    options.read_file();
    options.filter.check();
    return options.settings();
  };
  const DenoisingSettings all = read({});
  EXPECT_EQ(to_string(all.filter), "vbm4d:quality=fast:reach=2");
  EXPECT_EQ(all.noise.noise->noise, (NoiseModel{{9, 4, 5}}));
  EXPECT_EQ(all.noise.strength, (Strength{1.5F, 1.5F}));
  EXPECT_EQ(all.noise.mix, 0.25F);
  EXPECT_EQ(all.fields, FieldChoice::kInterlaced);

  const DenoisingSettings some =
      read({"--profile", "np", "--sigma", "auto", "--strength", "2", "--fields", "auto", "--mix", "0"});
  EXPECT_EQ(to_string(some.filter), "vbm4d:quality=good:reach=2");
  EXPECT_EQ(some.noise.noise, std::nullopt);
  EXPECT_EQ(some.noise.strength, (Strength{2, 2}));
  EXPECT_EQ(some.noise.mix, 0);
  EXPECT_EQ(some.fields, FieldChoice::kAuto);
  EXPECT_EQ(to_string(read({"--filter", "bm3d"}).filter), "bm3d");
  EXPECT_EQ(to_string(read({"--reach", "3"}).filter), "vbm4d:quality=fast:reach=3");
  std::ofstream(file) << "{}";
  try {
    read({});
    FAIL() << "the file was accepted";
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("--settings: '" + file + "' is not a settings file"))
        << error.what();
  }
}

/// A GPU's by its name alone.
class GpuEngine final : public test::ForwardingEngine {
 public:
  explicit GpuEngine(int device) : ForwardingEngine("cuda:" + std::to_string(device), {}), device_(device) {}
  MemoryDomain memory() const override { return cuda_memory(device_); }

 private:
  int device_;
};

TEST(EngineChoice, TheEnginesGpuDecodes) {
  const auto one = std::make_shared<GpuEngine>(1);
  const auto several = make_engine_group("cuda:1,0", {one, std::make_shared<GpuEngine>(0)});
  const auto cpu = engine_registry().open("cpu");
  for (const char* hwaccel : {"auto", "cuda"}) {
    EXPECT_EQ(EngineChoice{.hwaccel = hwaccel}.decoding_memory(*one), cuda_memory(1)) << hwaccel;
    EXPECT_EQ(EngineChoice{.hwaccel = hwaccel}.decoding_memory(*several), cuda_memory(1)) << hwaccel;
  }
  EXPECT_EQ(EngineChoice{.hwaccel = "none"}.decoding_memory(*several), kHostMemory);
  EXPECT_EQ(EngineChoice{.hwaccel = "auto"}.decoding_memory(*cpu), kHostMemory);
  EXPECT_THROW(EngineChoice{.hwaccel = "cuda"}.decoding_memory(*cpu), UsageError);
}

TEST(QueuedFrames, AreManyForGpusAndFewForTheCpu) {
  const auto gpu = std::make_shared<GpuEngine>(0);
  EXPECT_EQ(queued_frames(*gpu), 32U);
  EXPECT_EQ(queued_frames(*make_engine_group("cuda:0,1", {gpu, std::make_shared<GpuEngine>(1)})), 32U);
  EXPECT_EQ(queued_frames(*engine_registry().open("cpu")), 3U);
}

class BadSigma : public testing::TestWithParam<const char*> {};

TEST_P(BadSigma, IsAUsageErrorThatNamesTheOption) {
  try {
    parse_noise({"--sigma", GetParam()});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find("--sigma: '" + std::string(GetParam()) + "'"), 0U)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Values, BadSigma,
                         testing::Values("-1", "nan", "inf", "abc", "", "1,2", "1,2,3,4", "1,,3", "1,2,",
                                         "10x", "256", "1e9", " 5"));

/// Gives the command line the arguments, which spaces separate.
void parse(CommandLine& command, const std::string& arguments) {
  std::istringstream words(arguments);
  EXPECT_FALSE(command.parse({std::istream_iterator<std::string>(words), {}}));
}

Filter parse_filter_options(const std::string& arguments, bool still_picture = false) {
  CommandLine command;
  FilterOptions options;
  options.add_to(command);
  parse(command, arguments);
  return options.filter(still_picture);
}

Bm3dParameters parse_bm3d(const std::string& parameters) {
  return std::get<Bm3dParameters>(parse_filter_options("--filter bm3d:" + parameters));
}

TEST(FilterOptionsOfBm3d, EachParameterCanBeReplacedInEachStep) {
  const Bm3dParameters parameters = parse_bm3d(
      "profile=np:patch-size=4:step=2:group-size=32:search-window=21:tau=1234:kaiser-beta=3:"
      "transform-2d=haar:transform-1d=haar:lambda=2.2:patch-size-2=16:step-2=5:group-size-2=8:"
      "search-window-2=11:tau-2=77:kaiser-beta-2=1:transform-2d-2=bior1.5:transform-1d-2=haar");
  EXPECT_EQ(parameters.hard_threshold,
            (Bm3dStep{4, 2, 32, 21, 1234, 3, Transform2d::kHaar, Transform1d::kHaar}));
  EXPECT_EQ(parameters.lambda, 2.2F);
  EXPECT_EQ(parameters.wiener, (Bm3dStep{16, 5, 8, 11, 77, 1, Transform2d::kBior15, Transform1d::kHaar}));
}

TEST(FilterOptionsOfBm3d, OneStepLeavesTheWienerStepOut) {
  EXPECT_FALSE(parse_bm3d("steps=1").wiener.has_value());
  EXPECT_THROW(parse_bm3d("steps=1:tau-2=300"), UsageError);
  EXPECT_THROW(parse_bm3d("steps=3"), UsageError);
}

TEST(FilterOptionsOfBm3d, IllegalValuesAreUsageErrors) {
  EXPECT_THROW(parse_bm3d("patch-size=1"), UsageError);
  EXPECT_THROW(parse_bm3d("search-window=20"), UsageError);
  EXPECT_THROW(parse_bm3d("tau=nan"), UsageError);
  EXPECT_THROW(parse_bm3d("transform-2d=fourier"), UsageError);
  EXPECT_THROW(parse_bm3d("profile=finest"), UsageError);
}

TEST(FilterOptions, MakeTheFilterWithWhatIsGiven) {
  EXPECT_EQ(parse_filter_options("--filter bm3d"), Filter(bm3d_profile(Profile::kNp)));
  EXPECT_EQ(parse_filter_options("--filter bm3d --profile fast"), Filter(bm3d_profile(Profile::kFast)));
  EXPECT_EQ(parse_filter_options("--filter bilateral"), Filter(BilateralParameters()));
  EXPECT_EQ(parse_filter_options("--filter bilateral:radius=7:spatial-sigma=2.5:range-sigma=30"),
            Filter(BilateralParameters{7, 2.5F, 30.0F}));
  EXPECT_EQ(parse_filter_options("--filter adaptive-bilateral:radius=7:kappa=0.5:epsilon=2"),
            Filter(AdaptiveBilateralParameters{.radius = 7, .kappa = 0.5F, .epsilon = 2}));
  EXPECT_EQ(parse_filter_options("--filter nlm:patch-size=7:search-window=21:decay=9"),
            Filter(NlmParameters{7, 21, 9.0F}));
  EXPECT_EQ(parse_filter_options("--filter nlm-bilateral:search-window=0:patch-sigma=9:range-sigma=20"),
            Filter(NlmBilateralParameters{.search_window = 0, .patch_sigma = 9.0F, .range_sigma = 20.0F}));
}

TEST(FilterOptions, VideoIsFilteredAlongMotionUnlessAskedAndPicturesInThemselves) {
  EXPECT_EQ(parse_filter_options(""), Filter(vbm4d_profile(Vbm4dProfile::kNp)));
  EXPECT_EQ(parse_filter_options("", true), Filter(bm3d_profile(Profile::kNp)));
  EXPECT_EQ(parse_filter_options("--profile fast"), Filter(vbm4d_profile(Vbm4dProfile::kFast)));
  EXPECT_EQ(parse_filter_options("--profile fast", true), Filter(bm3d_profile(Profile::kFast)));
  EXPECT_EQ(parse_filter_options("--filter vbm4d", true), Filter(vbm4d_profile(Vbm4dProfile::kNp)));
  const auto parameters = std::get<Vbm4dParameters>(
      parse_filter_options("--filter vbm4d:trajectory-threshold-2=2 --reach 6,3 --delay 4"));
  EXPECT_EQ(parameters.before, 6);
  EXPECT_EQ(parameters.after, 3);
  EXPECT_EQ(parameters.delay, 4);
  EXPECT_EQ(parameters.wiener->trajectory_threshold, 2);
  // An option that only the filter of videos has is not an error until a picture comes.
  CommandLine command;
  FilterOptions options;
  options.add_to(command);
  parse(command, "--reach 2");
  options.check();
  EXPECT_THROW(options.filter(true), UsageError);
  EXPECT_EQ(std::get<Vbm4dParameters>(options.filter(false)).before, 2);
}

TEST(FilterOptions, ErrorsNameTheFilterThatHasTheOption) {
  const auto objection = [](const std::string& arguments) -> std::string {
    CommandLine command;
    FilterOptions options;
    options.add_to(command);
    parse(command, arguments);
    try {
      options.check();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(
      objection("--reach 17,0"),
      "--reach: vbm4d: a reach of 17,0 is not possible (0 to 16 each, at most 16 together, as N or N,M)");
  EXPECT_EQ(objection("--reach 9"),
            "--reach: vbm4d: a reach of 9,9 is not possible (0 to 16 each, at most 16 together)");
  EXPECT_EQ(objection("--filter bm3d:patch-size=1"),
            "--filter: bm3d:patch-size=1: first step: a patch size of 1 is not possible (2 to 16)");
  EXPECT_EQ(objection("--filter bm3d:group-size=32"), "");
  EXPECT_NE(objection("--filter vbm4d:group-size=32"), "");
  EXPECT_EQ(objection("--filter vbm4d:reach=1 --reach 2"),
            "--reach is given twice: as an option and in --filter");
  EXPECT_EQ(objection("--filter bm3d:profile=fast --profile np"),
            "--profile is given twice: as an option and in --filter");
  EXPECT_EQ(objection("--quality best --profile np"), "--quality and --profile exclude each other");
  EXPECT_EQ(objection("--quality finest"), "--quality: 'finest' is not fast, good, high or best");
  EXPECT_EQ(objection("--quality 20"),
            "--quality: '20' is not a word such as high; --crf N sets the encoder's quality");
  EXPECT_EQ(objection("--filter nlm --quality best"),
            "--quality is no option of the filter nlm, but of bm3d, vbm4d, vnlb, recursive");
  EXPECT_EQ(objection("--filter vbm4d,profile=fast"),
            "--filter: parameters follow a colon: vbm4d:profile=fast");
}

TEST(FilterOptions, QualityHasTheSameWordsForAllFilters) {
  EXPECT_EQ(parse_filter_options("--quality good"), parse_filter_options("--profile np"));
  EXPECT_EQ(parse_filter_options("--quality best"), parse_filter_options("--profile best"));
  EXPECT_EQ(parse_filter_options("--quality High"), parse_filter_options("--filter vbm4d:profile=high"));
  EXPECT_EQ(parse_filter_options("--filter bm3d:quality=best"),
            parse_filter_options("--filter bm3d:profile=high"));
  EXPECT_EQ(parse_filter_options("--filter recursive --quality best"),
            parse_filter_options("--filter recursive"));
}

TEST(FilterOptions, LiveFiltersHaveNoDelayUnlessRequested) {
  const auto live_filter = [](const std::string& arguments, const std::string& name,
                              const std::string& profile) {
    CommandLine command;
    FilterOptions options;
    options.add_to(command);
    parse(command, arguments);
    return app::live_filter(
        {.filter = {.name = name, .profile = profile, .parameters = options.settings().parameters},
         .noise = {}});
  };
  const auto np = std::get<Vbm4dParameters>(live_filter("", "vbm4d", "np"));
  EXPECT_EQ(np, vbm4d_live_profile(Vbm4dProfile::kNp));
  EXPECT_EQ(np.delay, 0);
  EXPECT_GT(np.before, vbm4d_profile(Vbm4dProfile::kNp).before) << "earlier frames make up for later ones";
  EXPECT_EQ(parse_filter_options("--delay 0"), Filter(np)) << "who asks for no delay is live";
  EXPECT_EQ(std::get<Vbm4dParameters>(live_filter("--filter vbm4d:step=7 --reach 3", "vbm4d", "np")).before,
            3);
  const auto waiting = std::get<Vbm4dParameters>(live_filter("--delay 3", "vbm4d", "np"));
  EXPECT_EQ(waiting.delay, 3);
  EXPECT_EQ(waiting.before, vbm4d_profile(Vbm4dProfile::kNp).before);
  EXPECT_EQ(std::get<VnlbParameters>(live_filter("", "vnlb", "fast")).delay, 0);
  EXPECT_EQ(live_filter("", "bm3d", "np"), Filter(bm3d_profile(Profile::kNp)));
}

TEST(FilterOptions, AnOptionOfAnotherFilterIsAUsageError) {
  for (const char* arguments : {"--radius 3", "--filter nlm:radius=3", "--filter nlm:tau=3",
                                "--filter bilateral:patch-size=3", "--filter nlm-bilateral --profile np",
                                "--filter adaptive-bilateral:steps=1", "--filter bilateral:kappa=1"}) {
    EXPECT_THROW(parse_filter_options(arguments), UsageError) << arguments;
  }
  EXPECT_THROW(parse_filter_options("--filter mean"), UsageError);
  EXPECT_THROW(parse_filter_options("--filter nlm:search-window=0"), UsageError);
}

TEST(FilterList, HasAFilterAndNoiseSettingsInEachEntry) {
  const NoiseSettings base = parse_noise({"--sigma", "20"});
  const std::vector<FilterEntry> filters = parse_filter_list(
      "bm3d:profile=fast:tau=99,nlm,vbm4d:strength=1,0.5:reach=4,2,bilateral:sigma=12,6,6", base);
  ASSERT_EQ(filters.size(), 4U);
  EXPECT_EQ(filters[0].text, "bm3d:profile=fast:tau=99");
  EXPECT_EQ(filters[0].filter.filter(), parse_filter_options("--filter bm3d:tau=99 --profile fast"));
  EXPECT_EQ(filters[0].noise, base);
  EXPECT_EQ(filters[1].filter.filter(), Filter(NlmParameters()));
  EXPECT_EQ(filters[2].text, "vbm4d:strength=1,0.5:reach=4,2");
  EXPECT_EQ(filters[2].filter.filter(), parse_filter_options("--reach 4,2"));
  EXPECT_EQ(filters[2].noise, parse_noise({"--sigma", "20", "--strength", "1,0.5"}));
  EXPECT_EQ(filters[3].noise, parse_noise({"--sigma", "12,6,6"}));
  try {
    parse_filter_list("vbm4d:strength=heavy", base);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("--filters: vbm4d:strength=heavy: strength: 'heavy'"))
        << error.what();
  }
}

std::string usage_error(CommandLine& command, const std::string& arguments) {
  try {
    parse(command, arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandLine, SaysWhatMayHaveBeenMeant) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "in.mp4").string();
  std::ofstream(file) << "a video";
  const auto error = [](const std::string& arguments) {
    CommandLine program("", "limpid");
    bool verbose = false;
    float sigma = 0;
    CommandLine* const command = program.add_subcommand("denoise", "");
    command->add_flag("--verbose", verbose, "");
    command->add_option("--sigma", sigma, "");
    program.add_subcommand("measure", "");
    return usage_error(program, arguments);
  };
  EXPECT_EQ(error("denoice a b"), "there is no command 'denoice'; did you mean 'denoise'?");
  EXPECT_EQ(error("polish a"), "there is no command 'polish'; limpid --help lists the commands");
  EXPECT_EQ(error(file + " -o out.mp4"),
            "the command is missing; perhaps: limpid denoise " + file + " -o out.mp4");
  EXPECT_EQ(error("-x"), "the command is missing; limpid --help lists the commands");
  EXPECT_EQ(
      error("absent.mov"),
      "absent.mov: no such file; limpid denoise FILE denoises a video or picture; limpid --help lists the "
      "commands");
  EXPECT_NE(error("cameras").find("\"limpid webcam --list\" the cameras"), std::string::npos);
  EXPECT_EQ(error("denoise --sigmaa=5"), "there is no option --sigmaa; did you mean '--sigma'?");
  EXPECT_EQ(error("denoise --nonesuch"),
            "there is no option --nonesuch; limpid denoise --help lists the options");
  EXPECT_EQ(error("denoise a b"), "'a' is one argument too many: limpid denoise [OPTION]...");
  EXPECT_EQ(error("-i " + file), "the command is missing; perhaps: limpid denoise " + file);
  EXPECT_EQ(error("--verbose denoise a"), "options follow the command: limpid denoise --verbose");
}

/// A command with options as limpid denoise has them.
class DenoiseLine {
 public:
  DenoiseLine() : program_("", "limpid") {
    CommandLine& command = *program_.add_subcommand("denoise", "");
    command.add_option("INPUT", inputs, "Video")->required();
    command.add_option("-o,--output", output, "Output file")->type_name("OUTPUT");
    command.add_option("-c,--codec", codec, "Video encoder")->type_name("NAME");
    command.add_option("--crf", crf, "Quality")->type_name("N");
    command.add_option("--pix-fmt", codec, "Pixel format")->type_name("NAME");
    command.add_option("--start", start, "Start")->type_name("TIME");
    command.add_option("--strength", strength, "Strength")->type_name("X");
    command.add_option("-e,--encoder-option", pairs, "Option")->type_name("KEY=VALUE");
    command.add_flag("-y,--overwrite", overwrite, "Overwrite");
    command.add_flag("-n,--no-overwrite", never_overwrite, "Skip");
    command.add_flag("-q,--quiet", quiet, "Errors only");
    command.add_flag("--no-audio", no_audio, "No audio");
    command.add_option("--noise", noise, "Noise profile")->type_name("NOISE");
  }
  std::string error(const std::string& arguments) { return usage_error(program_, "denoise " + arguments); }
  const std::vector<std::string>& warnings() const { return program_.warnings(); }

  std::vector<std::string> inputs, pairs;
  std::string output, codec, crf, start, strength, noise;
  bool overwrite = false, never_overwrite = false, quiet = false, no_audio = false;

 private:
  CommandLine program_;
};

std::string line_error(const std::string& arguments) { return DenoiseLine().error(arguments); }

TEST(CommandLine, OneDashBeforeALongNameIsRefused) {
  EXPECT_EQ(line_error("a.mkv -noise auto"), "-noise needs two dashes: --noise NOISE");
  EXPECT_EQ(line_error("a.mkv -output b.mkv"), "-output needs two dashes: --output OUTPUT");
  EXPECT_EQ(line_error("a.mkv -crf=18"), "-crf needs two dashes: --crf N");
  EXPECT_EQ(line_error("a.mkv -pix_fmt yuv420p"), "-pix_fmt needs two dashes: --pix-fmt NAME");
  EXPECT_EQ(line_error("a.mkv --pix_fmt yuv420p"), "--pix_fmt is written with hyphens: --pix-fmt NAME");
  EXPECT_EQ(line_error("a.mkv -quiet"), "-quiet needs two dashes: --quiet");
  EXPECT_EQ(line_error("a.mkv -outptu b.mkv"), "there is no option -outptu; did you mean '--output'?");
  EXPECT_EQ(line_error("a.mkv -o -noise auto"), "--output: the value OUTPUT is missing (Output file)");
}

TEST(CommandLine, OptionsOfFfmpegNameThoseOfLimpid) {
  EXPECT_EQ(line_error("-i a.mkv"),
            "there is no option -i in limpid denoise; name the input without an option");
  EXPECT_EQ(line_error("-ss 3 a.mkv"), "there is no option -ss in limpid denoise; use --start TIME");
  EXPECT_EQ(line_error("a.mkv -c:v libx264"), "there is no option -c:v in limpid denoise; use --codec NAME");
  EXPECT_EQ(line_error("a.mkv -an"), "there is no option -an in limpid denoise; use --no-audio");
  EXPECT_EQ(line_error("a.mkv -r 25"),
            "there is no option -r in limpid denoise; limpid keeps the times of all frames; --after fps=RATE "
            "changes them, and --input-option framerate=RATE those of a series of pictures");
  EXPECT_EQ(line_error("a.mkv --tune grain"),
            "there is no option --tune in limpid denoise; use --encoder-option tune=VALUE");
  EXPECT_EQ(line_error("a.mkv -t 3"), "there is no option -t; limpid denoise --help lists the options")
      << "this command has no --duration";
}

TEST(CommandLine, ShortFlagsMayBeJoinedAndValuesNot) {
  DenoiseLine line;
  EXPECT_EQ(line.error("a.mkv -yqo b.mkv"), "no error");
  EXPECT_TRUE(line.overwrite);
  EXPECT_TRUE(line.quiet);
  EXPECT_EQ(line.output, "b.mkv");
  EXPECT_EQ(line_error("a.mkv -o -"), "no error");
  EXPECT_EQ(line_error("a.mkv -ob.mkv"), "-ob.mkv: separate the option from its value: -o b.mkv");
  EXPECT_EQ(line_error("a.mkv -o=b.mkv"), "-o=b.mkv: separate the option from its value: -o b.mkv");
  EXPECT_EQ(line_error("a.mkv -yx"), "there is no option -yx; limpid denoise --help lists the options");
  EXPECT_EQ(line_error("a.mkv -one_name x"),
            "there is no option -one_name; limpid denoise --help lists the options")
      << "names are not split";
  EXPECT_EQ(line_error("-- -noise"), "no error") << "files may have any name behind --";
}

TEST(CommandLine, RepeatedOptionsAreReported) {
  DenoiseLine line;
  EXPECT_EQ(line.error("a.mkv --crf 18 --crf 20 -e a=b -e c=d"), "no error");
  EXPECT_EQ(line.crf, "20");
  EXPECT_EQ(line.warnings(), std::vector<std::string>{"--crf is given 2 times; the last value, 20, is used"});
  EXPECT_EQ(line_error("a.mkv -o x.mkv --output y.mkv"),
            "-o is given twice, with x.mkv and y.mkv; a run has one output");
}

TEST(CommandLine, MissingValuesAndArgumentsAreNamed) {
  EXPECT_EQ(line_error("a.mkv --crf"), "--crf: the value N is missing (Quality)");
  EXPECT_EQ(line_error("a.mkv --crf --quiet"), "--crf: the value N is missing (Quality)");
  EXPECT_EQ(line_error("a.mkv --crf="), "--crf: the value N is missing (Quality)");
  EXPECT_EQ(line_error("a.mkv --strength -1"), "no error") << "the value is checked later";
  EXPECT_EQ(line_error("a.mkv --quiet=1"), "--quiet: takes no value");
  EXPECT_EQ(line_error("--crf 3"), "INPUT is missing: limpid denoise [OPTION]... INPUT...");
}

TEST(CommandLine, SuggestionsAreNotTheOpposite) {
  EXPECT_EQ(
      line_error("a.mkv --copy-audio"),
      "there is no option --copy-audio in limpid denoise; this is the default, and --no-audio turns it off");
  EXPECT_EQ(line_error("a.mkv --audio"),
            "there is no option --audio in limpid denoise; this is the default, and --no-audio turns it off");
  EXPECT_EQ(line_error("a.mkv --denoise strong"),
            "there is no option --denoise in limpid denoise; use --strength X");
  EXPECT_EQ(line_error("a.mkv --no-noise"),
            "there is no option --no-noise; limpid denoise --help lists the options");
}

TEST(CommandLine, ParametersOfFiltersAreRefusedWithTheFormToUse) {
  const auto error = [](const std::string& arguments) {
    CommandLine command;
    FilterOptions options;
    options.add_to(command);
    return usage_error(command, arguments);
  };
  EXPECT_EQ(error("--step 3"), "--step is not an option; give it to a filter: --filter vbm4d:step=VALUE");
  EXPECT_EQ(error("--radius=3"),
            "--radius is not an option; give it to a filter: --filter bilateral:radius=VALUE");
  EXPECT_EQ(error("--trajectory-threshold 3"),
            "--trajectory-threshold is not an option; give it to a filter: --filter "
            "vbm4d:trajectory-threshold=VALUE");
}

TEST(CommandLine, HelpLeavesAdvancedOptionsToHelpAll) {
  CommandLine program("Denoise a video", "limpid");
  std::string codec;
  bool strict = false;
  program.add_option("-c,--codec", codec, "Encoder [libx264]")->type_name("NAME")->details("For video.");
  program.add_flag("--strict", strict, "Fail at damaged frames")->advanced();
  const std::string help = program.parse({"--help"}).value();
  EXPECT_NE(help.find("\n  -c, --codec NAME         Encoder [libx264]\n"), std::string::npos) << help;
  EXPECT_NE(help.find("--help-all"), std::string::npos) << help;
  EXPECT_EQ(help.find("--strict"), std::string::npos) << help;
  const std::string all = program.parse({"--help-all"}).value();
  EXPECT_NE(all.find("Encoder [libx264]. For video.\n"), std::string::npos) << all;
  EXPECT_NE(all.find("\n  --strict                 Fail at damaged frames\n"), std::string::npos) << all;
}

TEST(CommandLine, HelpIsWrapped) {
  EXPECT_EQ(wrapped(std::string(60, 'a') + " " + std::string(30, 'b'), 10, 4),
            std::string(60, 'a') + "\n    " + std::string(30, 'b'));
}

TEST(CommandLine, HelpIsACommandToo) {
  CommandLine program("", "limpid");
  program.add_subcommand("denoise", "Denoise a video");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"help"}, {"--help"}, {"--help-all"}, {"help", "denoise"}}) {
    EXPECT_NE(program.parse(arguments).value_or("").find("Denoise a video"), std::string::npos);
  }
}

TEST(CommandLine, NumbersAreInTheirRangeAndNothingElse) {
  const auto error = [](const std::string& arguments) {
    CommandLine command;
    std::int64_t frames = 1;
    std::int64_t frame = 0;
    int threads = 0;
    double split = 0;
    command.add_option("--frames", frames, "")->positive();
    command.add_option("--frame", frame, "")->not_negative();
    command.add_option("--threads", threads, "")->in_range(1, 1024);
    command.add_option("--split", split, "")->in_range(0.0, 1.0);
    command.add_option("--size", threads, "");
    return usage_error(command, arguments);
  };
  for (const std::string value : {"0", "-3", "abc", "1.5", "5x", "99999999999999999999"}) {
    EXPECT_EQ(error("--frames=" + value), "--frames: '" + value + "' is not a whole number from 1 on");
  }
  EXPECT_EQ(error("--frame=-1"), "--frame: '-1' is not a whole number from 0 on");
  EXPECT_EQ(error("--threads=1025"), "--threads: '1025' is not a whole number from 1 to 1024");
  for (const std::string value : {"1.01", "nan", "x"}) {
    EXPECT_EQ(error("--split=" + value), "--split: '" + value + "' is not a number from 0 to 1");
  }
  for (const std::string value : {"3.5", "x", "99999999999"}) {
    EXPECT_EQ(error("--size=" + value), "--size: '" + value + "' is not a whole number");
  }
  EXPECT_EQ(error("--frames 9223372036854775807 --frame 0 --threads 1024 --split 0.5"), "no error");
}

TEST(CommandLine, NamesAreTheSameInCapitals) {
  EXPECT_EQ(parse_filter_options("--filter BM3D --profile Fast"), Filter(bm3d_profile(Profile::kFast)));
  EXPECT_EQ(parse_filter_list("NLM:decay=9", {}).front().filter.filter(), Filter(NlmParameters{.h = 9.0F}));
}

TEST(Printable, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(printable("esc\033[31mred\n\x7f"), "esc\\x1b[31mred\\x0a\\x7f");
  EXPECT_EQ(printable("caf\xC3\xA9 \xC2\xB0 \xC2\x9B"), "caf\xC3\xA9 \xC2\xB0 \\xc2\\x9b");
  EXPECT_EQ(printable(std::string("a\xE2\x80") + "\xAEvkm.exe"), "a\\xe2\\x80\\xaevkm.exe");
  EXPECT_EQ(printable(std::string("\xE2\x81") + "\xA6x\xE2\x81" + "\xA9\xE2\x80" + "\x8F\xD8" +
                      "\x9C\xE2\x80" + "\xA8"),
            "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x80\\xa8");
  EXPECT_EQ(printable("\u2013 \u20AC \u0431 \xE2\x80"), "\u2013 \u20AC \u0431 \xE2\x80");
}

TEST(NoiseControl, TellsTheLevelsThatWereUsed) {
  const auto engine = engine_registry().open("cpu");
  NoiseControl control(
      {.noise = NoiseProfile{NoiseModel{{10, 20, 30}}, std::nullopt}, .strength = {1.4F, 1.4F}}, *engine);
  Frame frame;
  frame.format.color_model = ColorModel::kYuv;
  for (int i = 0; i < 3; ++i) {
    control.level_for(frame);
  }
  EXPECT_FALSE(control.is_estimated());
  EXPECT_EQ(control.levels().first, (NoiseModel{{14, 28, 42}}));
  EXPECT_EQ(control.levels().mean, control.levels().last);
  const nlohmann::ordered_json json = to_json(control.levels().first, frame.format);
  EXPECT_FLOAT_EQ(json["V"], 42);
}

TEST(RunReport, TellsAllOfAFiltersSettings) {
  Frame frame;
  frame.format.color_model = ColorModel::kYuv;
  const NoiseModel noise{{10, 0, 5}};
  const nlohmann::ordered_json bm3d =
      to_json(parse_filter_options("--filter bm3d:tau=99:steps=1"), noise, frame.format);
  EXPECT_EQ(bm3d["name"], "bm3d");
  EXPECT_EQ(bm3d["hard_threshold"]["tau"], 99);
  EXPECT_EQ(bm3d["hard_threshold"]["transform_2d"], "bior1.5") << "np's";
  EXPECT_TRUE(bm3d["wiener"].is_null());
  const nlohmann::ordered_json bilateral =
      to_json(parse_filter_options("--filter bilateral:radius=7"), noise, frame.format);
  EXPECT_EQ(bilateral["Y"]["radius"], 7);
  EXPECT_GT(bilateral["Y"]["range_sigma"], bilateral["V"]["range_sigma"]);
  EXPECT_TRUE(bilateral["U"].is_null()) << "it isn't filtered";
}

TEST(PlanJobs, AFileThatExistsIsAnOutputOnlyWithItsOption) {
  const test::TemporaryFolder folder;
  const std::string input = (folder.path() / "a.mkv").string();
  const std::string second = (folder.path() / "b.mkv").string();
  for (const std::string& file : {input, second}) {
    std::ofstream(file) << "a video";
  }
  try {
    plan_jobs({input, second}, "");
    FAIL() << "the second file would be replaced";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              second + ": exists and may be meant as a second input; name the output with -o");
  }
  EXPECT_EQ(plan_jobs({input}, second).output, second);
  const std::string absent = (folder.path() / "c.mkv").string();
  EXPECT_EQ(plan_jobs({input, absent}, "").output, absent);
  EXPECT_EQ(plan_jobs({input, "/dev/null"}, "").output, "/dev/null");
  EXPECT_TRUE(plan_jobs({input, folder.path().string()}, "").into_folder);
}

}  // namespace
}  // namespace limpid::app
