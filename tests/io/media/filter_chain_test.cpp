// SPDX-License-Identifier: MIT
#include "io/media/filter_chain.h"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/media/filter_graph.h"

namespace limpid::io {
namespace {

using Names = std::vector<std::string>;

FilterChain filters_in(const std::string& text, bool local_only = false) {
  return {"--after", text, local_only};
}

/// The sentence of the UsageError; empty if the chain is accepted.
std::string refusal_of(const std::string& text, bool local_only = false) {
  try {
    filters_in(text, local_only);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Names names_of(const FilterChain& chain) {
  Names names;
  std::ranges::transform(chain.filters(), std::back_inserter(names), &ChainFilter::name);
  return names;
}

/// The filters of the graph that libavfilter makes of the text; none if it refuses the text. The filters of
/// the text must not open anything.
Names names_in_graph(const std::string& text) {
  const FilterGraphHandle graph(avfilter_graph_alloc());
  AVFilterInOut* inputs = nullptr;
  AVFilterInOut* outputs = nullptr;
  const int code = avfilter_graph_parse2(graph.get(), text.c_str(), &inputs, &outputs);
  avfilter_inout_free(&inputs);
  avfilter_inout_free(&outputs);
  Names names;
  for (unsigned i = 0; code >= 0 && i < graph->nb_filters; ++i) {
    names.emplace_back(graph->filters[i]->filter->name);
  }
  return names;
}

TEST(FilterChain, NamesAreThoseOfTheGraph) {
  for (const auto& [text, names] : std::vector<std::pair<std::string, Names>>{
           {"crop=2:2", {"crop"}},
           {" hflip ,\n vflip ", {"hflip", "vflip"}},
           {"[in] split [a],hflip[b]; [a][b]hstack='inputs=2' [out]", {"split", "hflip", "hstack"}},
           {"crop=w='min(iw,ih)':h=min(iw\\,ih),null", {"crop", "null"}},
           {"scale='trunc(iw/2)*2:-2',format=yuv420p|gray,setsar=1", {"scale", "format", "setsar"}},
           {"select='not(eq(mod(n,7),3))',setpts=N/25/TB", {"select", "setpts"}},
           {"crop = 2:2", {"crop"}},
           {"null=,null", {"null", "null"}}}) {
    EXPECT_EQ(names_of(filters_in(text)), names) << text;
    EXPECT_EQ(names_in_graph(text), names) << text;
  }
  EXPECT_EQ(filters_in("hstack='inputs=2'").filters().back().arguments, "inputs=2");
}

// libavfilter reads a filter in each of these texts that its other words hide.
TEST(FilterChain, TextsThatHideFiltersAreRefused) {
  for (const std::string text : {"sws_flags=bicubic';movie=a.mkv[m];[in][m]overlay@'a;null'",
                                 "sws_flags=bicubic;null",
                                 "sws_flags=bicubic\\;movie=a;null",
                                 " sws_flags='a;movie=b,null'",
                                 "\nsws_flags=a;null",
                                 "hflip@x",
                                 "null@movie=a",
                                 "movie@null=a",
                                 "null@'a;movie=b'",
                                 "'mov'ie=a",
                                 "mov\\ie=a",
                                 "\\movie=a",
                                 "null='a",
                                 "null=a'",
                                 "null=a\\",
                                 "null=a\\n",
                                 "null=';movie=a",
                                 "[a';movie=b;[c']null",
                                 "[a\\];movie=b;[c]null",
                                 "[]null",
                                 "[a b]null",
                                 "[a]]null",
                                 "[[a]]null",
                                 "null[a",
                                 "null]a",
                                 "null=a]b",
                                 "null;;null",
                                 ",null",
                                 "null,",
                                 "",
                                 " ",
                                 "null movie=a",
                                 "null\vmovie=a",
                                 "null=\x1b",
                                 "null=a\x7f",
                                 "{null}",
                                 "n\xc3\xbcll",
                                 "null:movie=a",
                                 "null#",
                                 "-null",
                                 "null/movie"}) {
    EXPECT_NE(refusal_of(text), "") << text;
    EXPECT_NE(refusal_of(text, true), "") << text;
  }
  for (const std::string_view text : {std::string_view("null\0;movie=a", 13),
                                      std::string_view("null=a\0b", 8), std::string_view("\0null", 5)}) {
    EXPECT_NE(refusal_of(std::string(text)), "") << text;
  }
}

// Each text that is accepted has the filters that libavfilter reads, whatever was put into it.
TEST(FilterChain, NoTextHasFiltersThatAreNotSeen) {
  const Names chains{"null", "scale=2:2,format='gray'", "[in]split[a],hflip[b];[a]null,[b]hstack[out]",
                     "sws_flags=area;null,setsar=1", "sws_flags=area';vflip@'a;null,copy"};
  const Names parts{"'",  "\\",  ",",    ";",        "[a]",    "[",    "]",  "@",          " ",
                    "\n", ":",   "=",    "';vflip,", ";vflip", "@'",   ";'", "sws_flags=", "';",
                    "''", "\\,", "\\\\", "null",     "hflip,", "[in]", "\t", "x"};
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same texts in each run
  const auto pick = [&random](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = chains[pick(chains.size())];
    for (std::size_t left = pick(5); left > 0; --left) {
      text.insert(pick(text.size() + 1), parts[pick(parts.size())]);
    }
    if (refusal_of(text).empty()) {
      const Names names = names_in_graph(text);
      compared += names.empty() ? 0 : 1;
      EXPECT_TRUE(names.empty() || names_of(filters_in(text)) == names) << text;
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(FilterChain, FiltersOfSingleFramesHaveNoMemory) {
  for (const char* const text :
       {"crop=2:2", "scale=64:48,pad=iw:ih", "transpose,hflip,vflip", "setsar=1,setdar=1", "format=yuv420p",
        "eq=1.1", "unsharp", "cas", "colorspace=all=bt709", "deband"}) {
    EXPECT_EQ(filters_in(text).first_with_memory(), "") << text;
  }
  for (const auto& [text, name] :
       std::vector<std::pair<const char*, const char*>>{{"scale=2:2,bwdif", "bwdif"},
                                                        {"fps=5,hflip", "fps"},
                                                        {"lut3d=a.cube", "lut3d"},
                                                        {"drawtext=text=a", "drawtext"},
                                                        {"crop=w=2:h=2:x=n", "crop"},
                                                        {"eq=brightness='random(1)'", "eq"},
                                                        {"crop=2:2:'ra\\ndom(0)'", "crop"},
                                                        {"crop=2:2:ra\\\\ndom(0)", "crop"},
                                                        {"crop=2:2:'l'\\''d(0)'", "crop"},
                                                        {"perspective=x0=on:eval=frame", "perspective"}}) {
    EXPECT_EQ(filters_in(text).first_with_memory(), name) << text;
  }
}

TEST(FilterChain, FiltersThatMayOpenFilesAreRefusedLocally) {
  for (const char* const text : {"movie=a.mkv", "lut3d=a.cube", "subtitles=a.srt", "drawtext=text=a",
                                 "curves=psfile=a", "null[a];[a]ass=a", "format=pix_fmts='a\\',movie=b",
                                 "scale=2:2:flags='a',movie=b", "metadata=mode=print:file=a", "zmq"}) {
    EXPECT_NE(refusal_of(text, true).find("may open files"), std::string::npos) << text;
  }
  EXPECT_EQ(refusal_of("crop=2:2,bwdif,fps=5", true), "");
}

/// Filters of video that --local-only refuses, in FFmpeg 5.1 and 7.1.
const std::set<std::string>& refused_filters() {
  static const std::set<std::string> names = [] {
    std::istringstream words(R"(
a3dscope abitscope acrossover addroi adrawgraph afir agraphmonitor ahistogram aiir ainterleave allrgb allyuv
alphamerge amerge amix amovie amplify anequalizer aphasemeter asegment aselect asplit ass astreamselect
avectorscope avgblur_opencl avgblur_vulkan avsynctest backgroundkey bbox bench bilateral_cuda bitplanenoise
blackdetect blackframe blend blend_vulkan blockdetect blurdetect bm3d boxblur_opencl buffer buffersink
bwdif_cuda bwdif_vulkan ccrepack cellauto channelsplit chromaber_vulkan chromakey_cuda ciescope codecview
color color_vulkan colorchart colorkey_opencl colormap colorspace_cuda colorspectrum concat convolution_opencl
convolve corr cover_rect cue curves datascope dblur dctdnoiz deconvolve dedot deinterlace_qsv
deinterlace_vaapi denoise_vaapi derain deshake deshake_opencl dilation_opencl displace dnn_classify dnn_detect
dnn_processing doubleweave drawbox_vaapi drawgraph drawtext ebur128 elbg entropy epx erosion_opencl
extractplanes feedback fftfilt fieldhint fifo find_rect flip_vulkan floodfill framepack freezedetect
freezeframes frei0r frei0r_src fspp fsync gblur_vulkan geq gradients graphmonitor grayworld greyedge guided
haldclut haldclutsrc headphone hflip_vulkan histeq histogram hqx hstack hstack_qsv hstack_vaapi hsvhold hsvkey
hwdownload hwmap hwupload hwupload_cuda hysteresis identity interleave join kirsch ladspa lagfun latency
libplacebo life limitdiff loop lut1d lut2 lut3d lv2 mandelbrot maskedclamp maskedmax maskedmerge maskedmin
maskedthreshold maskfun mcdeint mergeplanes mestimate metadata midequalizer mix morpho movie mptestsrc msad
multiply nlmeans_opencl nlmeans_vulkan nnedi normalize nullsink nullsrc openclsrc oscilloscope overlay
overlay_cuda overlay_opencl overlay_qsv overlay_vaapi overlay_vulkan pad_opencl pad_vaapi pal100bars pal75bars
palettegen paletteuse perlin perms photosensitivity pixdesctest pixscope pp pp7 premultiply prewitt
prewitt_opencl procamp_vaapi program_opencl pseudocolor psnr qp random readeia608 readvitc realtime remap
remap_opencl removegrain removelogo repeatfields reverse rgbtestsrc roberts roberts_opencl scale2ref
scale_cuda scale_qsv scale_vaapi scale_vulkan scdet scharr scroll segment selectivecolor sendcmd settb
sharpness_vaapi showcqt showcwt showfreqs showinfo showpalette showspatial showspectrum showspectrumpic
showvolume showwaves showwavespic shuffleframes shufflepixels shuffleplanes sidedata sierpinski signalstats
signature siti smptebars smptehdbars sobel sobel_opencl spectrumsynth split spp sr ssim ssim360 stereo3d
streamselect subtitles super2xsai swaprect tblend testsrc testsrc2 thistogram threshold thumbnail
thumbnail_cuda tile tiltandshift tlut2 tmedian tmidequalizer tonemap_opencl tonemap_vaapi tpad
transpose_opencl transpose_vaapi transpose_vulkan unpremultiply unsharp_opencl untile uspp v360 vaguedenoiser
varblur vectorscope vflip_vulkan vfrdet vidstabdetect vidstabtransform vif vignette vmafmotion vpp_qsv vstack
vstack_qsv vstack_vaapi waveform weave xbr xcorrelate xfade xfade_opencl xfade_vulkan xmedian xpsnr xstack
xstack_qsv xstack_vaapi yadif_cuda yaepblur yuvtestsrc zmq zoneplate zoompan
)");
    return std::set<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  return names;
}

bool filters_video(const AVFilter& filter) {
  const auto is_video = [&filter](bool output, unsigned dynamic) {
    const int pads = static_cast<int>(avfilter_filter_pad_count(&filter, output ? 1 : 0));
    return pads == 0
               ? (filter.flags & static_cast<int>(dynamic)) != 0
               : avfilter_pad_get_type(output ? filter.outputs : filter.inputs, 0) == AVMEDIA_TYPE_VIDEO;
  };
  return is_video(false, AVFILTER_FLAG_DYNAMIC_INPUTS) || is_video(true, AVFILTER_FLAG_DYNAMIC_OUTPUTS);
}

TEST(FilterChain, EachFilterOfTheInstalledFfmpegIsKnown) {
  std::string unknown;
  void* position = nullptr;
  while (const AVFilter* const filter = av_filter_iterate(&position)) {
    const bool is_allowed = refusal_of(filter->name, true).empty();
    EXPECT_FALSE(is_allowed && refused_filters().contains(filter->name)) << filter->name;
    if (!is_allowed && filters_video(*filter) && !refused_filters().contains(filter->name)) {
      unknown += std::string(" ") + filter->name;
    }
  }
  EXPECT_EQ(unknown, "") << "Add them to kFilters of filter_chain.cpp, or here to the refused ones.";
}

TEST(FilterChain, NoOptionOfAFilterThatIsAllowedNamesAFile) {
  void* position = nullptr;
  while (const AVFilter* const filter = av_filter_iterate(&position)) {
    if (filter->priv_class == nullptr || !refusal_of(filter->name, true).empty()) {
      continue;
    }
    for (const AVOption* option = nullptr; (option = av_opt_next(&filter->priv_class, option)) != nullptr;) {
      const std::string text =
          std::string(option->name) + " " + (option->help == nullptr ? "" : option->help);
      for (const char* const word : {"file", "path", "url", "URL", "address", "directory", "librar",
                                     "command", "shader", "model", "bind"}) {
        const bool is_text = option->type == AV_OPT_TYPE_STRING || option->type == AV_OPT_TYPE_BINARY ||
                             option->type == AV_OPT_TYPE_DICT;
        EXPECT_FALSE(is_text && text.find(word) != std::string::npos) << filter->name << ": " << text;
      }
    }
  }
}

}  // namespace
}  // namespace limpid::io
