// SPDX-License-Identifier: MIT
#include "io/media/writer/animation.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string_view>

#include "io/media/container.h"
#include "io/media/input_format.h"

namespace limpid::io {
namespace {

/// In the notation of GIF's extension, which the other formats share: 0 is endless. Nothing for sources that
/// are no animations.
std::optional<unsigned> loops_of(const Source& source) {
  using namespace std::string_view_literals;
  const InputTraits& traits = traits_of(*source.input.iformat);
  if (!traits.has_loops) {
    return std::nullopt;
  }
  constexpr std::size_t kBegin = 1 << 20;
  std::string begin(kBegin, '\0');
  std::ifstream file(source.url, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const auto byte = [&](std::size_t at) {
    return at < begin.size() ? static_cast<unsigned char>(begin[at]) : 0U;
  };
  if (traits.end == InputTraits::End::kGif) {
    constexpr std::string_view kLoops = "NETSCAPE2.0\x03\x01"sv;
    const std::size_t at = begin.find(kLoops);
    return at == std::string::npos ? 1 : byte(at + kLoops.size()) | byte(at + kLoops.size() + 1) << 8;
  }
  const std::size_t control = begin.find("acTL");
  constexpr std::size_t kPlays = 8;
  unsigned plays = 0;
  for (std::size_t i = 0; control != std::string::npos && i < 4; ++i) {
    plays = plays << 8 | byte(control + kPlays + i);
  }
  return plays;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> loop_option(const Source& source,
                                                               const AVOutputFormat& container) {
  const ContainerTraits& traits = traits_of(container);
  if (traits.loop_option == nullptr) {
    return std::nullopt;
  }
  constexpr unsigned kMost = 65535;
  const unsigned loops = std::min(loops_of(source).value_or(0), kMost);
  const bool plays_once =
      loops == 1 && traits.final_delay == ContainerTraits::FinalDelay::kHundredths;  // GIF
  return std::pair(traits.loop_option, plays_once ? "-1" : std::to_string(loops));
}

void AnimationTimes::note(const Frame& frame) {
  if (const auto* const properties = frame.attachment.get<AVFrame>()) {
    begin_ = begin_ == AV_NOPTS_VALUE ? properties->pts : begin_;
    last_duration_ = duration_of(*properties);
    end_ = properties->pts + last_duration_;
    time_base_ = properties->time_base;
  }
}

std::optional<std::pair<std::string, std::string>> AnimationTimes::last_delay(
    const AVOutputFormat& container) const {
  if (last_duration_ <= 0 || time_base_.num <= 0) {
    return std::nullopt;
  }
  using FinalDelay = ContainerTraits::FinalDelay;
  const FinalDelay unit = traits_of(container).final_delay;
  constexpr AVRational kHundredth{1, 100};
  if (unit == FinalDelay::kHundredths) {
    return std::pair("final_delay", std::to_string(av_rescale_q(last_duration_, time_base_, kHundredth)));
  }
  if (unit == FinalDelay::kNone) {
    return std::nullopt;
  }
  constexpr int kMost = 65535;  // of a fraction in APNG
  AVRational seconds{};
  av_reduce(&seconds.num, &seconds.den, last_duration_ * time_base_.num, time_base_.den, kMost);
  return std::pair("final_delay", std::to_string(seconds.num) + "/" + std::to_string(seconds.den));
}

std::int64_t AnimationTimes::milliseconds() const {
  constexpr AVRational kMillisecond{1, 1000};
  return last_duration_ <= 0 ? 0 : av_rescale_q(end_ - begin_, time_base_, kMillisecond);
}

void correct_webp_animation(Bytes& file, std::int64_t milliseconds, bool has_alpha) {
  const auto number = [&](std::size_t at, std::size_t size) {
    std::size_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
      value = value << 8 | file[at + i];
    }
    return value;
  };
  constexpr std::size_t kHeader = 12;
  constexpr std::size_t kChunkHeader = 8;
  constexpr std::size_t kDuration = kChunkHeader + 12;  // of a frame in its chunk, 3 bytes
  constexpr std::uint8_t kAlpha = 0x10;
  std::int64_t before = 0;
  std::int64_t duration = 0;
  std::size_t last = 0;
  for (std::size_t at = kHeader; at + kDuration + 4 <= file.size();) {
    const std::string_view tag(reinterpret_cast<const char*>(file.data()) + at, 4);
    if (tag == "VP8X" && has_alpha) {
      file[at + kChunkHeader] |= kAlpha;
    } else if (tag == "ANMF") {
      last = at;
      before += duration;
      duration = static_cast<std::int64_t>(number(at + kDuration, 3));
    }
    const std::size_t size = number(at + 4, 4);
    at += kChunkHeader + size + size % 2;
  }
  constexpr std::int64_t kMost = (1 << 24) - 1;
  if (last != 0 && milliseconds > before) {
    const std::int64_t rest = std::min(milliseconds - before, kMost);
    for (std::size_t i = 0; i < 3; ++i) {
      file[last + kDuration + i] = static_cast<std::uint8_t>(rest >> (8 * i) & 0xFF);
    }
  }
}

}  // namespace limpid::io
