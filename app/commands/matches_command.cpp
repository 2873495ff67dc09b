// SPDX-License-Identifier: MIT
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/contact_sheet.h"
#include "app/commands/measuring.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "app/options/filter_options.h"
#include "app/options/media_options.h"
#include "app/options/noise_options.h"
#include "core/base/error.h"
#include "core/bm3d/matched_group.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "io/media/reader.h"
#include "io/media/writer.h"
#include "io/screen/display.h"
#include "io/screen/png.h"
#include "io/screen/text.h"

// limpid matches: draws a group of BM3D's first step.

namespace limpid::app {
namespace {

struct MatchesOptions {
  std::string input;
  std::string at;
  std::string output;
  NoiseOptions noise;
  std::int64_t frame = 0;
  FilterOptions filter{"bm3d"};
  bool local_only = false;
  bool overwrite = false;
  bool json = false;
};

constexpr int kLeastPictureSide = 640;  // to which the picture is enlarged
constexpr int kMargin = 8;              // samples around the search window
constexpr int kTextScale = 2;
constexpr io::Pixel kReferenceColor = io::make_pixel(255, 64, 64);
constexpr io::Pixel kWindowColor = io::make_pixel(255, 220, 0);
constexpr io::Pixel kMatchColor = io::make_pixel(64, 255, 96);
constexpr io::Pixel kPaper = io::make_pixel(32, 32, 32);

/// A frame that was read from the input, and how to show it as it is stored, not turned.
struct Picture {
  Frame frame;
  io::DisplayProperties display;
};

Picture read_picture(const MatchesOptions& options) {
  io::Reader reader = open_video(options.input, options.local_only);
  Picture picture;
  picture.display = reader.display();
  picture.display.orientation = {};
  for (std::int64_t i = 0; i <= options.frame; ++i) {
    std::optional<Frame> frame = next_frame(reader);
    if (!frame) {
      throw Error(
          fmt::format("{}: there is no frame {}; the video has {} frames", options.input, options.frame, i));
    }
    picture.frame = std::move(*frame);
  }
  if (picture.frame.interlaced) {
    throw Error(fmt::format("{}: frame {} is interlaced; interlaced frames are not supported", options.input,
                            options.frame));
  }
  return picture;
}

/// The outline of samples [x, x + width) x [y, y + height) of the enlarged crop.
void draw_outline(io::RgbImage& image, const CropPlace& place, int factor, int x, int y, int width,
                  int height, io::Pixel color) {
  const int x0 = (x - place.x) * factor;
  const int y0 = (y - place.y) * factor;
  const int x1 = std::min(x0 + width * factor, image.width) - 1;
  const int y1 = std::min(y0 + height * factor, image.height) - 1;
  const int thickness = std::max(factor / 6, 1);
  for (int i = 0; i < thickness; ++i) {
    std::fill(image.row(y0 + i) + x0, image.row(y0 + i) + x1 + 1, color);
    std::fill(image.row(y1 - i) + x0, image.row(y1 - i) + x1 + 1, color);
    for (int row = y0; row <= y1; ++row) {
      image.row(row)[x0 + i] = color;
      image.row(row)[x1 - i] = color;
    }
  }
}

/// The legend's lines: number, position relative to the reference patch, distance.
std::vector<std::string> legend(const MatchedGroup& group) {
  const MatchedPatch& reference = group.patches.front();
  std::vector<std::string> lines = {fmt::format("{:>2} at {},{}", "R", reference.x, reference.y)};
  for (std::size_t i = 1; i < group.patches.size(); ++i) {
    const MatchedPatch& patch = group.patches[i];
    lines.push_back(fmt::format("{:>2} {:>+4},{:>+4} {:>8.1f}", i, patch.x - reference.x,
                                patch.y - reference.y, patch.distance));
  }
  return lines;
}

io::RgbImage draw(const Picture& picture, const MatchedGroup& group) {
  io::RgbImage whole;
  io::DisplayConverter(picture.frame.format, picture.display).convert(picture.frame, whole);
  CropPlace place;
  const int k = group.patch_size;
  place.x = std::max(group.window_x0 - kMargin, 0);
  place.y = std::max(group.window_y0 - kMargin, 0);
  place.width = std::min(group.window_x1 + k - 1 + kMargin, whole.width) - place.x;
  place.height = std::min(group.window_y1 + k - 1 + kMargin, whole.height) - place.y;
  const int side = std::max(place.width, place.height);
  const int factor = (kLeastPictureSide + side - 1) / side;
  io::RgbImage view = enlarge(crop(whole, place), factor);

  draw_outline(view, place, factor, group.window_x0, group.window_y0,
               group.window_x1 - group.window_x0 + k - 1, group.window_y1 - group.window_y0 + k - 1,
               kWindowColor);
  // The closest on top.
  for (std::size_t i = group.patches.size(); i-- > 0;) {
    const MatchedPatch& patch = group.patches[i];
    const io::Pixel color = i == 0 ? kReferenceColor : kMatchColor;
    draw_outline(view, place, factor, patch.x, patch.y, k, k, color);
    io::draw_text(view, (patch.x - place.x) * factor + factor / 3, (patch.y - place.y) * factor + factor / 3,
                  i == 0 ? "R" : std::to_string(i), kTextScale, color);
  }

  const std::vector<std::string> lines = legend(group);
  int width = 0;
  for (const std::string& line : lines) {
    width = std::max(width, io::text_width(line, kTextScale));
  }
  const int line_height = io::text_height(kTextScale);
  io::RgbImage image;
  image.resize(view.width + width + 3 * kMargin,
               std::max(view.height, static_cast<int>(lines.size()) * line_height + 2 * kMargin));
  std::fill(image.pixels.begin(), image.pixels.end(), kPaper);
  for (int y = 0; y < view.height; ++y) {
    std::copy_n(view.row(y), view.width, image.row(y));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    io::draw_text(image, view.width + kMargin, kMargin + static_cast<int>(i) * line_height, lines[i],
                  kTextScale, i == 0 ? kReferenceColor : kMatchColor);
  }
  return image;
}

void print_json(const MatchesOptions& options, const MatchedGroup& group) {
  nlohmann::ordered_json json;
  json["input"] = options.input;
  json["frame"] = options.frame;
  json["patch_size"] = group.patch_size;
  json["search_window"] = {{"x", group.window_x0},
                           {"y", group.window_y0},
                           {"width", group.window_x1 - group.window_x0},
                           {"height", group.window_y1 - group.window_y0}};
  for (const MatchedPatch& patch : group.patches) {
    json["patches"].push_back({{"x", patch.x}, {"y", patch.y}, {"distance", patch.distance}});
  }
  print_report(json);
}

int matches(const MatchesOptions& options, Console& console) {
  set_up_logging(console, {.level = "warning", .file = ""});
  io::require_other_file(options.output, options.input);
  const Point at = parse_point("--at", options.at);
  const std::optional<NoiseProfile> given = options.noise.settings().noise;
  const Picture picture = read_picture(options);
  const std::shared_ptr<Engine> engine = engine_registry().open("cpu");
  const NoiseModel noise = given ? given->noise : engine->estimate_noise(picture.frame);
  const MatchedGroup group = engine->patch_search()->find_matches(
      picture.frame, std::get<Bm3dParameters>(options.filter.filter()), noise, at.x, at.y);
  io::write_png(options.output, draw(picture, group),
                options.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever);
  if (options.json) {
    print_json(options, group);
  } else {
    for (const std::string& line : legend(group)) {
      std::cout << line << '\n';
    }
  }
  return kExitDone;
}

}  // namespace

void add_matches_command(CommandLine& program, Command& selected) {
  CommandLine* command =
      program.add_subcommand("matches", "Draw the group of similar patches that BM3D finds for one patch");
  auto options = std::make_shared<MatchesOptions>();
  command->add_option("INPUT", options->input, "Video or picture")->required()->file();
  command->add_option("--at", options->at, "Sample at the center of the reference patch")
      ->type_name("X,Y")
      ->required();
  command->add_option("-o,--output", options->output, "Picture to write, as PNG")
      ->type_name("FILE")
      ->file(".png")
      ->required();
  add_local_only(*command, options->local_only);
  command->add_flag("-y,--overwrite", options->overwrite, "Overwrite an existing output");
  command->add_option("--frame", options->frame, "Number of the frame, from 0 [0]")
      ->type_name("N")
      ->not_negative();
  options->noise.add_sigma_to(*command);
  command->add_flag("--json", options->json, "Print JSON");
  options->filter.add_to(*command);
  command->footer(
      "Red: the reference patch, which is the patch of the engine's grid nearest to --at. Yellow: its search "
      "window. Green: the matches, numbered in the engine's order. The list contains their "
      "offsets from the reference patch and their distances (mean squared differences, in squared 8-bit code "
      "values).");
  command->callback([&selected, options] {
    selected = [options](Console& console) { return matches(*options, console); };
  });
}

}  // namespace limpid::app
