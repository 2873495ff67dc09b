// SPDX-License-Identifier: MIT
#include "io/media/libav.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "core/base/error.h"

namespace limpid::io {
namespace {

template <typename Handle>
Handle require(Handle handle) {
  if (handle == nullptr) {
    throw Error("out of memory");
  }
  return handle;
}

}  // namespace

FrameHandle make_frame() { return require(FrameHandle(av_frame_alloc())); }
PacketHandle make_packet() { return require(PacketHandle(av_packet_alloc())); }

unsigned char* make_io_buffer(int size) {
  return require(static_cast<unsigned char*>(av_malloc(static_cast<std::size_t>(size))));
}

std::string error_text(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(code, text.data(), text.size());
  return text.data();
}

int check(int code, std::string_view subject, std::string_view what) {
  if (code < 0) {
    throw Error(std::string(subject) + ": " + std::string(what) + ": " + error_text(code));
  }
  return code;
}

void write_bytes(AVIOContext& target, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kMost = 1 << 30;
  while (!bytes.empty()) {
    const std::span<const std::uint8_t> part = bytes.first(std::min(bytes.size(), kMost));
    avio_write(&target, part.data(), static_cast<int>(part.size()));
    bytes = bytes.subspan(part.size());
  }
}

std::string logged_reason() {
  const std::string line = first_logged_error();
  return line.empty() ? "" : " (" + line + ")";
}

Dictionary::Dictionary(const std::vector<std::pair<std::string, std::string>>& entries) {
  for (const auto& [key, value] : entries) {
    set(key, value);
  }
}

void Dictionary::set(const std::string& key, const std::string& value) {
  check(av_dict_set(&entries_, key.c_str(), value.c_str(), 0), key, "can't set the option");
}

std::string Dictionary::any_key() const {
  const AVDictionaryEntry* const entry = av_dict_get(entries_, "", nullptr, AV_DICT_IGNORE_SUFFIX);
  return entry == nullptr ? "" : entry->key;
}

std::string name_of(AVPixelFormat format) {
  const char* const name = av_get_pix_fmt_name(format);
  return name == nullptr ? "none" : name;
}

bool has_protocol(const std::string& url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos || colon == 0) {
    return false;
  }
  const auto begin = url.begin() + static_cast<std::ptrdiff_t>(colon);
  if (url.starts_with("pipe:")) {
    return std::all_of(begin + 1, url.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  }
  const bool is_word =
      std::all_of(url.begin(), begin, [](unsigned char c) { return std::isalnum(c) != 0 || c == '+'; });
  return is_word && url.compare(colon, 3, "://") == 0;
}

bool is_device(const AVInputFormat& format) {
  return format.priv_class != nullptr && AV_IS_INPUT_DEVICE(format.priv_class->category);
}

bool is_live(const AVInputFormat& format) {
  return is_device(format) && std::string_view(format.name) != "lavfi";
}

bool is_sequence(const std::string& url) { return av_filename_number_test(url.c_str()) != 0; }

}  // namespace limpid::io
