// SPDX-License-Identifier: MIT
// The frei0r plug-in: packed 8-bit RGBA frames through a live denoiser of the C library.
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "plugins/shared/denoiser.h"

// Its functions are what the host finds. It has no guard for C++ of its own.
#pragma GCC visibility push(default)
extern "C" {
#include <frei0r.h>
}
#pragma GCC visibility pop

namespace limpid::frei0r {
namespace {

enum Parameter { kNoise, kStrength, kFilter, kProfile, kSettings, kParameterCount };

constexpr f0r_param_info_t kParameters[kParameterCount] = {
    {"noise", F0R_PARAM_STRING,
     "Noise: standard deviation in 8-bit code values (10 or 10,5,5), profile of limpid noise, or auto: "
     "estimated from the video"},
    {"strength", F0R_PARAM_DOUBLE,
     "Strength divided by 2: 0 to 1 is a strength of 0 to 2, and 0.5 the default strength"},
    {"filter", F0R_PARAM_STRING, "Filter, by a name of limpid filters"},
    {"profile", F0R_PARAM_STRING, "Quality, from fastest to best: fast, lc, np, high, best"},
    {"settings", F0R_PARAM_STRING,
     "Other options of limpid denoise, separated by spaces: reach=2 engine=cpu"}};
constexpr double kStrengthUnit = 2;
constexpr double kLeastLevel = 0.5;  // of noise that shows in 8 bits

// A step of time so many times as long as the one before is a jump.
constexpr double kJump = 8;

constexpr std::size_t kPixel = 4;

// Living instances. Hosts that render frames in parallel, such as MLT, have one on each of their threads, and
// each receives some of the frames.
class Living {
 public:
  void add(unsigned width, unsigned height) {
    const std::scoped_lock lock(mutex_);
    ++counts_[{width, height, std::this_thread::get_id()}];
  }
  // On any thread.
  void remove(std::thread::id maker, unsigned width, unsigned height) {
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find({width, height, maker});
    if (--found->second == 0) {
      counts_.erase(found);
    }
  }
  // True if several threads have made instances of this size.
  bool are_on_several_threads(unsigned width, unsigned height) {
    const std::scoped_lock lock(mutex_);
    const auto first = counts_.lower_bound({width, height, std::thread::id()});
    const auto second = first == counts_.end() ? first : std::next(first);
    return second != counts_.end() && std::get<0>(second->first) == width &&
           std::get<1>(second->first) == height;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<unsigned, unsigned, std::thread::id>, int> counts_;
};

Living& living() {
  static Living instances;
  return instances;
}

class Instance : plugins::NotCopyable {
 public:
  Instance(unsigned width, unsigned height)
      : width_(width), height_(height), denoiser_([this](const char* sentence) { warn(sentence); }) {
    if (!is_mains_) {
      living().add(width_, height_);
    }
  }
  ~Instance() {
    if (!is_mains_) {
      living().remove(maker_, width_, height_);
    }
  }

  void set(int parameter, f0r_param_t value) {
    const std::scoped_lock lock(mutex_);
    if (parameter == kStrength) {
      change(strength_, *static_cast<double*>(value));
    } else if (parameter >= 0 && parameter < kParameterCount) {
      const char* const given = *static_cast<char**>(value);
      change(texts_[parameter], std::string(given == nullptr ? "" : given));
    }
  }

  // Texts stay valid until they are set again.
  void get(int parameter, f0r_param_t value) {
    const std::scoped_lock lock(mutex_);
    if (parameter == kStrength) {
      *static_cast<double*>(value) = strength_;
    } else if (parameter >= 0 && parameter < kParameterCount) {
      *static_cast<char**>(value) = texts_[parameter].data();
    }
  }

  void update(double time, const std::uint32_t* in, std::uint32_t* out) {
    const std::scoped_lock lock(mutex_);
    try {
      if (prepare()) {
        auto frame = planes(const_cast<std::uint32_t*>(in));
        const bool jumps = is_jump(time);
        frame.flags = jumps || is_parallel() ? LIMPID_BEGINS_ANEW : 0;
        denoiser_.send(frame);
        auto result = planes(out);
        return denoiser_.receive_into(result);
      }
    } catch (const std::exception& error) {
      warn(error.what());
    }
    std::memcpy(out, in, std::size_t{width_} * height_ * kPixel);
  }

 private:
  template <typename Value>
  void change(Value& own, Value value) {
    if (own != value) {
      own = std::move(value);
      changed_ = true;
    }
  }

  void warn(const std::string& sentence) {
    if (told_.insert(sentence).second) {
      std::fprintf(stderr, "limpid (frei0r): %s\n", sentence.c_str());
    }
  }

  plugins::Settings settings() {
    if (!(strength_ >= 0 && strength_ <= 1)) {
      throw std::runtime_error("strength: " + plugins::text_of(strength_) +
                               " is not 0 to 1; give half of the strength of limpid denoise: 0.5 for 1");
    }
    const std::string& noise = texts_[kNoise];
    double level = 0;
    std::from_chars(noise.data(), noise.data() + noise.size(), level);
    if (level > 0 && level < kLeastLevel) {
      warn("noise: a level of " + plugins::text_of(level) +
           " in 8-bit code values changes hardly anything; give the level itself, such as 10");
    }
    return plugins::expanded({{"live", "1"},
                              {"noise", noise},
                              {"strength", plugins::text_of(strength_ * kStrengthUnit)},
                              {"filter", texts_[kFilter]},
                              {"profile", texts_[kProfile]},
                              {"settings", texts_[kSettings]}});
  }

  // Applies the parameters to the denoiser. False if that has failed.
  bool prepare() {
    if (!std::exchange(changed_, false) && !usable_) {
      return false;
    }
    usable_ = false;
    const limpid_format format{.struct_size = sizeof format,
                               .width = static_cast<std::int32_t>(width_),
                               .height = static_cast<std::int32_t>(height_),
                               .color_model = LIMPID_RGB,
                               .chroma_shift_x = 0,
                               .chroma_shift_y = 0,
                               .sample_type = LIMPID_UINT8,
                               .bit_depth = 8,
                               .has_alpha = 1};
    denoiser_.take(format, settings());
    const int latency = denoiser_.stream().latency;
    if (latency > 0) {
      throw std::runtime_error("settings: a frame's result would come " + std::to_string(latency) +
                               " frames late, and frei0r takes it at once");
    }
    usable_ = true;
    return true;
  }

  // True if other instances receive some of the frames. Results would depend on which.
  bool is_parallel() {
    if (is_mains_ || !living().are_on_several_threads(width_, height_)) {
      return false;
    }
    warn("the host renders frames in parallel, so each frame is filtered by itself");
    return true;
  }

  // True if the frame does not follow the last one. Hosts differ in the unit of time.
  bool is_jump(double time) {
    const double step = time - time_;
    const bool jumps = !(step > 0) || step > kJump * step_;
    time_ = time;
    step_ = step > 0 ? step : std::numeric_limits<double>::infinity();
    return jumps;
  }

  limpid_frame planes(std::uint32_t* pixels) const {
    auto frame = plugins::sized<limpid_frame>();
    for (std::size_t c = 0; c < kPixel; ++c) {
      frame.planes[c] = {reinterpret_cast<std::uint8_t*>(pixels) + c,
                         static_cast<std::ptrdiff_t>(width_ * kPixel), kPixel};
    }
    return frame;
  }

  unsigned width_;
  unsigned height_;
  std::thread::id maker_ = std::this_thread::get_id();
  bool is_mains_ = gettid() == getpid();
  std::mutex mutex_;
  std::array<std::string, kParameterCount> texts_;
  double strength_ = 1 / kStrengthUnit;
  bool changed_ = true;
  bool usable_ = false;
  std::set<std::string> told_;
  plugins::Denoiser denoiser_;
  double time_ = 0;
  double step_ = std::numeric_limits<double>::infinity();
};

}  // namespace
}  // namespace limpid::frei0r

using limpid::frei0r::Instance;

int f0r_init() { return 1; }

void f0r_deinit() {}

void f0r_get_plugin_info(f0r_plugin_info_t* info) {
  *info = {.name = "Limpid",
           .author = "The Limpid project",
           .plugin_type = F0R_PLUGIN_TYPE_FILTER,
           .color_model = F0R_COLOR_MODEL_RGBA8888,
           .frei0r_version = FREI0R_MAJOR_VERSION,
           .major_version = LIMPID_MAJOR,
           .minor_version = LIMPID_MINOR,
           .num_params = limpid::frei0r::kParameterCount,
           .explanation = "Removes noise"};
}

void f0r_get_param_info(f0r_param_info_t* info, int param_index) {
  *info = limpid::frei0r::kParameters[param_index];
}

f0r_instance_t f0r_construct(unsigned int width, unsigned int height) {
  return new (std::nothrow) Instance(width, height);
}

void f0r_destruct(f0r_instance_t instance) {
  const std::unique_ptr<Instance> ended(static_cast<Instance*>(instance));
}

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t param, int param_index) {
  try {
    static_cast<Instance*>(instance)->set(param_index, param);
  } catch (const std::bad_alloc&) {  // it stays as it is
  }
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t param, int param_index) {
  static_cast<Instance*>(instance)->get(param_index, param);
}

void f0r_update(f0r_instance_t instance, double time, const uint32_t* inframe, uint32_t* outframe) {
  static_cast<Instance*>(instance)->update(time, inframe, outframe);
}
