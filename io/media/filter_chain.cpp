// SPDX-License-Identifier: MIT
#include "io/media/filter_chain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
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

constexpr std::string_view kBlanks = " \n\t\r";  // of libavfilter's parser

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads the grammar of FilterChain. It accepts nothing that libavfilter's parser could read otherwise.
class ChainParser {
 public:
  /// `option`: for messages.
  ChainParser(const std::string& option, std::string_view text) : option_(option), text_(text), rest_(text) {}

  /// The filters in the order of the text.
  std::vector<ChainFilter> filters() {
    std::vector<ChainFilter> filters;
    do {
      links();
      ChainFilter filter{.name = word(), .arguments = ""};
      if (filter.name.empty()) {
        fail(rest_.empty() ? "lacks the name of a filter at its end" : "lacks the name of a filter");
      }
      if (skip('=')) {
        filter.arguments = arguments();
      }
      filters.push_back(std::move(filter));
      links();
    } while (skip(',') || skip(';'));
    if (!rest_.empty()) {
      fail("is not a chain of NAME=OPTIONS with links in brackets");
    }
    return filters;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  /// Skips the character and blanks around it.
  bool skip(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    skip_blanks();
    return true;
  }

  std::string word() {
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_letter);
    std::string name(rest_.begin(), end);
    rest_.remove_prefix(name.size());
    return name;
  }

  void links() {
    while (skip('[')) {
      if (word().empty() || !rest_.starts_with(']')) {
        fail("has a link that is not a name in brackets");
      }
      skip(']');
    }
  }

  /// Without the quotes and backslashes of this level.
  std::string arguments() {
    std::string value;
    while (!rest_.empty() && std::string_view("[],;").find(rest_.front()) == std::string_view::npos) {
      const char c = rest_.front();
      std::size_t size = 1;  // of what is read
      if (c == '\'') {
        size = rest_.find(c, 1) + 1;
        if (size == 0) {
          fail("has a quote that is not closed");
        }
        value += rest_.substr(1, size - 2);
      } else if (c == '\\') {
        size = 2;
        if (rest_.size() < size || std::ispunct(static_cast<unsigned char>(rest_[1])) == 0) {
          fail("has a backslash that is not before a punctuation mark");
        }
        value += rest_[1];
      } else {
        value += c;
      }
      rest_.remove_prefix(size);
    }
    if (std::ranges::any_of(value, [](char each) {
          return std::iscntrl(static_cast<unsigned char>(each)) != 0 && kBlanks.find(each) == kBlanks.npos;
        })) {
      fail("has a control character");
    }
    return value;
  }

  [[noreturn]] void fail(const std::string& fault) const {
    throw UsageError(option_ + ": '" + std::string(text_) + "' " + fault +
                     (rest_.empty() ? "" : ", at '" + std::string(rest_) + "'"));
  }

  const std::string& option_;
  std::string_view text_;
  std::string_view rest_;
};

/// True if an expression in the options may depend on the number of frames so far or on earlier frames.
bool counts_frames(const ChainFilter& filter) {
  constexpr std::array<std::string_view, 9> kNames{"n",       "main_n", "ref_n", "rn",     "random",
                                                   "randomi", "st",     "ld",    "RTCTIME"};
  // libavfilter removes further quotes and backslashes, which could hide a name.
  std::string text = filter.arguments;
  std::erase_if(text, [](char c) { return c == '\'' || c == '\\'; });
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if(at, text.end(), is_letter);
    const auto end = std::find_if_not(at, text.end(), is_letter);
    const std::string_view name(at, end);
    if (std::ranges::find(kNames, name) != kNames.end() ||
        (filter.name == "perspective" && (name == "in" || name == "on"))) {
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
    : option_(std::move(option)), text_(std::move(text)), filters_(ChainParser(option_, text_).filters()) {
  require_known_filters();
  require_names_of_libavfilter();
  if (local_only) {
    require_local_filters();
  }
}

void FilterChain::require_known_filters() const {
  for (const auto& [name, arguments] : filters_) {
    if (avfilter_get_by_name(name.c_str()) == nullptr) {
      throw UsageError(option_ + ": libavfilter has no filter called '" + name + "'" +
                       did_you_mean(name, filters_of_libavfilter()));
    }
  }
}

void FilterChain::require_names_of_libavfilter() const {
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 3, 100)  // FFmpeg 6.0; the parser of 5.1 initializes filters
  const FilterGraphHandle graph = make_filter_graph();
  AVFilterGraphSegment* parsed = nullptr;
  forget_logged_messages();
  if (const int code = avfilter_graph_segment_parse(graph.get(), text_.c_str(), 0, &parsed); code < 0) {
    fail(code);
  }
  std::vector<std::string> names;
  for (const AVFilterChain* const chain : std::span(parsed->chains, parsed->nb_chains)) {
    for (const AVFilterParams* const filter : std::span(chain->filters, chain->nb_filters)) {
      names.emplace_back(filter->filter_name);
    }
  }
  const bool is_plain = parsed->scale_sws_opts == nullptr;
  avfilter_graph_segment_free(&parsed);
  if (!is_plain || !std::ranges::equal(names, filters_, {}, {}, &ChainFilter::name)) {
    throw UsageError(option_ + ": libavfilter reads other filters in '" + text_ + "'");
  }
#endif
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
  const FilterGraphHandle graph = make_filter_graph();
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
    return effect == nullptr || *effect == FilterEffect::kMemory || counts_frames(filter);
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
  if (code == AVERROR(ENOMEM) || code == AVERROR(EAGAIN)) {  // memory or threads, which are not the chain's
    check(code, option_, "can't filter");
  }
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
