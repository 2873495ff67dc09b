// SPDX-License-Identifier: MIT
// The C library with frames in a GPU's memory: bit-exact with frames in host memory; its module is in the
// library's folder.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <limpid.h>

#include <string>
#include <vector>

#include "tests/cuda/cuda_test.h"
#include "tests/lib/handles.h"
#include "tests/oracle/pictures.h"

namespace limpid::cuda {
namespace {

using lib::Handle;
using lib::sized;

// A frame's planes on the device, with padded rows.
class OnDevice {
 public:
  explicit OnDevice(const FrameFormat& format) : format_(format) {
    for (int p = 0; p < format.plane_count(); ++p) {
      strides_.push_back((static_cast<std::size_t>(format.plane_width(p)) + 40) *
                         static_cast<std::size_t>(format.bytes_per_sample()));
      planes_.emplace_back(strides_.back() * static_cast<std::size_t>(format.plane_height(p)));
    }
    check(cudaEventCreateWithFlags(&ready_, cudaEventDisableTiming));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice(OnDevice&&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  OnDevice& operator=(OnDevice&&) = delete;
  ~OnDevice() { cudaEventDestroy(ready_); }

  limpid_frame c() {
    auto frame = sized<limpid_frame>();
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      frame.planes[p] = {planes_[p].as(), static_cast<std::ptrdiff_t>(strides_[p]), 0};
    }
    frame.memory = LIMPID_CUDA;
    frame.ready = ready_;
    return frame;
  }
  void fill(const Frame& from) {
    copy(from, cudaMemcpyHostToDevice);
    check(cudaEventRecord(ready_, cudaStreamPerThread));
  }
  Frame to_host() {
    const Frame frame = allocate_frame(format_);
    copy(frame, cudaMemcpyDeviceToHost);
    check(cudaStreamSynchronize(cudaStreamPerThread));
    return frame;
  }

 private:
  void copy(const Frame& host, cudaMemcpyKind kind) {
    const bool up = kind == cudaMemcpyHostToDevice;
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      const Plane& plane = host.planes[p];
      const auto stride = static_cast<std::size_t>(plane.stride);
      check(cudaMemcpy2DAsync(up ? planes_[p].as() : plane.data, up ? strides_[p] : stride,
                              up ? plane.data : planes_[p].as(), up ? stride : strides_[p],
                              static_cast<std::size_t>(plane.width * host.format.bytes_per_sample()),
                              static_cast<std::size_t>(plane.height), kind, cudaStreamPerThread));
    }
  }

  FrameFormat format_;
  std::vector<std::size_t> strides_;
  std::vector<DeviceMemory> planes_;
  cudaEvent_t ready_ = nullptr;
};

using Library = CudaTest;

TEST_F(Library, FramesOnTheDeviceHaveTheBitsOfThoseInTheHostsMemory) {
  for (const char* filter : {"bm3d", "vbm4d", "bilateral"}) {
    for (const FrameFormat& format :
         {oracle::yuv(98, 66, 1, 1), oracle::yuv(97, 65, 0, 0, 10), oracle::as_float(oracle::rgb(97, 65))}) {
      SCOPED_TRACE(std::string(filter) + ", " + to_string(format));
      const Frame clean = oracle::draw_picture(format);
      std::vector<Frame> frames;
      for (std::uint64_t i = 0; i < 4; ++i) {
        frames.push_back(oracle::add_noise(clean, 10, i + 1));
      }
      const auto start_on = [&](limpid_denoiser* denoiser) {
        for (const auto& [name, value] :
             {std::pair{"filter", filter}, {"engine", "cuda:0"}, {"noise", "auto"}}) {
          ASSERT_EQ(limpid_set(denoiser, name, value), LIMPID_OK) << limpid_error(denoiser);
        }
        ASSERT_EQ(lib::start(denoiser, format), LIMPID_OK) << limpid_error(denoiser);
      };
      const Handle in_host;
      start_on(in_host);
      const std::vector<Frame> expected = lib::denoise(in_host, frames);
      ASSERT_EQ(expected.size(), frames.size());

      const Handle on_device;
      start_on(on_device);
      std::vector<std::unique_ptr<OnDevice>> sent;
      std::vector<std::unique_ptr<OnDevice>> places;
      for (const Frame& frame : frames) {
        sent.push_back(std::make_unique<OnDevice>(format));
        places.push_back(std::make_unique<OnDevice>(format));
        sent.back()->fill(frame);
        const limpid_frame in = sent.back()->c();
        limpid_frame out = places.back()->c();
        out.ready = nullptr;
        ASSERT_EQ(limpid_send_to(on_device, &in, &out), LIMPID_OK) << limpid_error(on_device);
      }
      ASSERT_EQ(limpid_flush(on_device), LIMPID_OK);
      for (std::size_t i = 0; i < frames.size(); ++i) {
        auto result = sized<limpid_frame>();
        ASSERT_EQ(limpid_receive(on_device, &result), LIMPID_OK) << limpid_error(on_device);
        EXPECT_EQ(result.memory, LIMPID_CUDA);
        EXPECT_TRUE(oracle::same_bits(places[i]->to_host(), expected[i])) << "frame " << i;
        limpid_release(&result);
      }
    }
  }
}

}  // namespace
}  // namespace limpid::cuda
