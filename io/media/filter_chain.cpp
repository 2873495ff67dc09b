// SPDX-License-Identifier: MIT
#include "io/media/filter_chain.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
}

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "io/media/filter_graph.h"
#include "io/media/libav.h"

namespace limpid::io {
namespace {

/// The effect of a filter that opens neither files nor connections.
enum class FilterEffect : std::uint8_t {
  kSamples,  ///< each frame is made from one frame; pixels keep their places
  kPlaces,   ///< each frame is made from one frame; pixels move
  kMemory,   ///< frames are made from several frames, dropped or added, or depend on a random generator
};

/// Filters with options that name files, such as curves and drawtext, have no row.
constexpr std::array<std::pair<std::string_view, FilterEffect>, 112> kFilters{{
    {"alphaextract", FilterEffect::kSamples},
    {"atadenoise", FilterEffect::kMemory},
    {"avgblur", FilterEffect::kSamples},
    {"bilateral", FilterEffect::kSamples},
    {"boxblur", FilterEffect::kSamples},
    {"bwdif", FilterEffect::kMemory},
    {"cas", FilterEffect::kSamples},
    {"chromahold", FilterEffect::kSamples},
    {"chromakey", FilterEffect::kSamples},
    {"chromanr", FilterEffect::kSamples},
    {"chromashift", FilterEffect::kSamples},
    {"colorbalance", FilterEffect::kSamples},
    {"colorchannelmixer", FilterEffect::kSamples},
    {"colorcontrast", FilterEffect::kSamples},
    {"colorcorrect", FilterEffect::kSamples},
    {"colorhold", FilterEffect::kSamples},
    {"colorize", FilterEffect::kSamples},
    {"colorkey", FilterEffect::kSamples},
    {"colorlevels", FilterEffect::kSamples},
    {"colormatrix", FilterEffect::kSamples},
    {"colorspace", FilterEffect::kSamples},
    {"colortemperature", FilterEffect::kSamples},
    {"convolution", FilterEffect::kSamples},
    {"copy", FilterEffect::kSamples},
    {"crop", FilterEffect::kPlaces},
    {"cropdetect", FilterEffect::kMemory},
    {"deband", FilterEffect::kSamples},
    {"deblock", FilterEffect::kSamples},
    {"decimate", FilterEffect::kMemory},
    {"deflate", FilterEffect::kSamples},
    {"deflicker", FilterEffect::kMemory},
    {"dejudder", FilterEffect::kMemory},
    {"delogo", FilterEffect::kSamples},
    {"despill", FilterEffect::kSamples},
    {"detelecine", FilterEffect::kMemory},
    {"dilation", FilterEffect::kSamples},
    {"drawbox", FilterEffect::kSamples},
    {"drawgrid", FilterEffect::kSamples},
    {"edgedetect", FilterEffect::kSamples},
    {"eq", FilterEffect::kSamples},
    {"erosion", FilterEffect::kSamples},
    {"estdif", FilterEffect::kMemory},
    {"exposure", FilterEffect::kSamples},
    {"fade", FilterEffect::kMemory},
    {"fftdnoiz", FilterEffect::kMemory},
    {"field", FilterEffect::kPlaces},
    {"fieldmatch", FilterEffect::kMemory},
    {"fieldorder", FilterEffect::kPlaces},
    {"fillborders", FilterEffect::kSamples},
    {"format", FilterEffect::kSamples},
    {"fps", FilterEffect::kMemory},
    {"framerate", FilterEffect::kMemory},
    {"framestep", FilterEffect::kMemory},
    {"gblur", FilterEffect::kSamples},
    {"gradfun", FilterEffect::kSamples},
    {"hflip", FilterEffect::kPlaces},
    {"hqdn3d", FilterEffect::kMemory},
    {"hue", FilterEffect::kSamples},
    {"huesaturation", FilterEffect::kSamples},
    {"idet", FilterEffect::kMemory},
    {"il", FilterEffect::kPlaces},
    {"inflate", FilterEffect::kSamples},
    {"interlace", FilterEffect::kMemory},
    {"kerndeint", FilterEffect::kMemory},
    {"lenscorrection", FilterEffect::kPlaces},
    {"limiter", FilterEffect::kSamples},
    {"lumakey", FilterEffect::kSamples},
    {"lut", FilterEffect::kSamples},
    {"lutrgb", FilterEffect::kSamples},
    {"lutyuv", FilterEffect::kSamples},
    {"median", FilterEffect::kSamples},
    {"minterpolate", FilterEffect::kMemory},
    {"monochrome", FilterEffect::kSamples},
    {"mpdecimate", FilterEffect::kMemory},
    {"negate", FilterEffect::kSamples},
    {"nlmeans", FilterEffect::kSamples},
    {"noformat", FilterEffect::kSamples},
    {"noise", FilterEffect::kMemory},
    {"null", FilterEffect::kSamples},
    {"owdenoise", FilterEffect::kSamples},
    {"pad", FilterEffect::kPlaces},
    {"perspective", FilterEffect::kPlaces},
    {"phase", FilterEffect::kMemory},
    {"pixelize", FilterEffect::kSamples},
    {"pullup", FilterEffect::kMemory},
    {"rgbashift", FilterEffect::kSamples},
    {"rotate", FilterEffect::kPlaces},
    {"sab", FilterEffect::kSamples},
    {"scale", FilterEffect::kSamples},
    {"select", FilterEffect::kMemory},
    {"separatefields", FilterEffect::kMemory},
    {"setdar", FilterEffect::kSamples},
    {"setfield", FilterEffect::kSamples},
    {"setparams", FilterEffect::kSamples},
    {"setpts", FilterEffect::kMemory},
    {"setrange", FilterEffect::kSamples},
    {"setsar", FilterEffect::kSamples},
    {"shear", FilterEffect::kPlaces},
    {"smartblur", FilterEffect::kSamples},
    {"swapuv", FilterEffect::kSamples},
    {"telecine", FilterEffect::kMemory},
    {"tinterlace", FilterEffect::kMemory},
    {"tmix", FilterEffect::kMemory},
    {"tonemap", FilterEffect::kSamples},
    {"transpose", FilterEffect::kPlaces},
    {"trim", FilterEffect::kMemory},
    {"unsharp", FilterEffect::kSamples},
    {"vflip", FilterEffect::kPlaces},
    {"vibrance", FilterEffect::kSamples},
    {"w3fdif", FilterEffect::kMemory},
    {"yadif", FilterEffect::kMemory},
    {"zscale", FilterEffect::kSamples},
}};

/// Null for filters that are not in the table.
const FilterEffect* effect_of(std::string_view name) {
  const auto* const found =
      std::ranges::find(kFilters, name, &std::pair<std::string_view, FilterEffect>::first);
  return found == kFilters.end() ? nullptr : &found->second;
}

struct TextDeleter {
  void operator()(char* text) const { av_free(text); }
};

/// The next token as libavfilter's own parser reads it. Advances `position` to its end.
std::string take_token(const char*& position, const char* ends) {
  const std::unique_ptr<char, TextDeleter> token(av_get_token(&position, ends));
  if (token == nullptr) {
    throw Error("out of memory");
  }
  return token.get();
}

void skip_labels(const char*& position) {
  for (;;) {
    while (std::isspace(static_cast<unsigned char>(*position)) != 0) {
      ++position;
    }
    if (*position != '[') {
      return;
    }
    ++position;
    take_token(position, "]");
    position += *position == ']' ? 1 : 0;
  }
}

/// The filters in the order of the text, without labels. Stops at the first error, which libavfilter reports.
std::vector<ChainFilter> parse_filters(const std::string& text) {
  std::vector<ChainFilter> filters;
  const char* position = text.c_str();
  if (text.starts_with("sws_flags=")) {
    take_token(position, ";");
    position += *position == ';' ? 1 : 0;
  }
  for (;;) {
    skip_labels(position);
    ChainFilter filter;
    filter.name = take_token(position, "=,;[");
    filter.name = filter.name.substr(0, filter.name.find('@'));
    if (*position == '=') {
      ++position;
      filter.arguments = take_token(position, "[],;");
    }
    filters.push_back(std::move(filter));
    skip_labels(position);
    if (*position != ',' && *position != ';') {
      return filters;
    }
    ++position;
  }
}

/// True if an expression in the arguments depends on the number of frames so far or on earlier frames.
bool counts_frames(const std::string& arguments) {
  constexpr std::array<std::string_view, 4> kNames{"n", "random", "st", "ld"};
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (auto at = arguments.begin(); at != arguments.end();) {
    at = std::find_if(at, arguments.end(), is_letter);
    const auto end = std::find_if_not(at, arguments.end(), is_letter);
    if (std::ranges::find(kNames, std::string_view(at, end)) != kNames.end()) {
      return true;
    }
    at = end;
  }
  return false;
}

std::vector<std::string> filters_of_libavfilter() {
  std::vector<std::string> names;
  void* position = nullptr;
  while (const AVFilter* const filter = av_filter_iterate(&position)) {
    names.emplace_back(filter->name);
  }
  return names;
}

}  // namespace

FilterChain::FilterChain(std::string option, std::string text, bool local_only)
    : option_(std::move(option)), text_(std::move(text)), filters_(parse_filters(text_)) {
  require_known_filters();
  if (local_only) {
    require_local_filters();
  }
}

void FilterChain::require_known_filters() const {
  for (const auto& [name, arguments] : filters_) {
    if (name.empty()) {
      throw UsageError(option_ + ": '" + text_ + "' lacks the name of a filter");
    }
    if (avfilter_get_by_name(name.c_str()) == nullptr) {
      throw UsageError(option_ + ": libavfilter has no filter called '" + name + "'" +
                       did_you_mean(name, filters_of_libavfilter()));
    }
  }
}

void FilterChain::require_local_filters() const {
  for (const auto& [name, arguments] : filters_) {
    if (effect_of(name) == nullptr) {
      throw UsageError(option_ + ": the filter " + name +
                       " may open files or connections, which --local-only prevents");
    }
  }
}

void FilterChain::require_accepted() const {
  const FilterGraphHandle graph(avfilter_graph_alloc());
  if (graph == nullptr) {
    throw Error("out of memory");
  }
  AVFilterInOut* inputs = nullptr;
  AVFilterInOut* outputs = nullptr;
  forget_logged_messages();
  const int code = avfilter_graph_parse2(graph.get(), text_.c_str(), &inputs, &outputs);
  avfilter_inout_free(&inputs);
  avfilter_inout_free(&outputs);
  if (code < 0) {
    fail(code);
  }
}

std::string FilterChain::first_with_memory() const {
  const auto found = std::ranges::find_if(filters_, [](const ChainFilter& filter) {
    const FilterEffect* const effect = effect_of(filter.name);
    return effect == nullptr || *effect == FilterEffect::kMemory || counts_frames(filter.arguments);
  });
  return found == filters_.end() ? "" : found->name;
}

bool FilterChain::keeps_layout() const {
  return std::ranges::all_of(filters_, [](const ChainFilter& filter) {
    const FilterEffect* const effect = effect_of(filter.name);
    return effect != nullptr && *effect == FilterEffect::kSamples;
  });
}

void FilterChain::require_no_memory(const std::string& where) const {
  if (const std::string name = first_with_memory(); !name.empty()) {
    throw UsageError(option_ + ": the filter " + name + " may depend on other frames or on files; " + where +
                     " accepts only filters of single frames, such as crop and scale");
  }
}

void FilterChain::fail(int code) const {
  std::string line = first_logged_error();
  std::string filter = filters_.size() == 1 ? filters_.front().name : "";
  if (line.starts_with('[') && line.find("] ") != std::string::npos) {
    // libavfilter calls the filters Parsed_NAME_NUMBER, or NAME@INSTANCE.
    const std::string subject = line.substr(1, line.find("] ") - 1);
    line = line.substr(line.find("] ") + 2);
    const auto named = std::ranges::find_if(filters_, [&](const ChainFilter& each) {
      constexpr std::string_view kParsed = "Parsed_";
      const std::size_t begin = subject.starts_with(kParsed) ? kParsed.size() : 0;
      return subject.compare(begin, each.name.size(), each.name) == 0;
    });
    filter = named == filters_.end() ? filter : named->name;
  }
  throw UsageError(option_ + " '" + text_ + "': " + (filter.empty() ? "" : "filter " + filter + ": ") +
                   (line.empty() ? error_text(code) : line));
}

void require_independent_frames(const std::string& option, const std::string& chain,
                                const std::string& where) {
  if (!chain.empty()) {
    FilterChain(option, chain, false).require_no_memory(where);
  }
}

}  // namespace limpid::io
