// SPDX-License-Identifier: MIT
// Denoises raw 8-bit frames in 4:2:0, in memory of the library, without copies:
// denoise_raw WIDTH HEIGHT <noisy.yuv >clean.yuv
// It prints the engines and the estimated noise to standard error.
#include <limpid.h>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>

#include <cstdio>
#endif

namespace {

struct Free {
  void operator()(limpid_denoiser* denoiser) const { limpid_free(&denoiser); }
};
using Denoiser = std::unique_ptr<limpid_denoiser, Free>;

// A frame of the library, released at the end.
class Frame {
 public:
  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { limpid_release(&frame_); }

  limpid_frame* get() { return &frame_; }

  // Calls each(row, bytes) for the rows of all planes.
  template <typename Each>
  void for_each_row(const limpid_format& format, const Each& each) {
    for (int p = 0; p < 3; ++p) {
      const int shift = p == 0 ? 0 : 1;
      for (int y = 0; y < (format.height + shift) >> shift; ++y) {
        each(static_cast<char*>(frame_.planes[p].data) + y * frame_.planes[p].stride,
             (format.width + shift) >> shift);
      }
    }
  }

 private:
  limpid_frame frame_ = LIMPID_FRAME_INIT;
};

limpid_status checked(const Denoiser& denoiser, limpid_status status) {
  if (status < 0) {
    throw std::runtime_error(limpid_error(denoiser.get()));
  }
  return status;
}

void write_results(const Denoiser& denoiser, const limpid_format& format) {
  for (;;) {
    Frame result;
    if (checked(denoiser, limpid_receive(denoiser.get(), result.get())) != LIMPID_OK) {
      return;
    }
    result.for_each_row(format, [](const char* row, int bytes) { std::cout.write(row, bytes); });
  }
}

void denoise(const limpid_format& format) {
  limpid_denoiser* made = nullptr;
  if (limpid_new(&made, nullptr) != LIMPID_OK) {
    throw std::runtime_error(limpid_error(nullptr));
  }
  const Denoiser denoiser(made);
  limpid_set_log(
      made, [](void*, limpid_log_level, const char* sentence) { std::cerr << sentence << '\n'; }, nullptr);
  checked(denoiser, limpid_start(made, &format));
  for (bool more = true; more;) {
    Frame frame;
    checked(denoiser, limpid_allocate(made, frame.get()));
    frame.for_each_row(format, [&](char* row, int bytes) { more = more && std::cin.read(row, bytes); });
    checked(denoiser, more ? limpid_send(made, frame.get()) : limpid_flush(made));
    write_results(denoiser, format);
  }
  limpid_noise noise{};
  noise.struct_size = sizeof noise;
  if (limpid_get_noise(made, &noise) == LIMPID_OK) {
    std::cerr << "sigma " << noise.sigma[0] << ", " << noise.sigma[1] << ", " << noise.sigma[2] << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
#ifdef _WIN32  // would convert the ends of lines
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  if (argc != 3) {
    std::cerr << "usage: denoise_raw WIDTH HEIGHT\n";
    return 2;
  }
  limpid_list_engines(
      [](void*, const limpid_engine_info* engine) {
        std::cerr << engine->name << ": " << engine->description << '\n';
      },
      nullptr);
  try {
    denoise({sizeof(limpid_format), std::atoi(argv[1]), std::atoi(argv[2]), LIMPID_YUV, 1, 1, LIMPID_UINT8, 8,
             0});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
