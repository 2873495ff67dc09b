// SPDX-License-Identifier: MIT
// The C library: bytes are calls in any order, with valid and invalid arguments, on two denoisers of small
// frames that share an engine. Every frame that is sent must be released once.
#include <fuzzer/FuzzedDataProvider.h>
#include <limpid.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kMostSide = 24;

/// Rows of the largest stride, 384 bytes, in both directions from the middle.
constexpr std::size_t kPlaneBytes = std::size_t{2} * 384 * kMostSide;

class Calls {
 public:
  Calls(const std::uint8_t* data, std::size_t size) : data_(data, size) {
    limpid_engine_new(&engine_, "cpu", 1);
  }
  Calls(const Calls&) = delete;
  Calls(Calls&&) = delete;
  Calls& operator=(const Calls&) = delete;
  Calls& operator=(Calls&&) = delete;
  ~Calls() {
    for (limpid_frame& frame : frames_) {
      limpid_release(&frame);
    }
    for (limpid_denoiser*& denoiser : denoisers_) {
      limpid_free(&denoiser);
    }
    limpid_engine_free(&engine_);
    if (released_ != lent_) {
      std::abort();
    }
  }

  void make() {
    constexpr int kMostCalls = 60;
    for (int call = 0; call < kMostCalls && data_.remaining_bytes() > 0; ++call) {
      make_one(data_.ConsumeIntegralInRange(0, 13));
    }
  }

 private:
  void make_one(int which) {
    limpid_denoiser*& denoiser = denoisers_[data_.ConsumeBool() ? 1 : 0];
    limpid_frame& kept = frames_[data_.ConsumeIntegralInRange<std::size_t>(0, frames_.size() - 1)];
    switch (which) {
      case 0:
        limpid_free(&denoiser);
        limpid_new(&denoiser, data_.ConsumeBool() ? engine_ : nullptr);
        set(denoiser, "threads", "1");
        break;
      case 1:
      case 2:
        set_any(denoiser);
        break;
      case 3:
        format_ = any_format();
        limpid_start(denoiser, &format_);
        break;
      case 4:
        limpid_release(&kept);
        kept.struct_size = sizeof kept;
        if (limpid_allocate(denoiser, &kept) == LIMPID_OK) {
          fill(kept);
        }
        break;
      case 5:
        limpid_send(denoiser, &kept);
        break;
      case 6:
      case 7: {
        const limpid_frame frame = any_frame();
        limpid_send(denoiser, &frame);
        break;
      }
      case 8: {
        const limpid_frame frame = any_frame();
        const limpid_frame result = any_frame();
        limpid_send_to(denoiser, &frame, &result);
        break;
      }
      case 9:
        limpid_release(&kept);
        kept.struct_size = sizeof kept;
        limpid_receive(denoiser, &kept);
        break;
      case 10: {
        limpid_frame frame = any_frame(false);
        limpid_receive_into(denoiser, &frame);
        break;
      }
      case 11:
        data_.ConsumeBool() ? limpid_flush(denoiser) : limpid_reset(denoiser);
        break;
      case 12:
        ask(denoiser);
        break;
      default:
        measure(denoiser);
    }
    static_cast<void>(std::string(limpid_error(denoiser)));
  }

  static void set(limpid_denoiser* denoiser, const char* name, const char* value) {
    limpid_set(denoiser, name, value);
  }

  void set_any(limpid_denoiser* denoiser) {
    static constexpr const char* kNames[] = {"filter", "profile", "noise", "sigma",  "strength",   "planes",
                                             "live",   "reach",   "delay", "fields", "block-size", "steps"};
    static constexpr const char* kValues[] = {
        "bilateral", "bm3d",    "vbm4d", "nlm",  "vnlb",  "adaptive-bilateral",
        "recursive", "fast",    "lc",    "auto", "5",     "0",
        "1",         "2",       "-1",    "10,5", "light", "nan",
        "1e30",      "1,2,3,4", ""};
    const char* const name = data_.PickValueInArray(kNames);
    if (data_.ConsumeBool()) {
      set(denoiser, name, data_.ConsumeBool() ? data_.PickValueInArray(kValues) : nullptr);
    } else if (data_.ConsumeBool()) {
      set(denoiser, name, data_.ConsumeRandomLengthString(64).c_str());
    } else {
      limpid_set_float(denoiser, name, data_.ConsumeFloatingPoint<double>());
    }
  }

  limpid_format any_format() {
    limpid_format format{.struct_size = sizeof format,
                         .width = data_.ConsumeIntegralInRange(1, kMostSide),
                         .height = data_.ConsumeIntegralInRange(1, kMostSide),
                         .color_model = data_.ConsumeIntegralInRange(0, 2),
                         .chroma_shift_x = data_.ConsumeIntegralInRange(0, 2),
                         .chroma_shift_y = data_.ConsumeIntegralInRange(0, 2),
                         .sample_type = data_.ConsumeIntegralInRange(0, 3),
                         .bit_depth = 8,
                         .has_alpha = data_.ConsumeIntegralInRange(0, 1)};
    if (format.color_model != LIMPID_YUV) {
      format.chroma_shift_x = format.chroma_shift_y = 0;
    }
    format.bit_depth = format.sample_type == LIMPID_UINT8     ? 8
                       : format.sample_type == LIMPID_UINT16  ? data_.ConsumeIntegralInRange(8, 16)
                       : format.sample_type == LIMPID_FLOAT16 ? 16
                                                              : 32;
    if (data_.ConsumeIntegralInRange(0, 15) == 0) {
      std::int32_t* const fields[] = {&format.width,       &format.height,         &format.color_model,
                                      &format.sample_type, &format.chroma_shift_x, &format.bit_depth};
      *data_.PickValueInArray(fields) = data_.PickValueInArray({0, -1, 3, 17, 65536, INT32_MAX, INT32_MIN});
    }
    return format;
  }

  /// Mostly of format_; its planes are in planes_ in any case.
  limpid_frame any_frame(bool with_release = true) {
    limpid_frame frame{};
    frame.struct_size = sizeof frame;
    for (std::size_t p = 0; p < 4; ++p) {
      frame.planes[p] = {
          planes_[p].data() + kPlaneBytes / 2,
          data_.PickValueInArray<std::ptrdiff_t>({192, -192, 384, 8, PTRDIFF_MIN, PTRDIFF_MAX}),
          data_.PickValueInArray({1, 0, 2, -1, INT32_MAX})};
      if (data_.ConsumeIntegralInRange(0, 31) == 0) {
        frame.planes[p].data = nullptr;
      }
    }
    frame.flags = data_.ConsumeIntegralInRange<std::uint32_t>(0, 7);
    frame.padding_bits = data_.ConsumeIntegralInRange(0, 31) == 0 ? data_.ConsumeIntegral<std::int32_t>() : 0;
    frame.memory =
        data_.ConsumeIntegralInRange(0, 15) == 0 ? data_.ConsumeIntegral<std::int32_t>() : LIMPID_HOST;
    if (with_release) {
      ++lent_;
      frame.release = [](void* released) { ++*static_cast<int*>(released); };
      frame.release_data = &released_;
    }
    return frame;
  }

  /// Memory of the library is uninitialized.
  void fill(const limpid_frame& frame) const {
    const std::size_t sample = format_.sample_type == LIMPID_UINT8     ? 1
                               : format_.sample_type == LIMPID_FLOAT32 ? 4
                                                                       : 2;
    for (const limpid_plane& plane : frame.planes) {
      if (plane.data != nullptr) {
        std::fill_n(static_cast<unsigned char*>(plane.data), sample, 0);
      }
    }
  }

  static void ask(limpid_denoiser* denoiser) {
    limpid_stream_info info{};
    info.struct_size = sizeof info;
    limpid_get_stream(denoiser, &info);
    limpid_noise noise{};
    noise.struct_size = sizeof noise;
    if (limpid_get_noise(denoiser, &noise) == LIMPID_OK) {
      set(denoiser, "noise", std::string(noise.profile).c_str());
    }
  }

  void measure(limpid_denoiser* denoiser) {
    const limpid_frame first = any_frame(false);
    const limpid_frame second = any_frame(false);
    limpid_quality quality{};
    quality.struct_size = sizeof quality;
    limpid_measure(&format_, &first, &second, &quality);
    const limpid_frame* const frames[] = {&first, &second};
    limpid_noise noise{};
    noise.struct_size = sizeof noise;
    limpid_estimate_noise(denoiser, &format_, frames, data_.ConsumeIntegralInRange(-1, 2), &noise);
  }

  FuzzedDataProvider data_;
  limpid_engine* engine_ = nullptr;
  std::array<limpid_denoiser*, 2> denoisers_{};
  std::array<limpid_frame, 3> frames_{};  // in the library's memory
  limpid_format format_{};
  std::array<std::vector<unsigned char>, 4> planes_{
      std::vector<unsigned char>(kPlaneBytes, 60), std::vector<unsigned char>(kPlaneBytes, 90),
      std::vector<unsigned char>(kPlaneBytes, 120), std::vector<unsigned char>(kPlaneBytes, 200)};
  int lent_ = 0;
  int released_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);  // NOLINT: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  Calls(data, size).make();
  return 0;
}
