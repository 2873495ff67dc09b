// SPDX-License-Identifier: MIT
#include <dlfcn.h>

#include <array>
#include <string>

#include "core/base/error.h"
#include "cuda/bm3d/fourier/fourier.h"

namespace limpid::cuda {
namespace {

// The used part of fourier.h, which has not changed since CUDA 6.5.
struct Library {
  int (*create)(int* plan) = nullptr;
  int (*destroy)(int plan) = nullptr;
  int (*set_auto_allocation)(int plan, int on) = nullptr;
  int (*make_plan_many)(int plan, int rank, int* sizes, int* in_sizes, int in_stride, int in_distance,
                        int* out_sizes, int out_stride, int out_distance, int type, int batch,
                        std::size_t* work_bytes) = nullptr;
  int (*set_work_area)(int plan, void* work) = nullptr;
  int (*set_stream)(int plan, cudaStream_t stream) = nullptr;
  int (*execute_forward)(int plan, float* in, void* out) = nullptr;
  int (*execute_inverse)(int plan, void* in, float* out) = nullptr;
};

template <typename Function>
void resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(std::string("cuFFT has no function ") + name);
  }
}

Library load() {
  void* library = nullptr;
  for (const char* name : {"libcufft.so.12", "/usr/local/cuda/lib64/libcufft.so.12", "libcufft.so.11"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      break;
    }
  }
  if (library == nullptr) {
    throw Error(
        "Fourier transforms require NVIDIA's cuFFT, but libcufft.so.12 cannot be loaded; install it, or add "
        "its folder to LD_LIBRARY_PATH");
  }
  Library functions;
  resolve(library, "cufftCreate", functions.create);
  resolve(library, "cufftDestroy", functions.destroy);
  resolve(library, "cufftSetAutoAllocation", functions.set_auto_allocation);
  resolve(library, "cufftMakePlanMany", functions.make_plan_many);
  resolve(library, "cufftSetWorkArea", functions.set_work_area);
  resolve(library, "cufftSetStream", functions.set_stream);
  resolve(library, "cufftExecR2C", functions.execute_forward);
  resolve(library, "cufftExecC2R", functions.execute_inverse);
  return functions;
}

const Library& library() {
  static const Library functions = load();
  return functions;
}

void check_cufft(int status, const char* function = __builtin_FUNCTION()) {
  if (status != 0) {
    throw Error("cuFFT reports error " + std::to_string(status) + " (" + function + ")");
  }
}

}  // namespace

CufftPlan::CufftPlan(Direction direction, int rank, const int* sizes, std::size_t batch)
    : direction_(direction) {
  check_cufft(library().create(&plan_));
  std::array<int, 3> samples{};
  std::array<int, 3> coefficients{};
  int patches = 1;
  for (int i = 0; i < rank; ++i) {
    samples[i] = coefficients[i] = sizes[i];
    patches *= i + 1 < rank ? sizes[i] : 1;
  }
  std::array<int, 3> transformed = samples;
  coefficients[rank - 1] = sizes[rank - 1] / 2 + 1;
  samples[rank - 1] = 2 * coefficients[rank - 1];
  const int sample_distance = patches * samples[rank - 1];
  const int coefficient_distance = patches * coefficients[rank - 1];
  const bool forward = direction == Direction::kForward;
  try {
    check_cufft(library().set_auto_allocation(plan_, 0));
    check_cufft(library().make_plan_many(
        plan_, rank, transformed.data(), (forward ? samples : coefficients).data(), 1,
        forward ? sample_distance : coefficient_distance, (forward ? coefficients : samples).data(), 1,
        forward ? coefficient_distance : sample_distance, static_cast<int>(direction),
        static_cast<int>(batch), &work_bytes_));
  } catch (...) {
    library().destroy(plan_);
    throw;
  }
}

CufftPlan::~CufftPlan() { library().destroy(plan_); }

void CufftPlan::execute(float* data, std::byte* work, cudaStream_t stream) const {
  check_cufft(library().set_stream(plan_, stream));
  check_cufft(library().set_work_area(plan_, work));
  check_cufft(direction_ == Direction::kForward ? library().execute_forward(plan_, data, data)
                                                : library().execute_inverse(plan_, data, data));
}

}  // namespace limpid::cuda
