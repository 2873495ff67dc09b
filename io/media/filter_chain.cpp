// SPDX-License-Identifier: MIT
#include "io/media/filter_chain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "io/media/filter_graph.h"
#include "io/media/libav.h"
#include "io/media/output_filter.h"
#include "io/media/source.h"

namespace limpid::io {
namespace {

/// The effect of a filter that opens neither files nor connections.
enum class FilterEffect : std::uint8_t {
  kSamples,  ///< each frame is made from one frame; pixels keep their places
  kPlaces,   ///< each frame is made from one frame; pixels move
  kMemory,   ///< frames are made from several frames, dropped or added, or depend on a random generator
};

struct FilterGroup {
  FilterEffect effect;
  std::string_view names;  ///< each between blanks
};
/// Filters with options that name files, such as curves and drawtext, are in no group.
constexpr std::array<FilterGroup, 3> kFilters{{
    {FilterEffect::kSamples,
     " alphaextract avgblur bilateral boxblur cas chromahold chromakey chromanr chromashift "
     "colorbalance colorchannelmixer colorcontrast colorcorrect colorhold colorize colorkey "
     "colorlevels colormatrix colorspace colortemperature convolution copy deband deblock deflate "
     "delogo despill dilation drawbox drawgrid edgedetect eq erosion exposure fillborders format "
     "gblur gradfun hue huesaturation inflate limiter lumakey lut lutrgb lutyuv median monochrome "
     "negate nlmeans noformat null owdenoise pixelize rgbashift sab scale setdar setfield setparams "
     "setrange setsar smartblur swapuv tonemap unsharp vibrance zscale "},
    {FilterEffect::kPlaces,
     " crop field fieldorder hflip il lenscorrection pad perspective rotate shear transpose vflip "},
    {FilterEffect::kMemory,
     " atadenoise bwdif cropdetect decimate deflicker dejudder detelecine estdif fade fftdnoiz "
     "fieldmatch fps framerate framestep hqdn3d idet interlace kerndeint minterpolate mpdecimate "
     "noise phase pullup select separatefields setpts telecine tinterlace tmix trim w3fdif yadif "},
}};

/// Nothing for filters that are in no group.
std::optional<FilterEffect> effect_of(std::string_view name) {
  const std::string word = " " + std::string(name) + " ";
  const auto* const found = std::ranges::find_if(
      kFilters, [&](const FilterGroup& group) { return group.names.find(word) != std::string_view::npos; });
  return found == kFilters.end() ? std::nullopt : std::optional(found->effect);
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
    if (!effect_of(name)) {
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
    const std::optional<FilterEffect> effect = effect_of(filter.name);
    return !effect || effect == FilterEffect::kMemory || counts_frames(filter);
  });
  return found == filters_.end() ? "" : found->name;
}

bool FilterChain::keeps_layout() const {
  return std::ranges::all_of(
      filters_, [](const ChainFilter& filter) { return effect_of(filter.name) == FilterEffect::kSamples; });
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

struct PictureFilter::State {
  State(const FilterChain& chain, const Source& source)
      : filter(chain, source),
        format(filter.result(source).format),
        display(display_of(filter.result(source))) {}

  OutputFilter filter;
  FrameFormat format;
  DisplayProperties display;
};

PictureFilter::PictureFilter(const FilterChain& chain, const Reader& reader)
    : state_(std::make_unique<State>(chain, reader.source())) {}

PictureFilter::~PictureFilter() = default;

const FrameFormat& PictureFilter::format() const { return state_->format; }

const DisplayProperties& PictureFilter::display() const { return state_->display; }

Frame PictureFilter::filter(const Frame& frame) {
  state_->filter.send(frame);
  std::optional<Frame> result = state_->filter.receive();
  if (!result) {
    throw Error("libavfilter returned no picture for frame " + std::to_string(frame.index));
  }
  result->index = frame.index;
  return std::move(*result);
}

}  // namespace limpid::io
