// SPDX-License-Identifier: MIT
// OBS without its window: sends the frames of a raw I420 file through a source with the filter, as OBS draws
// them, and writes what the filter makes of each, as a second filter behind it sees it. Usage: obs_host
// PLUGIN WIDTH HEIGHT IN OUT SETTING=VALUE...    Needs an X server.
#include <X11/Xlib.h>
#include <obs-nix-platform.h>
#include <obs.h>
#include <util/platform.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void require(bool done, const char* what) {
  if (!done) {
    throw std::runtime_error(what);
  }
}

struct Recording {
  std::ofstream file;
  std::uint64_t last_time = 0;
  std::atomic<int> frames = 0;
};

Recording& recording() {
  static Recording recording;
  return recording;
}

void write_plane(const obs_source_frame& frame, int plane, std::uint32_t width, std::uint32_t height) {
  for (std::uint32_t y = 0; y < height; ++y) {
    recording().file.write(
        reinterpret_cast<const char*>(frame.data[plane]) + std::size_t{y} * frame.linesize[plane], width);
  }
}

// OBS may show a frame several times; the filter gets it once.
obs_source_frame* record(void* /*data*/, obs_source_frame* frame) {
  if (frame->timestamp != recording().last_time) {
    recording().last_time = frame->timestamp;
    write_plane(*frame, 0, frame->width, frame->height);
    write_plane(*frame, 1, (frame->width + 1) / 2, (frame->height + 1) / 2);
    write_plane(*frame, 2, (frame->width + 1) / 2, (frame->height + 1) / 2);
    ++recording().frames;
  }
  return frame;
}

void register_own(const char* id, obs_source_type type,
                  obs_source_frame* (*filter)(void*, obs_source_frame*)) {
  obs_source_info info{};
  info.id = id;
  info.type = type;
  info.output_flags = OBS_SOURCE_ASYNC_VIDEO;
  info.get_name = [](void* /*data*/) { return "test"; };
  info.create = [](obs_data_t* /*settings*/, obs_source_t* source) -> void* { return source; };
  info.destroy = [](void* /*data*/) {};
  info.filter_video = filter;
  obs_register_source(&info);
}

void start_video(std::uint32_t width, std::uint32_t height) {
  obs_video_info video{};
  video.graphics_module = "libobs-opengl";
  video.fps_num = 4;  // slow, so that no frame is late
  video.fps_den = 1;
  video.base_width = video.output_width = width;
  video.base_height = video.output_height = height;
  video.output_format = VIDEO_FORMAT_I420;
  video.colorspace = VIDEO_CS_709;
  video.range = VIDEO_RANGE_PARTIAL;
  video.scale_type = OBS_SCALE_POINT;
  video.gpu_conversion = true;
  require(obs_reset_video(&video) == OBS_VIDEO_SUCCESS, "no video");
}

// Frame by frame, as OBS processes them.
void send(obs_source_t* source, const std::vector<char>& clip, std::uint32_t width, std::uint32_t height) {
  const std::uint32_t chroma_width = (width + 1) / 2;
  const std::uint32_t chroma_size = chroma_width * ((height + 1) / 2);
  const std::size_t frame_size = std::size_t{width} * height + 2 * chroma_size;
  int sent = 0;
  for (std::size_t at = 0; at + frame_size <= clip.size(); at += frame_size) {
    auto* const data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(clip.data() + at));
    obs_source_frame frame{};
    frame.data[0] = data;
    frame.data[1] = data + std::size_t{width} * height;
    frame.data[2] = frame.data[1] + chroma_size;
    frame.linesize[0] = width;
    frame.linesize[1] = frame.linesize[2] = chroma_width;
    frame.width = width;
    frame.height = height;
    frame.format = VIDEO_FORMAT_I420;
    frame.timestamp = os_gettime_ns();
    video_format_get_parameters(VIDEO_CS_709, VIDEO_RANGE_PARTIAL, frame.color_matrix, frame.color_range_min,
                                frame.color_range_max);
    obs_source_output_video(source, &frame);
    ++sent;
    for (int tries = 0; recording().frames < sent && tries < 100; ++tries) {
      os_sleep_ms(50);
    }
    require(recording().frames == sent, "OBS doesn't draw");
  }
}

void run(const std::vector<std::string>& arguments) {
  require(arguments.size() >= 6, "usage: obs_host PLUGIN WIDTH HEIGHT IN OUT SETTING=VALUE...");
  const auto width = static_cast<std::uint32_t>(std::stoul(arguments[2]));
  const auto height = static_cast<std::uint32_t>(std::stoul(arguments[3]));
  std::ifstream in(arguments[4], std::ios::binary);
  const std::vector<char> clip{std::istreambuf_iterator<char>(in), {}};
  recording().file.open(arguments[5], std::ios::binary);

  Display* const display = XOpenDisplay(nullptr);
  require(display != nullptr, "no display");
  obs_set_nix_platform(OBS_NIX_PLATFORM_X11_EGL);
  obs_set_nix_platform_display(display);
  require(obs_startup("en-US", nullptr, nullptr), "libobs doesn't start");
  start_video(width, height);
  obs_module_t* module = nullptr;
  require(
      obs_open_module(&module, arguments[1].c_str(), nullptr) == MODULE_SUCCESS && obs_init_module(module),
      "the plug-in isn't loaded");
  register_own("test_source", OBS_SOURCE_TYPE_INPUT, nullptr);
  register_own("test_recorder", OBS_SOURCE_TYPE_FILTER, record);

  obs_data_t* const settings = obs_data_create();
  for (std::size_t i = 6; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    obs_data_set_string(settings, arguments[i].substr(0, equals).c_str(), arguments[i].c_str() + equals + 1);
  }
  obs_source_t* const source = obs_source_create("test_source", "source", nullptr, nullptr);
  obs_source_t* const filter = obs_source_create("limpid_denoise", "filter", settings, nullptr);
  obs_source_t* const recorder = obs_source_create("test_recorder", "recorder", nullptr, nullptr);
  obs_source_set_async_unbuffered(source, true);
  obs_source_filter_add(source, filter);
  obs_source_filter_add(source, recorder);
  obs_set_output_source(0, source);
  send(source, clip, width, height);

  obs_set_output_source(0, nullptr);
  for (obs_source_t* one : {recorder, filter}) {
    obs_source_filter_remove(source, one);
    obs_source_release(one);
  }
  obs_source_release(source);
  obs_data_release(settings);
  obs_shutdown();
  require(bnum_allocs() == 0, "memory of libobs's is left");
  require(static_cast<bool>(recording().file.flush()), "the result can't be written");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "obs_host: %s\n", error.what());
    return 1;
  }
}
