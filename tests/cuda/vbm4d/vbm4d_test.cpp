// SPDX-License-Identifier: MIT
// V-BM4D on a GPU compared with the CPU engine, on pictures too large for the oracle, and its memory. The
// suite of all engines, tests/core/vbm4d, defines its results.
#include "cuda/vbm4d/vbm4d.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/engine/window_denoiser.h"
#include "cuda/vbm4d/groups.h"
#include "tests/core/motion/moving_pictures.h"
#include "tests/cuda/cuda_test.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

class Vbm4dCuda : public CudaTest {};

std::vector<Frame> results_of(Engine& engine, const std::vector<Frame>& frames,
                              const Vbm4dParameters& parameters, const NoiseModel& noise) {
  const auto denoiser = engine.make_denoiser(parameters, noise, frames[0].format);
  std::vector<Frame> results;
  const auto take_all = [&] {
    while (std::optional<Frame> result = denoiser->receive()) {
      results.push_back(std::move(*result));
    }
  };
  for (const Frame& frame : frames) {
    denoiser->send(frame);
    take_all();
  }
  denoiser->flush();
  take_all();
  return results;
}

void expect_agreement(const std::vector<Frame>& frames, const NoiseModel& noise) {
  const auto gpu = open_cuda("cuda:0", {});
  const auto cpu = engine_registry().open("cpu");
  for (const Vbm4dProfile profile : {Vbm4dProfile::kFast, Vbm4dProfile::kNp, Vbm4dProfile::kHigh}) {
    SCOPED_TRACE(static_cast<int>(profile));
    const Vbm4dParameters parameters = vbm4d_profile(profile);
    const std::vector<Frame> on_gpu = results_of(*gpu, frames, parameters, noise);
    const std::vector<Frame> on_cpu = results_of(*cpu, frames, parameters, noise);
    const std::vector<Frame> again = results_of(*gpu, frames, parameters, noise);
    ASSERT_EQ(on_gpu.size(), frames.size());
    for (std::size_t t = 0; t < frames.size(); ++t) {
      EXPECT_GE(oracle::compare(on_gpu[t], on_cpu[t]).psnr, 60) << t;
      EXPECT_TRUE(oracle::same_bits(on_gpu[t], again[t])) << t;
    }
    // For the whole clip: if rounding decides on a patch, all samples that differ can be in one frame. Not
    // for profile fast, as in BM3D: samples are in few groups.
    const oracle::Agreement agreement = oracle::compare(on_gpu, on_cpu);
    EXPECT_TRUE(profile == Vbm4dProfile::kFast || oracle::within_contract(agreement))
        << oracle::to_string(agreement);
  }
}

TEST_F(Vbm4dCuda, AgreesWithTheCpuAlongMotion) {
  for (const int bit_depth : {8, 10, 32}) {
    std::vector<Frame> frames;
    for (int t = 0; t < 12; ++t) {
      const auto scene = [&](int x, int y) {
        return x / 3 + y < 120 ? test::endless_texture(x + 3 * t, y - 2 * t)
                               : test::endless_texture(x - 7 * t, y, 1);
      };
      frames.push_back(test::frame_of(test::draw(203, 141, scene, 20, t + 1), bit_depth));
      frames.back().index = t;
    }
    expect_agreement(frames, {{20}});
  }
}

TEST_F(Vbm4dCuda, AgreesWithTheCpuInColorAndWhereNothingMoves) {
  for (const FrameFormat& format : {oracle::yuv(160, 121, 1, 1), oracle::rgb(130, 96)}) {
    std::vector<Frame> frames;
    for (int t = 0; t < 10; ++t) {
      frames.push_back(oracle::add_noise(oracle::draw_picture(format), 15, t));
      frames.back().index = t;
    }
    expect_agreement(frames, {{15, 15, 15}});
  }
}

// Passes the frames of a stream through a filter, as an engine does.
void enqueue_frames(FrameFilter& filter, const SamplePlanes& samples, const SamplePlanes& out, int count,
                    const std::vector<std::unique_ptr<FrameState>>& states, cudaStream_t stream) {
  const Reach reach = filter.reach();
  std::deque<FilteredFrame> frames;
  for (int t = 0; t < count; ++t) {
    if (frames.size() == states.size()) {
      filter.renew(*frames.front().state);
      frames.pop_front();
    }
    FrameState& state = *states[static_cast<std::size_t>(t) % states.size()];
    frames.push_back({samples, false, {{20, 20, 20}}, &state});
    if (t >= reach.after) {
      FilterWindow window;
      window.frames.assign(frames.begin(), frames.end());
      window.current = frames.size() - 1 - static_cast<std::size_t>(reach.after);
      filter.enqueue_window(window, out, stream);
    }
  }
  for (const FilteredFrame& frame : frames) {
    filter.renew(*frame.state);
  }
  check(cudaStreamSynchronize(stream));
}

TEST_F(Vbm4dCuda, AllocatesNothingOnceAllFramesAreThere) {
  const FrameFormat format = oracle::yuv(96, 80, 1, 1);
  for (const std::optional<int> delay :
       {std::optional<int>(), std::optional<int>(0), std::optional<int>(3)}) {
    Vbm4dParameters parameters = vbm4d_profile(Vbm4dProfile::kNp);
    parameters.delay = delay;
    Vbm4d filter(parameters, format);
    const DeviceFrame in(format);
    const DeviceFrame out(format);
    const Stream stream;
    copy(oracle::draw_picture(format), in.planes(), cudaMemcpyHostToDevice, stream.get());
    std::vector<std::unique_ptr<FrameState>> states;
    for (int i = 0; i <= filter.reach().before + filter.reach().after; ++i) {
      states.push_back(filter.make_state());
    }
    enqueue_frames(filter, in.planes(), out.planes(), 60, states, stream.get());
    const std::size_t memory = filter.memory();
    enqueue_frames(filter, in.planes(), out.planes(), 90, states, stream.get());
    EXPECT_EQ(filter.memory(), memory);
  }
}

// The result of a plane after `groups` groups of one patch each, all of the same patch, of which only the
// mean is kept.
std::vector<float> estimate_of(int groups, const std::vector<float>& plane, int side,
                               const TemporalSpan& span = {}) {
  constexpr int kAt = 20;
  Vbm4dStep step;
  step.spacing = 8;
  const GroupSums format(true, step, span);
  const GroupSamples samples{128, 1, side};
  Vbm4dParameters parameters;
  parameters.hard_threshold = step;
  const Bm3dParameters of_bm3d = bm3d_of(parameters);
  const FilterTables tables = make_filter_tables(of_bm3d.hard_threshold);
  const std::size_t count = plane.size();
  const auto values = DeviceMemory::copy_of(plane);
  const FloatPlane in_values{values.as<float>(), side, side, side};
  const DeviceMemory noisy(count * sizeof(std::uint16_t));
  store_halves(in_values, samples, noisy.as(), nullptr);
  const DeviceMemory sums(format.bytes_of(side, side));
  check(cudaMemset(sums.as(), 0, sums.bytes()));
  std::vector<float> matrices(GroupTransforms::floats());
  GroupTransforms::fill(matrices.data());
  const auto transforms = DeviceMemory::copy_of(matrices);
  const auto shapes =
      DeviceMemory::copy_of(std::vector<unsigned>(groups, 1U + (1U << Trajectories::kWantedShift)));
  const auto places = DeviceMemory::copy_of(std::vector<unsigned>(groups, kAt + (kAt << 16)));
  const std::vector<float> variances(64, 1.0F);
  GroupJob job;
  job.grid = make_grid(side, side, limpid::vbm4d::kPatch, step.spacing);
  job.grid.columns = groups;
  job.grid.rows = 1;
  job.groups.shapes = shapes.as<unsigned>();
  job.groups.places = places.as<unsigned>();
  job.groups.pictures = job.groups.capacity = 1;
  job.groups.last_row = 1;
  job.samples = samples;
  job.format = format;
  job.noisy[0] = noisy.as();
  job.sums[0] = sums.as();
  job.lambda = 100;
  job.sigma = 20;
  job.variances = variances;
  job.tables = &tables;
  job.transforms = transforms.as<float>();
  filter_trajectories(job, nullptr);
  finish_estimate(format, sums.as(), noisy.as(), samples, tables, in_values, nullptr);
  return to_host<float>(values, count);
}

TEST_F(Vbm4dCuda, MakesNoEstimateWhereMorePatchesMeetThanSumsHold) {
  constexpr int kSide = 56;
  std::vector<float> plane(kSide * kSide);
  double mean = 0;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      plane[y * kSide + x] = static_cast<float>((x * 37 + y * 91) % 256);
      if (x >= 20 && x < 28 && y >= 20 && y < 28) {
        mean += static_cast<double>(plane[y * kSide + x]) / 64;
      }
    }
  }
  constexpr int kCenter = 23 * kSide + 23;
  for (const int groups : {1, 20, 40}) {
    EXPECT_NEAR(estimate_of(groups, plane, kSide)[kCenter], mean, 0.02) << groups;
  }
  // Content that enters the picture during 16 frames is followed back to its edge.
  const TemporalSpan far_back{.before = 16, .after = 0, .spread = 16};
  EXPECT_NEAR(estimate_of(100, plane, kSide, far_back)[kCenter], mean, 0.02);
  for (const int groups : {60, 5000, 100000}) {
    EXPECT_EQ(estimate_of(groups, plane, kSide)[kCenter], plane[kCenter]) << groups;
  }
}

}  // namespace
}  // namespace limpid::cuda
