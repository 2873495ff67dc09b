// SPDX-License-Identifier: MIT
// V-BM4D and VNLB on a GPU: whole frames in device memory, by profile, format and content, and each
// kernel of a step. Without FFmpeg, so that it runs on a bare GPU machine:
//   vbm4d_cuda_benchmark [--image lena_512x512.gray] [--json results.json] [--repeats 30] [--only np]
//                        [--clip clip.y4m]...
// The image is 512x512 bytes; without it one is drawn. --only takes the name of a profile, or "np whole"
// (motion to whole samples), "np camera" (a camera's noise), "np live", "vnlb np". With real clips, of 8 bits
// and 4:2:0, only whole frames of these are timed, with and without noise of sigma 10.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/cuda/support/support.h"
#include "bench/support/y4m_clip.h"
#include "core/engine/denoiser.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/runtime.h"
#include "cuda/vbm4d/groups.h"
#include "cuda/vbm4d/vbm4d.h"

namespace limpid::cuda {
namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;
constexpr int kDistinct = 12;  // frames of a clip, which is then repeated backward
constexpr int kSide = 512;     // of the picture

enum class Content { kMoving, kDrifting, kBroken, kNoise, kFlat, kBlack };

bool is_picture(Content content) {
  return content == Content::kMoving || content == Content::kDrifting || content == Content::kBroken;
}

// Sample (x, y) of frame t, without noise: a moving picture, a part of which moves in the opposite direction,
// by whole samples or by fractions; or a picture divided into squares, each of which shows another part of it
// every few frames.
float clean_sample(const std::vector<std::uint8_t>& picture, Content content, int t, int x, int y,
                   int height = kHeight) {
  if (content == Content::kBlack) {
    return 0;
  }
  if (!is_picture(content)) {
    return 128;
  }
  const auto mirrored = [](int i) {
    const int reduced = (i % (2 * kSide) + 2 * kSide) % (2 * kSide);
    return reduced < kSide ? reduced : 2 * kSide - 1 - reduced;
  };
  const auto at = [&](int u, int v) {
    return static_cast<float>(picture[static_cast<std::size_t>(mirrored(v)) * kSide + mirrored(u)]);
  };
  if (content == Content::kBroken) {
    constexpr int kSquare = 48;
    const int square = y / kSquare * 97 + x / kSquare;
    const int part = square * 31 + (t + square % 7) / (2 + square % 11);
    return at(x + part * 173, y + part * 59);
  }
  const bool before = x / 3 + y > height;
  if (content == Content::kMoving) {
    return before ? at(x - 11 * t, y) : at(x + 5 * t, y - 2 * t);
  }
  const float u = static_cast<float>(x) + static_cast<float>(t) * (before ? -10.6F : 5.3F);
  const float v = static_cast<float>(y) - static_cast<float>(t) * (before ? 0.2F : 2.4F);
  const auto left = static_cast<int>(std::floor(u));
  const auto top = static_cast<int>(std::floor(v));
  return std::lerp(std::lerp(at(left, top), at(left + 1, top), u - std::floor(u)),
                   std::lerp(at(left, top + 1), at(left + 1, top + 1), u - std::floor(u)), v - std::floor(v));
}

template <typename Sample>
void store_row(const std::vector<float>& code_values, int bit_depth, Sample* row) {
  const auto scale = static_cast<float>(1 << (bit_depth - 8));
  const float most = 256 * scale - 1;
  for (std::size_t x = 0; x < code_values.size(); ++x) {
    row[x] = static_cast<Sample>(std::clamp(std::round(code_values[x] * scale), 0.0F, most));
  }
}

// Noise of kSigma, generated once and read from different positions for each plane.
class StoredNoise {
 public:
  StoredNoise(int frame, int plane) : next_(static_cast<std::size_t>(frame * 4 + plane) * 1000003) {}

  float next() { return values()[next_++ % kCount]; }

 private:
  static constexpr std::size_t kCount = 1 << 22;

  static const std::vector<float>& values() {
    static const std::vector<float> all = [] {
      std::mt19937 generator(1);
      std::normal_distribution<float> gaussian(0, kSigma);
      std::vector<float> noise(kCount);
      std::generate(noise.begin(), noise.end(), [&] { return gaussian(generator); });
      return noise;
    }();
    return all;
  }

  std::size_t next_;
};

// The clip's frames, in page-locked host memory.
std::vector<Frame> make_clip(Engine& engine, const FrameFormat& format,
                             const std::vector<std::uint8_t>& picture, Content content) {
  std::vector<Frame> clip;
  for (int t = 0; t < kDistinct; ++t) {
    Frame& frame = clip.emplace_back(engine.allocate_frame(format));
    for (int p = 0; p < format.plane_count(); ++p) {
      const int shift_x = p > 0 ? format.chroma_shift_x : 0;
      const int shift_y = p > 0 ? format.chroma_shift_y : 0;
      StoredNoise noise(t, p);
      for (int y = 0; y < frame.planes[p].height; ++y) {
        std::vector<float> values(frame.planes[p].width);
        for (float& value : values) {
          const int x = static_cast<int>(&value - values.data());
          value = clean_sample(picture, content, t, x << shift_x, y << shift_y, format.height);
          if (is_picture(content) || content == Content::kNoise) {
            value += noise.next() * (content == Content::kNoise ? 2.5F : 1.0F);
          }
        }
        if (format.sample_type == SampleType::kUint8) {
          store_row(values, 8, frame.planes[p].row<std::uint8_t>(y));
        } else {
          store_row(values, format.bit_depth, frame.planes[p].row<std::uint16_t>(y));
        }
      }
    }
  }
  return clip;
}

// The number of frame t of a clip of `count` frames that is repeated backward and forward.
int distinct_of(int t, int count = kDistinct) {
  const int reduced = t % (2 * count - 2);
  return reduced < count ? reduced : 2 * count - 2 - reduced;
}

// Successive frames through a filter, all in device memory.
class FilteredStream {
 public:
  FilteredStream(FrameFilter& filter, const FrameFormat& format, const std::vector<Frame>& clip,
                 const NoiseModel& noise)
      : filter_(filter), out_(format), noise_(noise) {
    for (const Frame& frame : clip) {
      samples_.push_back(std::make_unique<DeviceFrame>(format));
      copy(frame, samples_.back()->planes(), cudaMemcpyHostToDevice, stream_.get());
      check(cudaStreamSynchronize(stream_.get()));
    }
    const Reach reach = filter.reach();
    for (int i = 0; i <= reach.before + reach.after; ++i) {
      states_.push_back(filter.make_state());
    }
    for (int i = 0; i < reach.after; ++i) {
      push();
    }
  }

  // Enqueues one frame's result.
  void enqueue() {
    push();
    FilterWindow window;
    window.frames.assign(frames_.begin(), frames_.end());
    window.current = frames_.size() - 1 - static_cast<std::size_t>(filter_.reach().after);
    filter_.enqueue_window(window, out_.planes(), stream_.get());
  }

  double ms_per_frame(int repeats) {
    // Until every result depends on the maximum number of frames, and nothing is allocated any more.
    for (std::size_t i = 0; i < 2 * states_.size() + 4; ++i) {
      enqueue();
    }
    constexpr int kBatch = 8;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      check(cudaEventRecord(begin, stream_.get()));
      for (int j = 0; j < kBatch; ++j) {
        enqueue();
      }
      check(cudaEventRecord(end, stream_.get()));
      check(cudaEventSynchronize(end));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end));
      times.push_back(static_cast<double>(ms) / kBatch);
    }
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2];
  }

 private:
  void push() {
    if (frames_.size() == states_.size()) {
      frames_.pop_front();
    }
    FrameState& state = *states_[static_cast<std::size_t>(next_) % states_.size()];
    filter_.renew(state);
    const int number = distinct_of(next_, static_cast<int>(samples_.size()));
    frames_.push_back({samples_[number]->planes(), false, noise_, &state});
    ++next_;
  }

  FrameFilter& filter_;
  Stream stream_;
  DeviceFrame out_;
  NoiseModel noise_;
  std::vector<std::unique_ptr<DeviceFrame>> samples_;
  std::vector<std::unique_ptr<FrameState>> states_;
  std::deque<FilteredFrame> frames_;
  int next_ = 0;
};

// The kernels of both steps on luma, for the groups of one picture in the middle of the clip.
void time_kernels(const std::string& name, const Vbm4dParameters& parameters, const std::vector<Frame>& noisy,
                  const std::vector<Frame>& clean, int repeats, nlohmann::ordered_json& json) {
  const FrameFormat format = gray(kWidth, kHeight);
  const Vbm4dPlan plan = make_plan(parameters, format, white_noise(), plane_heights(format, PictureRows{}));
  const int pictures = parameters.before + 1 + parameters.after;
  const GroupSamples samples{128, 1, kWidth};
  const std::size_t count = static_cast<std::size_t>(kWidth) * kHeight;
  const DeviceMemory values(count * sizeof(float));
  const FloatPlane plane{values.as<float>(), kWidth, kHeight, kWidth};
  std::vector<DeviceMemory> kept;
  const auto take = [&](std::size_t bytes) -> DeviceMemory& { return kept.emplace_back(bytes); };
  kept.reserve(static_cast<std::size_t>(pictures) * 5 + 3);
  std::vector<std::unique_ptr<MotionPyramid>> pyramids;
  std::vector<std::unique_ptr<DeviceMotionField>> fields;
  MotionEstimator estimator(kWidth, kHeight);
  TrajectoryJob trajectories[2];
  GroupJob groups[2];
  for (int p = 0; p < pictures; ++p) {
    for (int step = 0; step < 2; ++step) {
      const Frame& frame = (step == 0 ? noisy : clean)[distinct_of(p)];
      const DeviceFrame uploaded(format);
      copy(frame, uploaded.planes(), cudaMemcpyHostToDevice, nullptr);
      load_plane(format, uploaded.planes()[0], plane, nullptr);
      DeviceMemory& guide = take(TrajectoryGuide::bytes_of(kWidth, kHeight));
      trajectories[step].guides[p] = TrajectoryGuide::first_of(guide.as<std::int8_t>(), kWidth);
      trajectories[step].noisy_guides[p] = trajectories[0].guides[p];
      prepare_guide(plane, limpid::vbm4d::kGuideScale,
                    TrajectoryGuide::first_of(guide.as<std::int8_t>(), kWidth), nullptr);
      const std::size_t positions = samples.positions(kHeight);
      if (step == 1) {
        DeviceMemory& pairs = take(positions * 2 * sizeof(std::uint16_t));
        store_pairs(plane, samples, true, groups[0].noisy[p], pairs.as(), nullptr);
        groups[1].basic[p] = pairs.as();
      } else {
        DeviceMemory& halves = take(positions * sizeof(std::uint16_t));
        store_halves(plane, samples, halves.as(), nullptr);
        groups[0].noisy[p] = groups[1].noisy[p] = halves.as();
        pyramids.push_back(std::make_unique<MotionPyramid>(kWidth, kHeight));
        pyramids.back()->enqueue(format, uploaded.planes(), nullptr);
      }
      check(cudaDeviceSynchronize());
    }
    DeviceMemory& sums =
        take(GroupSums(true, parameters.hard_threshold, temporal_span(parameters)).bytes_of(kWidth, kHeight));
    check(cudaMemset(sums.as(), 0, sums.bytes()));
    if (p >= parameters.before - temporal_span(parameters).spread) {
      groups[0].sums[p] = groups[1].sums[p] = sums.as();
    }
  }
  for (int p = 0; p + 1 < pictures; ++p) {
    DeviceMotionField& ahead = *fields.emplace_back(std::make_unique<DeviceMotionField>(kWidth, kHeight));
    DeviceMotionField& back = *fields.emplace_back(std::make_unique<DeviceMotionField>(kWidth, kHeight));
    estimator.enqueue_both(*pyramids[p], *pyramids[p + 1], {ahead, plan.motion_noise},
                           {back, plan.motion_noise}, nullptr);
    for (TrajectoryJob& job : trajectories) {
      job.ahead[p] = FollowedField(ahead);
      job.back[p + 1] = FollowedField(back);
    }
  }
  std::vector<float> matrices(GroupTransforms::floats());
  GroupTransforms::fill(matrices.data());
  const auto transforms = DeviceMemory::copy_of(matrices);
  std::vector<unsigned> words(InterpolatingTransforms::kWords);
  InterpolatingTransforms::fill(*bm3d_of(parameters).wiener, words.data());
  const auto interpolating = DeviceMemory::copy_of(words);
  const DeviceMemory similar(static_cast<std::size_t>(MatchingPlane::pitch_of(kWidth)) *
                             MatchingPlane::rows_of(kHeight) * sizeof(std::int16_t));
  for (int step = 0; step < 2; ++step) {
    const Vbm4dStep& its = step == 0 ? parameters.hard_threshold : *parameters.wiener;
    const FilterTables tables = make_filter_tables(bm3d_of(parameters).hard_threshold);
    TrajectoryJob& job = trajectories[step];
    job.grid = make_grid(kWidth, kHeight, limpid::vbm4d::kPatch, its.spacing);
    job.own = parameters.before;
    job.columns = kWidth / MotionField::kBlock;
    job.rows = kHeight / MotionField::kBlock;
    job.bounds = plan.bounds[0][step];
    job.step = step == 0 ? bm3d_of(parameters).hard_threshold : *bm3d_of(parameters).wiener;
    job.matching = &choose(matching_variants(), job.step, device_limits());
    job.similar = {similar.as<std::int16_t>(), limpid::vbm4d::kGuideScale, kWidth, kHeight,
                   MatchingPlane::pitch_of(kWidth)};
    const std::size_t number = static_cast<std::size_t>(job.grid.columns) * job.grid.rows;
    const DeviceMemory memory(number * Trajectories::bytes_of(pictures, its.max_group_size));
    job.out.pictures = pictures;
    job.out.capacity = its.max_group_size;
    job.out.last_row = job.grid.rows;
    job.out.shapes = memory.as<unsigned>();
    job.out.places = job.out.shapes + number;
    job.out.members = reinterpret_cast<std::int16_t*>(job.out.places + number * pictures);
    if (job.bounds.quarters) {
      job.out.quarters = reinterpret_cast<std::uint8_t*>(job.out.members + number * its.max_group_size);
    }
    GroupJob& filter = groups[step];
    filter.grid = job.grid;
    filter.groups = job.out;
    filter.own = job.own;
    filter.format = GroupSums(true, its, temporal_span(parameters));
    filter.samples = samples;
    filter.lambda = parameters.lambda;
    filter.sigma = kSigma;
    filter.variances = plan.planes.components[0].coefficient_variances[step];
    filter.tables = &tables;
    filter.transforms = transforms.as<float>();
    filter.interpolating = interpolating.as<unsigned>();
    nlohmann::ordered_json& entry = json[name + (step == 0 ? ", first step" : ", second step")];
    entry["follow_ms"] = time_ms(repeats, [&] { follow_trajectories(job, nullptr); });
    entry["filter_ms"] = time_ms(repeats, [&] { filter_trajectories(filter, nullptr); });
    entry["estimate_ms"] = time_ms(repeats, [&] {
      finish_estimate(filter.format, filter.sums[filter.own], filter.noisy[filter.own], samples, tables,
                      plane, nullptr);
    });
    std::vector<unsigned> shapes(number);
    check(cudaMemcpy(shapes.data(), job.out.shapes, number * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::size_t whole = 0;
    double length = 0;
    for (const unsigned shape : shapes) {
      const int frames = std::popcount(shape & ((1U << Trajectories::kWantedShift) - 1));
      whole += frames == pictures ? 1U : 0U;
      length += frames;
    }
    entry["whole"] = static_cast<double>(whole) / static_cast<double>(number);
    entry["length"] = length / static_cast<double>(number);
    std::printf("%-22s step %d: follow %7.3f, filter %7.3f, estimate %7.3f ms; whole %.2f, length %.1f\n",
                name.c_str(), step + 1, entry["follow_ms"].get<double>(), entry["filter_ms"].get<double>(),
                entry["estimate_ms"].get<double>(), entry["whole"].get<double>(),
                entry["length"].get<double>());
  }
}

// Frames per second through the denoiser, from page-locked memory and back.
double streamed_fps(Engine& engine, const Vbm4dParameters& parameters, const std::vector<Frame>& clip) {
  const auto denoiser = engine.make_denoiser(parameters, white_noise(), clip.front().format);
  const int in_flight = denoiser->concurrency() + reach_of(parameters).after;
  const auto stream = [&](int count) {
    int received = 0;
    for (int i = 0; i < count; ++i) {
      denoiser->send(clip[distinct_of(i)]);
      if (i >= in_flight) {
        received += denoiser->receive().has_value() ? 1 : 0;
      }
    }
    denoiser->flush();
    while (denoiser->receive()) {
      ++received;
    }
    return received;
  };
  stream(4 * in_flight);
  denoiser->reset();
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kFrames = 600;
  const int received = stream(kFrames);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return received / seconds.count();
}

void time_streams(Engine& engine, const std::vector<std::uint8_t>& picture, const std::string& only,
                  nlohmann::ordered_json& json) {
  const std::pair<const char*, FrameFormat> formats[] = {
      {"1920x1080 yuv420p", yuv420p(kWidth, kHeight)},
      {"3840x2160 yuv420p, 10 bit", yuv420p(2 * kWidth, 2 * kHeight, 10)}};
  for (const auto& [format_name, format] : formats) {
    const std::vector<Frame> clip = make_clip(engine, format, picture, Content::kMoving);
    for (const auto& [name, profile] : {std::pair{"fast", Vbm4dProfile::kFast}, {"np", Vbm4dProfile::kNp}}) {
      if (only.empty() || only == name) {
        const double fps = streamed_fps(engine, vbm4d_profile(profile), clip);
        std::printf("%-8s %-28s %8.0f fps\n", name, format_name, fps);
        json.push_back({{"profile", name}, {"format", format_name}, {"fps", fps}});
      }
    }
  }
}

struct TimedFilter {
  std::string name;
  Filter filter;
  NoiseModel noise = white_noise();
};

template <typename Sample>
void add_noise(Frame& frame, int number, float sigma) {
  const auto scale = static_cast<float>(1 << (frame.format.bit_depth - 8));
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    StoredNoise noise(number, p);
    for (int y = 0; y < frame.planes[p].height; ++y) {
      Sample* const row = frame.planes[p].row<Sample>(y);
      std::vector<float> values(row, row + frame.planes[p].width);
      for (float& value : values) {
        value = value / scale + noise.next() * (sigma / kSigma);
      }
      store_row(values, frame.format.bit_depth, row);
    }
  }
}

// Whole frames of a real clip.
void time_clip(Engine& engine, const std::string& file, const std::vector<TimedFilter>& filters, int repeats,
               nlohmann::ordered_json& json) {
  constexpr float kClipSigma = 10;
  constexpr int kMostFrames = 24;
  const std::string name = std::filesystem::path(file).stem().string();
  const std::pair<const char*, FrameFormat> formats[] = {
      {"yuv420p", yuv420p(kWidth, kHeight)}, {"4K yuv420p10", yuv420p(2 * kWidth, 2 * kHeight, 10)}};
  for (const auto& [format_name, format] : formats) {
    std::vector<Frame> clip = benchmarks::read_y4m(file, engine, format, kMostFrames);
    for (const bool noisy : {false, true}) {
      for (int t = 0; noisy && t < static_cast<int>(clip.size()); ++t) {
        format.sample_type == SampleType::kUint8 ? add_noise<std::uint8_t>(clip[t], t, kClipSigma)
                                                 : add_noise<std::uint16_t>(clip[t], t, kClipSigma);
      }
      for (const TimedFilter& timed : filters) {
        const std::unique_ptr<FrameFilter> filter = make_filter(timed.filter, format);
        const NoiseModel noise{{kClipSigma, kClipSigma, kClipSigma}};
        FilteredStream stream(*filter, format, clip, noise);
        const double ms = stream.ms_per_frame(repeats);
        std::printf("%-14s %-12s %-22s %10.3f ms %8.0f fps\n", timed.name.c_str(), format_name,
                    (name + (noisy ? ", noisy" : "")).c_str(), ms, 1000 / ms);
        json.push_back(
            {{"profile", timed.name}, {"format", format_name}, {"clip", name}, {"noisy", noisy}, {"ms", ms}});
      }
    }
  }
}

void time_clips(Engine& engine, const BenchmarkOptions& options, const std::vector<TimedFilter>& filters) {
  std::vector<TimedFilter> selected = filters;
  if (!options.only.empty()) {
    const std::string names = "," + options.only + ",";
    std::erase_if(selected, [&](const TimedFilter& timed) {
      return names.find("," + timed.name + ",") == std::string::npos;
    });
  }
  nlohmann::ordered_json json;
  json["device"] = engine.description();
  for (const std::string& file : options.clips) {
    time_clip(engine, file, selected, std::max(options.repeats / 6, 3), json["clips"]);
  }
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

void benchmark(int argc, char** argv) {
  const BenchmarkOptions options = parse_options(argc, argv);
  const std::vector<std::uint8_t> picture = load_picture(options);
  const auto engine = open_cuda("cuda:0", {});
  const DeviceScope scope(0);
  std::printf("%s\n\n", engine->description().c_str());
  nlohmann::ordered_json json;
  json["device"] = engine->description();
  std::vector<std::pair<std::string, Vbm4dParameters>> of_vbm4d;
  for (const auto& [name, profile] :
       {std::pair("fast", Vbm4dProfile::kFast), std::pair("lc", Vbm4dProfile::kLc),
        std::pair("np", Vbm4dProfile::kNp), std::pair("high", Vbm4dProfile::kHigh),
        std::pair("best", Vbm4dProfile::kBest)}) {
    of_vbm4d.emplace_back(name, vbm4d_profile(profile));
  }
  of_vbm4d.emplace_back("np whole", vbm4d_profile(Vbm4dProfile::kNp));
  of_vbm4d.back().second.motion_precision = 1;
  of_vbm4d.emplace_back("np live", vbm4d_live_profile(Vbm4dProfile::kNp));
  of_vbm4d.emplace_back("high live", vbm4d_live_profile(Vbm4dProfile::kHigh));
  std::vector<TimedFilter> settings;
  for (const auto& [name, parameters] : of_vbm4d) {
    settings.push_back({name, parameters});
  }
  settings.push_back({"np camera", vbm4d_profile(Vbm4dProfile::kNp), camera_noise()});
  settings.push_back({"recursive fast", recursive_profile(RecursiveProfile::kFast)});
  settings.push_back({"recursive np", recursive_profile(RecursiveProfile::kNp)});
  settings.push_back({"vnlb fast", vnlb_profile(VnlbProfile::kFast)});
  settings.push_back({"vnlb np", vnlb_profile(VnlbProfile::kNp)});
  settings.push_back({"vnlb high", vnlb_profile(VnlbProfile::kHigh)});
  settings.push_back({"vnlb best", vnlb_profile(VnlbProfile::kBest)});
  if (!options.clips.empty()) {
    return time_clips(*engine, options, settings);
  }
  const std::pair<const char*, Content> contents[] = {
      {"moving", Content::kMoving}, {"drifting", Content::kDrifting}, {"broken", Content::kBroken},
      {"noise", Content::kNoise},   {"flat", Content::kFlat},         {"black", Content::kBlack}};
  const std::pair<const char*, FrameFormat> formats[] = {{"luma", gray(kWidth, kHeight)},
                                                         {"yuv420p", yuv420p(kWidth, kHeight)}};
  std::printf("%-10s %-8s %-8s %10s %10s\n", "profile", "format", "content", "ms", "MiB");
  for (const auto& [format_name, format] : formats) {
    for (const auto& [content_name, content] : contents) {
      const std::vector<Frame> clip = make_clip(*engine, format, picture, content);
      for (const TimedFilter& setting : settings) {
        if (!options.only.empty() && options.only != setting.name) {
          continue;
        }
        const std::unique_ptr<FrameFilter> filter = make_filter(setting.filter, format);
        FilteredStream stream(*filter, format, clip, setting.noise);
        nlohmann::ordered_json entry;
        entry["profile"] = setting.name;
        entry["format"] = format_name;
        entry["content"] = content_name;
        entry["ms"] = stream.ms_per_frame(std::max(options.repeats / 6, 3));
        entry["mib"] = static_cast<double>(filter->memory()) / (1 << 20);
        std::printf("%-10s %-8s %-8s %10.3f %10.0f\n", setting.name.c_str(), format_name, content_name,
                    entry["ms"].get<double>(), entry["mib"].get<double>());
        json["frames"].push_back(entry);
      }
    }
  }
  // The second step's basic estimate is the clip without noise; for noise alone, half of the noise.
  const FrameFormat luma = gray(kWidth, kHeight);
  const std::pair<const char*, Content> kernel_contents[] = {{"", Content::kMoving},
                                                             {", drifting", Content::kDrifting},
                                                             {", broken", Content::kBroken},
                                                             {", noise", Content::kNoise}};
  for (const auto& [content_name, content] : kernel_contents) {
    const std::vector<Frame> noisy = make_clip(*engine, luma, picture, content);
    std::vector<Frame> basic;
    for (int t = 0; t < kDistinct; ++t) {
      Frame& frame = basic.emplace_back(allocate_frame(luma));
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
          frame.planes[0].row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(
              is_picture(content) ? std::round(clean_sample(picture, content, t, x, y))
                                  : 64 + noisy[t].planes[0].row<std::uint8_t>(y)[x] / 2);
        }
      }
    }
    for (const auto& [name, parameters] : of_vbm4d) {
      if (options.only.empty() || options.only == name) {
        time_kernels(name + content_name, parameters, noisy, basic, options.repeats, json["kernels"]);
      }
    }
  }
  time_streams(*engine, picture, options.only, json["streams"]);
  if (!options.json.empty()) {
    std::ofstream(options.json) << json.dump(2) << '\n';
  }
}

}  // namespace
}  // namespace limpid::cuda

int main(int argc, char** argv) {
  return limpid::cuda::run_benchmark("vbm4d_cuda_benchmark", [&] { limpid::cuda::benchmark(argc, argv); });
}
