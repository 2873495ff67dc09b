// SPDX-License-Identifier: MIT
#include "app/commands/camera_list.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/console/console.h"
#include "app/console/json_report.h"
#include "app/console/logging.h"
#include "core/base/error.h"
#include "io/media/camera.h"

namespace limpid::app {

namespace {

// The name of a camera, with its device if another one has the same name; the device if it has no name.
std::string listed_name(const std::vector<io::Camera>& cameras, const std::string& device) {
  const auto camera = std::ranges::find(cameras, device, &io::Camera::node);
  const std::string name = camera != cameras.end() ? camera->name : io::video_device_name(device);
  const bool is_unique = std::ranges::count(cameras, name, &io::Camera::name) < 2;
  return name.empty() ? device : printable(name) + (is_unique ? "" : " (" + device + ")");
}

}  // namespace

int print_cameras(const std::string& device, bool as_json) {
  const std::vector<io::Camera> cameras = io::list_cameras(device);
  if (as_json) {
    nlohmann::ordered_json json;
    json["cameras"] = nlohmann::json::array();
    for (const io::Camera& camera : cameras) {
      nlohmann::ordered_json formats = nlohmann::json::array();
      for (const io::CameraFormat& format : camera.formats) {
        nlohmann::ordered_json modes = nlohmann::json::array();
        for (const auto& [size, rates] : format.modes) {
          modes.push_back({{"width", size.width}, {"height", size.height}, {"fps", rates}});
        }
        formats.push_back({{"name", format.name}, {"description", format.description}, {"modes", modes}});
      }
      json["cameras"].push_back({{"device", camera.node}, {"name", camera.name}, {"formats", formats}});
      if (!camera.failure.empty()) {
        json["cameras"].back()["failure"] = camera.failure;
      }
    }
    print_report(json);
    return kExitDone;
  }
  if (cameras.empty()) {
    std::cout << "no camera found: there is no /dev/video* that captures\n";
    spdlog::info("for other sources, set --input-format: x11grab for a screen, lavfi for a filter graph");
  }
  for (const io::Camera& camera : cameras) {
    std::cout << fmt::format("{}  {}\n", printable(camera.node),
                             printable(camera.failure.empty() ? camera.name : camera.failure));
    for (const io::CameraFormat& format : camera.formats) {
      std::cout << fmt::format("  {}  ({})\n", printable(format.name), printable(format.description));
      for (const auto& [size, rates] : format.modes) {
        std::string text;
        for (const double rate : rates) {
          text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", rate);
        }
        std::cout << fmt::format("    {}x{}{}\n", size.width, size.height,
                                 text.empty() ? "" : "  " + text + " fps");
      }
    }
  }
  return kExitDone;
}

std::string cameras_text() {
  std::string text;
  for (const io::Camera& camera : io::list_cameras()) {
    text += fmt::format("{}{} ({})", text.empty() ? "there are " : ", ", camera.node, camera.name);
  }
  return text.empty() ? "no camera is connected" : text;
}

std::string camera_name(const std::string& device) { return listed_name(io::list_cameras(), device); }

std::vector<CameraChoice> camera_choices(const std::string& device) {
  std::vector<CameraChoice> choices;
  std::vector<io::Camera> cameras = io::list_cameras();
  const auto is_listed = [&](const io::Camera& camera) { return camera.node == device; };
  if (std::ranges::none_of(cameras, is_listed)) {
    try {
      cameras = io::list_cameras(device);
    } catch (const Error&) {
      // A screen or a filter graph.
    }
  }
  for (const io::Camera& camera : cameras) {
    for (const io::CameraFormat& format : camera.formats) {
      for (const auto& [size, rates] : format.modes) {
        CameraChoice choice{.name = "",
                            .node = camera.node,
                            .format = format.name,
                            .size = fmt::format("{}x{}", size.width, size.height),
                            .fps = rates.empty() ? "" : fmt::format("{:.6g}", std::ranges::max(rates)),
                            .microphone = ""};
        choice.name =
            fmt::format("{}, {} {}{}", listed_name(cameras, camera.node), choice.size, choice.format,
                        choice.fps.empty() ? "" : fmt::format(" {} fps", choice.fps));
        choices.push_back(std::move(choice));
      }
    }
  }
  return choices;
}

}  // namespace limpid::app
