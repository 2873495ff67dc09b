// SPDX-License-Identifier: MIT
// Prints how well block motion estimated on noisy frames fits the clean frames, and the share of the noise
// that remains in differences along it.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "bench/support/command.h"
#include "core/base/error.h"
#include "core/frame/frame.h"
#include "core/motion/motion_blocks.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/runtime/planes.h"
#include "io/media/reader.h"
#include "tests/oracle/motion.h"
#include "tests/oracle/pictures.h"

namespace limpid::benchmarks {
namespace {

constexpr double kSigmas[] = {0, 20, 40, 50};
constexpr int kLumaOfRgb[] = {1, 2, 1};  // quarters

// Pairs of frames at a distance, and the radius of the exhaustive search.
struct Clip {
  const char* file;
  int first;
  int apart;
  int pairs;
  int radius;
};
constexpr Clip kClips[] = {
    {"video/akiyo_qcif_gray_100f.mkv", 0, 3, 3, 8},
    {"video/hall_monitor_qcif_gray_100f.mkv", 40, 3, 3, 8},
    {"video/bus_qcif_15fps.y4m", 3, 5, 3, 24},
    {"video/basketballpass_240p_100f.mkv", 3, 18, 3, 32},
    {"video/foreman_cif_intra_300f.264", 150, 20, 3, 24},
    {"video/mobile_cif_pcm_30f.264", 2, 3, 3, 8},
    {"video/tennis_sif_100f.mkv", 4, 12, 3, 24},
    {"video/hypersmooth_540p_30f.avi", 2, 6, 2, 24},
    {"video/dinner_507p_30f.mkv", 2, 6, 2, 16},
    {"video/baseball_720p_10f.mkv", 3, 4, 1, 48},
    {"odd/parkjoy_480x270_10f.y4m", 2, 4, 2, 32},
};

struct Options {
  std::filesystem::path data = LIMPID_DATA_DIR;
  std::string only;
  std::string json_file;
};

// The luma, for RGB a rough luminance, in integer code values.
oracle::BytePicture luma_of(const Frame& frame) {
  const int width = frame.format.width;
  oracle::BytePicture picture = {width, frame.format.height, {}};
  std::vector<float> row(static_cast<std::size_t>(width));
  for (int y = 0; y < picture.height; ++y) {
    std::vector<float> luma(row.size());
    if (frame.format.color_model == ColorModel::kRgb) {
      for (int p = 0; p < 3; ++p) {
        load_code_values(frame.planes[p], frame.format, 0, y, width, row.data());
        for (std::size_t x = 0; x < row.size(); ++x) {
          luma[x] += row[x] * static_cast<float>(kLumaOfRgb[p]) / 4;
        }
      }
    } else {
      load_code_values(frame.planes[0], frame.format, 0, y, width, luma.data());
    }
    for (const float value : luma) {
      picture.samples.push_back(static_cast<std::uint8_t>(std::lround(value)));
    }
  }
  return picture;
}

struct Pair {
  Frame reference;
  Frame current;
};

MotionField estimate(const Pair& pair) {
  cpu::MotionPyramid pyramids[2];
  const auto build = [](cpu::MotionPyramid& pyramid, const Frame& frame) {
    pyramid.build(frame.format, cpu::picture_of(frame.format, frame.planes, pictures_of(false).front()));
  };
  build(pyramids[0], pair.reference);
  build(pyramids[1], pair.current);
  MotionField field;
  cpu::MotionEstimator().estimate(pyramids[0], pyramids[1], field, {.quarters = true});
  return field;
}

std::vector<Pair> read_pairs(const std::filesystem::path& file, const Clip& clip) {
  io::Reader reader(file.string());
  std::vector<Pair> pairs;
  Frame before;
  for (int number = 0; static_cast<int>(pairs.size()) < clip.pairs;) {
    io::Reader::Item item = reader.read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      throw Error(file.string() + " has fewer frames than are compared");
    }
    if (const Frame* frame = std::get_if<Frame>(&item)) {
      if (number > clip.first && (number - clip.first) % clip.apart == 1) {
        pairs.push_back({before, *frame});
      }
      before = *frame;
      ++number;
    }
  }
  return pairs;
}

// Ratio of the energy of noise in differences along vectors to that of both pictures' noise.
double noise_left(const Pair& clean, const Pair& noisy, const MotionField& field) {
  const oracle::BytePicture pictures[] = {luma_of(clean.reference), luma_of(noisy.reference),
                                          luma_of(clean.current), luma_of(noisy.current)};
  double left = 0;
  double added = 0;
  for (int y = 0; y < MotionField::kBlock * field.rows; ++y) {
    for (int x = 0; x < MotionField::kBlock * field.columns; ++x) {
      const MotionVector& v = field.vectors[field.block_at(x, y)];
      const double before = pictures[1].at(x + v.x, y + v.y) - pictures[0].at(x + v.x, y + v.y);
      const double now = pictures[3].at(x, y) - pictures[2].at(x, y);
      left += (now - before) * (now - before);
      added += now * now + before * before;
    }
  }
  return added > 0 ? left / added : 1;
}

nlohmann::ordered_json measure(const std::filesystem::path& file, const Clip& clip) {
  nlohmann::ordered_json result;
  result["clip"] = file.stem().string();
  double at_rest = 0;
  double exhaustive = 0;
  struct Found {
    double error = 0;
    double quarters_error = 0;
    double lost = 0;
    double noise = 0;
  };
  std::vector<Found> found(std::size(kSigmas));
  const std::vector<Pair> pairs = read_pairs(file, clip);
  std::uint64_t seed = 0;
  for (const Pair& pair : pairs) {
    const oracle::BytePicture reference = luma_of(pair.reference);
    const oracle::BytePicture current = luma_of(pair.current);
    at_rest += oracle::compensated_error(reference, current,
                                         oracle::find_motion_exhaustively(reference, current, 0));
    exhaustive += oracle::compensated_error(
        reference, current, oracle::find_motion_exhaustively(reference, current, clip.radius));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Pair noisy = {oracle::add_noise(pair.reference, kSigmas[i], ++seed),
                          oracle::add_noise(pair.current, kSigmas[i], ++seed)};
      MotionField field = estimate(noisy);
      found[i].quarters_error += oracle::compensated_error(reference, current, field);
      field.quarters.clear();
      found[i].error += oracle::compensated_error(reference, current, field);
      found[i].lost += oracle::lost_share(field, motion::difference_of_noise(kSigmas[i]));
      found[i].noise += noise_left(pair, noisy, field);
    }
  }
  const auto count = static_cast<double>(pairs.size());
  result["at_rest"] = at_rest / count;
  result["exhaustive"] = exhaustive / count;
  for (std::size_t i = 0; i < found.size(); ++i) {
    result["found"].push_back({{"sigma", kSigmas[i]},
                               {"error", found[i].error / count},
                               {"quarters_error", found[i].quarters_error / count},
                               {"lost", found[i].lost / count},
                               {"noise_left", found[i].noise / count}});
  }
  return result;
}

void run(const Options& options) {
  std::printf(
      "Mean squared difference of clean frames along vectors found with noise of sigma 0, 20, 40, 50\n\n");
  std::printf(
      "| clip | at rest | exhaustive 8x8 | whole samples: 0 | 20 | 40 | 50 | quarters: 0 | 20 | 40 | 50 "
      "| lost blocks, %% | noise left, %% |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  nlohmann::ordered_json json;
  for (const Clip& clip : kClips) {
    const std::filesystem::path file = options.data / clip.file;
    if (file.string().find(options.only) == std::string::npos) {
      continue;
    }
    const nlohmann::ordered_json result = measure(file, clip);
    std::printf("| %s | %.1f | %.1f |", result["clip"].get<std::string>().c_str(),
                result["at_rest"].get<double>(), result["exhaustive"].get<double>());
    for (const char* const error : {"error", "quarters_error"}) {
      for (const auto& found : result["found"]) {
        std::printf(" %.1f |", found[error].get<double>());
      }
    }
    for (const char* const share : {"lost", "noise_left"}) {
      for (const auto& found : result["found"]) {
        std::printf(" %.0f", 100 * found[share].get<double>());
      }
      std::printf(" |");
    }
    std::printf("\n");
    json.push_back(result);
  }
  if (!options.json_file.empty()) {
    std::ofstream out(options.json_file);
    out << json.dump(2) << '\n';
    if (!out.flush()) {
      throw Error(options.json_file + " can't be written");
    }
  }
}

}  // namespace
}  // namespace limpid::benchmarks

int main(int argc, char** argv) {
  using namespace limpid;
  app::CommandLine command("How well block motion fits clean frames, found in noise", "motion_quality");
  benchmarks::Options options;
  command.add_option("--data", options.data, "Folder of test data")->type_name("FOLDER");
  command.add_option("--only", options.only, "Clips whose name contains this")->type_name("TEXT");
  command.add_option("--json", options.json_file, "Write the figures to a file too")->type_name("FILE");
  return benchmarks::run_command(command, argc, argv, [&] { benchmarks::run(options); });
}
