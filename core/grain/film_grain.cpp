// SPDX-License-Identifier: MIT
#include "core/grain/film_grain.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace limpid {
namespace {

constexpr std::array<const char*, 3> kPlaneNames{"Y", "Cb", "Cr"};

void require(bool is_right, const std::string& name, const std::string& sentence) {
  if (!is_right) {
    throw Error(name + ": " + sentence);
  }
}

bool is_between(int value, int least, int most) { return value >= least && value <= most; }

void validate_points(const FilmGrain& grain, const std::string& name) {
  for (std::size_t plane = 0; plane < grain.points.size(); ++plane) {
    const std::vector<FilmGrain::Point>& points = grain.points[plane];
    const std::string of = std::string(" of ") + kPlaneNames[plane];
    require(points.size() <= FilmGrain::kMaxPoints[plane], name, "there are too many scaling points" + of);
    int before = -1;
    for (const FilmGrain::Point& point : points) {
      require(is_between(point.value, before + 1, 255), name,
              "the brightnesses of the scaling points" + of + " must increase, from 0 to 255");
      require(is_between(point.scaling, 0, FilmGrain::kMostScaling), name,
              "a scaling" + of + " is not in 0 to 255");
      before = point.value;
    }
  }
  require(!grain.chroma_from_luma || (grain.points[1].empty() && grain.points[2].empty()), name,
          "chroma that is scaled as luma must have no scaling points");
}

void validate_filter(const FilmGrain& grain, const std::string& name) {
  require(is_between(grain.lag, 0, FilmGrain::kMaxLag), name, "the lag is not in 0 to 3");
  require(is_between(grain.coefficient_shift, 6, 9), name, "the shift of coefficients is not in 6 to 9");
  require(is_between(grain.grain_shift, 0, 3), name, "the shift of the grain is not in 0 to 3");
  for (const auto& plane : grain.coefficients) {
    require(std::ranges::all_of(plane, [](int each) { return is_between(each, -128, 127); }), name,
            "a coefficient is not in -128 to 127");
  }
}

}  // namespace

void FilmGrain::validate(const std::string& name) const {
  require(is_between(seed, 0, 65535), name, "the seed is not in 0 to 65535");
  require(is_between(scaling_shift, FilmGrain::kLeastScalingShift, FilmGrain::kMostScalingShift), name,
          "the shift of scalings is not in 8 to 11");
  for (const ChromaIndex& index : chroma_index) {
    require(is_between(index.chroma, 0, 255) && is_between(index.luma, 0, 255), name,
            "a multiplier of chroma is not in 0 to 255");
    require(is_between(index.offset, 0, 511), name, "an offset of chroma is not in 0 to 511");
  }
  validate_points(*this, name);
  validate_filter(*this, name);
}

bool can_have_film_grain(const FrameFormat& format) {
  const bool has_depth = format.bit_depth == 8 || format.bit_depth == 10 || format.bit_depth == 12;
  return !format.is_float() && has_depth && format.color_model != ColorModel::kRgb &&
         format.chroma_shift_x <= 1 && format.chroma_shift_y <= 1;
}

FilmGrain for_format(FilmGrain grain, const FrameFormat& format) {
  if (format.color_model == ColorModel::kGray) {
    grain.points[1].clear();
    grain.points[2].clear();
    grain.chroma_from_luma = false;
  }
  const bool has_chroma = !grain.points[1].empty() || !grain.points[2].empty();
  if (has_chroma && format.chroma_shift_x > 0 && format.chroma_shift_y > 0) {
    for (std::vector<FilmGrain::Point>& points : grain.points) {
      if (points.empty()) {
        points = {{0, 0}};
      }
    }
  }
  return grain;
}

FilmGrain scaled(FilmGrain grain, double strength) {
  double most = 0;
  for (const std::vector<FilmGrain::Point>& points : grain.points) {
    for (const FilmGrain::Point& point : points) {
      most = std::max(most, point.scaling * strength);
    }
  }
  double factor = strength;
  while (most > FilmGrain::kMostScaling && grain.scaling_shift > FilmGrain::kLeastScalingShift) {
    most /= 2;
    factor /= 2;
    --grain.scaling_shift;
  }
  while (most > 0 && most * 2 <= FilmGrain::kMostScaling &&
         grain.scaling_shift < FilmGrain::kMostScalingShift) {
    most *= 2;
    factor *= 2;
    ++grain.scaling_shift;
  }
  for (std::vector<FilmGrain::Point>& points : grain.points) {
    for (FilmGrain::Point& point : points) {
      point.scaling =
          static_cast<int>(std::lround(std::min<double>(point.scaling * factor, FilmGrain::kMostScaling)));
    }
  }
  return grain;
}

std::array<std::uint8_t, 256> scaling_function(const std::vector<FilmGrain::Point>& points) {
  std::array<std::uint8_t, 256> function{};
  if (points.empty()) {
    return function;
  }
  std::fill_n(function.begin(), points.front().value, static_cast<std::uint8_t>(points.front().scaling));
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const int width = points[i + 1].value - points[i].value;
    const int delta = (points[i + 1].scaling - points[i].scaling) * ((65536 + width / 2) / width);
    for (int x = 0; x < width; ++x) {
      function[points[i].value + x] =
          static_cast<std::uint8_t>(points[i].scaling + ((x * delta + 32768) >> 16));
    }
  }
  std::fill(function.begin() + points.back().value, function.end(),
            static_cast<std::uint8_t>(points.back().scaling));
  return function;
}

namespace {

constexpr std::string_view kMagic = "filmgrn1";
constexpr std::array<std::string_view, 3> kPointWords{"sY", "sCb", "sCr"};
constexpr std::array<std::string_view, 3> kCoefficientWords{"cY", "cCb", "cCr"};

/// The words of a text, which are separated by spaces and line breaks.
class Words {
 public:
  Words(std::string_view text, const std::string& name) : rest_(text), name_(name) { skip_spaces(); }

  bool at_end() const { return rest_.empty(); }

  std::string_view next() {
    const std::size_t length = std::min(rest_.find_first_of(kSpaces), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    skip_spaces();
    return word;
  }

  void expect(std::string_view expected) {
    const int line = line_;
    const std::string_view word = next();
    if (word != expected) {
      fail(line, "'" + std::string(expected) + "' is missing" +
                     (word.empty() ? "" : " before '" + std::string(word.substr(0, kMostShown)) + "'"));
    }
  }

  template <typename Number = int>
  Number number() {
    const int line = line_;
    const std::string_view word = next();
    const std::optional<Number> value = to_number<Number>(word);
    if (!value) {
      fail(line, word.empty() ? "a number is missing"
                              : "'" + std::string(word.substr(0, kMostShown)) + "' is not a number");
    }
    return *value;
  }

  bool flag() {
    const int line = line_;
    const int value = number();
    if (value != 0 && value != 1) {
      fail(line, "a flag is neither 0 nor 1");
    }
    return value == 1;
  }

  int line() const { return line_; }
  std::string place(int line) const { return name_ + ": line " + std::to_string(line); }
  [[noreturn]] void fail(int line, const std::string& sentence) const {
    throw Error(place(line) + " of the film grain table: " + sentence);
  }

 private:
  static constexpr std::string_view kSpaces = " \t\r\n";
  static constexpr std::size_t kMostShown = 20;

  void skip_spaces() {
    const std::size_t length = std::min(rest_.find_first_not_of(kSpaces), rest_.size());
    line_ += static_cast<int>(std::ranges::count(rest_.substr(0, length), '\n'));
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  const std::string& name_;
  int line_ = 1;
};

void read_points(Words& words, int plane, FilmGrain& grain) {
  words.expect(kPointWords[plane]);
  const int line = words.line();
  const int count = words.number();
  if (count < 0 || count > static_cast<int>(FilmGrain::kMaxPoints[plane])) {
    words.fail(line, std::to_string(count) + " scaling points are not possible");
  }
  for (int i = 0; i < count; ++i) {
    const int value = words.number();
    grain.points[plane].push_back({value, words.number()});
  }
}

void read_parameters(Words& words, FilmGrain& grain) {
  words.expect("p");
  const int line = words.line();
  grain.lag = words.number();
  if (grain.lag < 0 || grain.lag > FilmGrain::kMaxLag) {
    words.fail(line, "the lag is not in 0 to 3");
  }
  grain.coefficient_shift = words.number();
  grain.grain_shift = words.number();
  grain.scaling_shift = words.number();
  grain.chroma_from_luma = words.flag();
  grain.overlap = words.flag();
  for (FilmGrain::ChromaIndex& index : grain.chroma_index) {
    index.chroma = words.number();
    index.luma = words.number();
    index.offset = words.number();
  }
  for (int plane = 0; plane < 3; ++plane) {
    read_points(words, plane, grain);
  }
  for (int plane = 0; plane < 3; ++plane) {
    words.expect(kCoefficientWords[plane]);
    const int count = grain.neighbors() + (plane > 0 ? 1 : 0);
    for (int i = 0; i < count; ++i) {
      grain.coefficients[plane][i] = words.number();
    }
  }
}

FilmGrainEntry read_entry(Words& words, std::int64_t end_before) {
  const int line = words.line();
  words.expect("E");
  FilmGrainEntry entry;
  entry.start = words.number<std::int64_t>();
  entry.end = words.number<std::int64_t>();
  if (entry.start < end_before || entry.end <= entry.start) {
    words.fail(line,
               "an entry must end after its start, and start no earlier than the end of the previous entry");
  }
  entry.is_applied = words.flag();
  entry.grain.seed = words.number();
  if (words.flag()) {
    read_parameters(words, entry.grain);
  } else if (entry.is_applied) {
    words.fail(line, "entries without parameters of their own are not supported");
  }
  entry.grain.validate(words.place(line) + " of the film grain table");
  return entry;
}

void append(std::string& text, std::string_view word) { (text += ' ') += word; }
void append(std::string& text, std::int64_t number) { append(text, std::to_string(number)); }

void append_parameters(std::string& text, const FilmGrain& grain) {
  text += "\tp";
  for (const int each : {grain.lag, grain.coefficient_shift, grain.grain_shift, grain.scaling_shift,
                         grain.chroma_from_luma ? 1 : 0, grain.overlap ? 1 : 0}) {
    append(text, each);
  }
  for (const FilmGrain::ChromaIndex& index : grain.chroma_index) {
    append(text, index.chroma);
    append(text, index.luma);
    append(text, index.offset);
  }
  text += '\n';
  for (int plane = 0; plane < 3; ++plane) {
    (text += '\t') += kPointWords[plane];
    append(text, static_cast<std::int64_t>(grain.points[plane].size()));
    for (const FilmGrain::Point& point : grain.points[plane]) {
      append(text, point.value);
      append(text, point.scaling);
    }
    text += '\n';
  }
  for (int plane = 0; plane < 3; ++plane) {
    (text += '\t') += kCoefficientWords[plane];
    for (int i = 0; i < grain.neighbors() + (plane > 0 ? 1 : 0); ++i) {
      append(text, grain.coefficients[plane][i]);
    }
    text += '\n';
  }
}

}  // namespace

std::string to_text(const FilmGrainTable& table) {
  std::string text(kMagic);
  text += '\n';
  for (const FilmGrainEntry& entry : table) {
    text += 'E';
    append(text, entry.start);
    append(text, entry.end);
    append(text, entry.is_applied ? 1 : 0);
    append(text, entry.grain.seed);
    append(text, entry.is_applied ? 1 : 0);
    text += '\n';
    if (entry.is_applied) {
      append_parameters(text, entry.grain);
    }
  }
  return text;
}

FilmGrainTable parse_film_grain_table(const std::string& text, const std::string& name) {
  Words words(text, name);
  if (words.next() != kMagic) {
    throw Error(name + ": is not a film grain table, which begins with " + std::string(kMagic));
  }
  FilmGrainTable table;
  while (!words.at_end()) {
    table.push_back(read_entry(words, table.empty() ? 0 : table.back().end));
  }
  if (table.empty()) {
    throw Error(name + ": the film grain table has no entries");
  }
  return table;
}

FilmGrainTable rebased(const FilmGrainTable& table, std::int64_t start) {
  FilmGrainTable result;
  for (FilmGrainEntry entry : table) {
    if (entry.end > start) {
      entry.start = std::max<std::int64_t>(entry.start - start, 0);
      entry.end -= start;
      result.push_back(std::move(entry));
    }
  }
  return result;
}

FilmGrainTable scaled(FilmGrainTable table, double strength) {
  for (FilmGrainEntry& entry : table) {
    entry.grain = scaled(std::move(entry.grain), strength);
  }
  return table;
}

const std::array<std::int16_t, 2048> kGaussianSequence = {
    56,    568,   -180,  172,   124,  -84,   172,   -64,   -900,  24,    820,   224,   1248,  996,   272,
    -8,    -916,  -388,  -732,  -104, -188,  800,   112,   -652,  -320,  -376,  140,   -252,  492,   -168,
    44,    -788,  588,   -584,  500,  -228,  12,    680,   272,   -476,  972,   -100,  652,   368,   432,
    -196,  -720,  -192,  1000,  -332, 652,   -136,  -552,  -604,  -4,    192,   -220,  -136,  1000,  -52,
    372,   -96,   -624,  124,   -24,  396,   540,   -12,   -104,  640,   464,   244,   -208,  -84,   368,
    -528,  -740,  248,   -968,  -848, 608,   376,   -60,   -292,  -40,   -156,  252,   -292,  248,   224,
    -280,  400,   -244,  244,   -60,  76,    -80,   212,   532,   340,   128,   -36,   824,   -352,  -60,
    -264,  -96,   -612,  416,   -704, 220,   -204,  640,   -160,  1220,  -408,  900,   336,   20,    -336,
    -96,   -792,  304,   48,    -28,  -1232, -1172, -448,  104,   -292,  -520,  244,   60,    -948,  0,
    -708,  268,   108,   356,   -548, 488,   -344,  -136,  488,   -196,  -224,  656,   -236,  -1128, 60,
    4,     140,   276,   -676,  -376, 168,   -108,  464,   8,     564,   64,    240,   308,   -300,  -400,
    -456,  -136,  56,    120,   -408, -116,  436,   504,   -232,  328,   844,   -164,  -84,   784,   -168,
    232,   -224,  348,   -376,  128,  568,   96,    -1244, -288,  276,   848,   832,   -360,  656,   464,
    -384,  -332,  -356,  728,   -388, 160,   -192,  468,   296,   224,   140,   -776,  -100,  280,   4,
    196,   44,    -36,   -648,  932,  16,    1428,  28,    528,   808,   772,   20,    268,   88,    -332,
    -284,  124,   -384,  -448,  208,  -228,  -1044, -328,  660,   380,   -148,  -300,  588,   240,   540,
    28,    136,   -88,   -436,  256,  296,   -1000, 1400,  0,     -48,   1056,  -136,  264,   -528,  -1108,
    632,   -484,  -592,  -344,  796,  124,   -668,  -768,  388,   1296,  -232,  -188,  -200,  -288,  -4,
    308,   100,   -168,  256,   -500, 204,   -508,  648,   -136,  372,   -272,  -120,  -1004, -552,  -548,
    -384,  548,   -296,  428,   -108, -8,    -912,  -324,  -224,  -88,   -112,  -220,  -100,  996,   -796,
    548,   360,   -216,  180,   428,  -200,  -212,  148,   96,    148,   284,   216,   -412,  -320,  120,
    -300,  -384,  -604,  -572,  -332, -8,    -180,  -176,  696,   116,   -88,   628,   76,    44,    -516,
    240,   -208,  -40,   100,   -592, 344,   -308,  -452,  -228,  20,    916,   -1752, -136,  -340,  -804,
    140,   40,    512,   340,   248,  184,   -492,  896,   -156,  932,   -628,  328,   -688,  -448,  -616,
    -752,  -100,  560,   -1020, 180,  -800,  -64,   76,    576,   1068,  396,   660,   552,   -108,  -28,
    320,   -628,  312,   -92,   -92,  -472,  268,   16,    560,   516,   -672,  -52,   492,   -100,  260,
    384,   284,   292,   304,   -148, 88,    -152,  1012,  1064,  -228,  164,   -376,  -684,  592,   -392,
    156,   196,   -524,  -64,   -884, 160,   -176,  636,   648,   404,   -396,  -436,  864,   424,   -728,
    988,   -604,  904,   -592,  296,  -224,  536,   -176,  -920,  436,   -48,   1176,  -884,  416,   -776,
    -824,  -884,  524,   -548,  -564, -68,   -164,  -96,   692,   364,   -692,  -1012, -68,   260,   -480,
    876,   -1116, 452,   -332,  -352, 892,   -1088, 1220,  -676,  12,    -292,  244,   496,   372,   -32,
    280,   200,   112,   -440,  -96,  24,    -644,  -184,  56,    -432,  224,   -980,  272,   -260,  144,
    -436,  420,   356,   364,   -528, 76,    172,   -744,  -368,  404,   -752,  -416,  684,   -688,  72,
    540,   416,   92,    444,   480,  -72,   -1416, 164,   -1172, -68,   24,    424,   264,   1040,  128,
    -912,  -524,  -356,  64,    876,  -12,   4,     -88,   532,   272,   -524,  320,   276,   -508,  940,
    24,    -400,  -120,  756,   60,   236,   -412,  100,   376,   -484,  400,   -100,  -740,  -108,  -260,
    328,   -268,  224,   -200,  -416, 184,   -604,  -564,  -20,   296,   60,    892,   -888,  60,    164,
    68,    -760,  216,   -296,  904,  -336,  -28,   404,   -356,  -568,  -208,  -1480, -512,  296,   328,
    -360,  -164,  -1560, -776,  1156, -428,  164,   -504,  -112,  120,   -216,  -148,  -264,  308,   32,
    64,    -72,   72,    116,   176,  -64,   -272,  460,   -536,  -784,  -280,  348,   108,   -752,  -132,
    524,   -540,  -776,  116,   -296, -1196, -288,  -560,  1040,  -472,  116,   -848,  -1116, 116,   636,
    696,   284,   -176,  1016,  204,  -864,  -648,  -248,  356,   972,   -584,  -204,  264,   880,   528,
    -24,   -184,  116,   448,   -144, 828,   524,   212,   -212,  52,    12,    200,   268,   -488,  -404,
    -880,  824,   -672,  -40,   908,  -248,  500,   716,   -576,  492,   -576,  16,    720,   -108,  384,
    124,   344,   280,   576,   -500, 252,   104,   -308,  196,   -188,  -8,    1268,  296,   1032,  -1196,
    436,   316,   372,   -432,  -200, -660,  704,   -224,  596,   -132,  268,   32,    -452,  884,   104,
    -1008, 424,   -1348, -280,  4,    -1168, 368,   476,   696,   300,   -8,    24,    180,   -592,  -196,
    388,   304,   500,   724,   -160, 244,   -84,   272,   -256,  -420,  320,   208,   -144,  -156,  156,
    364,   452,   28,    540,   316,  220,   -644,  -248,  464,   72,    360,   32,    -388,  496,   -680,
    -48,   208,   -116,  -408,  60,   -604,  -392,  548,   -840,  784,   -460,  656,   -544,  -388,  -264,
    908,   -800,  -628,  -612,  -568, 572,   -220,  164,   288,   -16,   -308,  308,   -112,  -636,  -760,
    280,   -668,  432,   364,   240,  -196,  604,   340,   384,   196,   592,   -44,   -500,  432,   -580,
    -132,  636,   -76,   392,   4,    -412,  540,   508,   328,   -356,  -36,   16,    -220,  -64,   -248,
    -60,   24,    -192,  368,   1040, 92,    -24,   -1044, -32,   40,    104,   148,   192,   -136,  -520,
    56,    -816,  -224,  732,   392,  356,   212,   -80,   -424,  -1008, -324,  588,   -1496, 576,   460,
    -816,  -848,  56,    -580,  -92,  -1372, -112,  -496,  200,   364,   52,    -140,  48,    -48,   -60,
    84,    72,    40,    132,   -356, -268,  -104,  -284,  -404,  732,   -520,  164,   -304,  -540,  120,
    328,   -76,   -460,  756,   388,  588,   236,   -436,  -72,   -176,  -404,  -316,  -148,  716,   -604,
    404,   -72,   -88,   -888,  -68,  944,   88,    -220,  -344,  960,   472,   460,   -232,  704,   120,
    832,   -228,  692,   -508,  132,  -476,  844,   -748,  -364,  -44,   1116,  -1104, -1056, 76,    428,
    552,   -692,  60,    356,   96,   -384,  -188,  -612,  -576,  736,   508,   892,   352,   -1132, 504,
    -24,   -352,  324,   332,   -600, -312,  292,   508,   -144,  -8,    484,   48,    284,   -260,  -240,
    256,   -100,  -292,  -204,  -44,  472,   -204,  908,   -188,  -1000, -256,  92,    1164,  -392,  564,
    356,   652,   -28,   -884,  256,  484,   -192,  760,   -176,  376,   -524,  -452,  -436,  860,   -736,
    212,   124,   504,   -476,  468,  76,    -472,  552,   -692,  -944,  -620,  740,   -240,  400,   132,
    20,    192,   -196,  264,   -668, -1012, -60,   296,   -316,  -828,  76,    -156,  284,   -768,  -448,
    -832,  148,   248,   652,   616,  1236,  288,   -328,  -400,  -124,  588,   220,   520,   -696,  1032,
    768,   -740,  -92,   -272,  296,  448,   -464,  412,   -200,  392,   440,   -200,  264,   -152,  -260,
    320,   1032,  216,   320,   -8,   -64,   156,   -1016, 1084,  1172,  536,   484,   -432,  132,   372,
    -52,   -256,  84,    116,   -352, 48,    116,   304,   -384,  412,   924,   -300,  528,   628,   180,
    648,   44,    -980,  -220,  1320, 48,    332,   748,   524,   -268,  -720,  540,   -276,  564,   -344,
    -208,  -196,  436,   896,   88,   -392,  132,   80,    -964,  -288,  568,   56,    -48,   -456,  888,
    8,     552,   -156,  -292,  948,  288,   128,   -716,  -292,  1192,  -152,  876,   352,   -600,  -260,
    -812,  -468,  -28,   -120,  -32,  -44,   1284,  496,   192,   464,   312,   -76,   -516,  -380,  -456,
    -1012, -48,   308,   -156,  36,   492,   -156,  -808,  188,   1652,  68,    -120,  -116,  316,   160,
    -140,  352,   808,   -416,  592,  316,   -480,  56,    528,   -204,  -568,  372,   -232,  752,   -344,
    744,   -4,    324,   -416,  -600, 768,   268,   -248,  -88,   -132,  -420,  -432,  80,    -288,  404,
    -316,  -1216, -588,  520,   -108, 92,    -320,  368,   -480,  -216,  -92,   1688,  -300,  180,   1020,
    -176,  820,   -68,   -228,  -260, 436,   -904,  20,    40,    -508,  440,   -736,  312,   332,   204,
    760,   -372,  728,   96,    -20,  -632,  -520,  -560,  336,   1076,  -64,   -532,  776,   584,   192,
    396,   -728,  -520,  276,   -188, 80,    -52,   -612,  -252,  -48,   648,   212,   -688,  228,   -52,
    -260,  428,   -412,  -272,  -404, 180,   816,   -796,  48,    152,   484,   -88,   -216,  988,   696,
    188,   -528,  648,   -116,  -180, 316,   476,   12,    -564,  96,    476,   -252,  -364,  -376,  -392,
    556,   -256,  -576,  260,   -352, 120,   -16,   -136,  -260,  -492,  72,    556,   660,   580,   616,
    772,   436,   424,   -32,   -324, -1268, 416,   -324,  -80,   920,   160,   228,   724,   32,    -516,
    64,    384,   68,    -128,  136,  240,   248,   -204,  -68,   252,   -932,  -120,  -480,  -628,  -84,
    192,   852,   -404,  -288,  -132, 204,   100,   168,   -68,   -196,  -868,  460,   1080,  380,   -80,
    244,   0,     484,   -888,  64,   184,   352,   600,   460,   164,   604,   -196,  320,   -64,   588,
    -184,  228,   12,    372,   48,   -848,  -344,  224,   208,   -200,  484,   128,   -20,   272,   -468,
    -840,  384,   256,   -720,  -520, -464,  -580,  112,   -120,  644,   -356,  -208,  -608,  -528,  704,
    560,   -424,  392,   828,   40,   84,    200,   -152,  0,     -144,  584,   280,   -120,  80,    -556,
    -972,  -196,  -472,  724,   80,   168,   -32,   88,    160,   -688,  0,     160,   356,   372,   -776,
    740,   -128,  676,   -248,  -480, 4,     -364,  96,    544,   232,   -1032, 956,   236,   356,   20,
    -40,   300,   24,    -676,  -596, 132,   1120,  -104,  532,   -1096, 568,   648,   444,   508,   380,
    188,   -376,  -604,  1488,  424,  24,    756,   -220,  -192,  716,   120,   920,   688,   168,   44,
    -460,  568,   284,   1144,  1160, 600,   424,   888,   656,   -356,  -320,  220,   316,   -176,  -724,
    -188,  -816,  -628,  -348,  -228, -380,  1012,  -452,  -660,  736,   928,   404,   -696,  -72,   -268,
    -892,  128,   184,   -344,  -780, 360,   336,   400,   344,   428,   548,   -112,  136,   -228,  -216,
    -820,  -516,  340,   92,    -136, 116,   -300,  376,   -244,  100,   -316,  -520,  -284,  -12,   824,
    164,   -548,  -180,  -128,  116,  -924,  -828,  268,   -368,  -580,  620,   192,   160,   0,     -1676,
    1068,  424,   -56,   -360,  468,  -156,  720,   288,   -528,  556,   -364,  548,   -148,  504,   316,
    152,   -648,  -620,  -684,  -24,  -376,  -384,  -108,  -920,  -1032, 768,   180,   -264,  -508,  -1268,
    -260,  -60,   300,   -240,  988,  724,   -376,  -576,  -212,  -736,  556,   192,   1092,  -620,  -880,
    376,   -56,   -4,    -216,  -32,  836,   268,   396,   1332,  864,   -600,  100,   56,    -412,  -92,
    356,   180,   884,   -468,  -436, 292,   -388,  -804,  -704,  -840,  368,   -348,  140,   -724,  1536,
    940,   372,   112,   -372,  436,  -480,  1136,  296,   -32,   -228,  132,   -48,   -220,  868,   -1016,
    -60,   -1044, -464,  328,   916,  244,   12,    -736,  -296,  360,   468,   -376,  -108,  -92,   788,
    368,   -56,   544,   400,   -672, -420,  728,   16,    320,   44,    -284,  -380,  -796,  488,   132,
    204,   -596,  -372,  88,    -152, -908,  -636,  -572,  -624,  -116,  -692,  -200,  -56,   276,   -88,
    484,   -324,  948,   864,   1000, -456,  -184,  -276,  292,   -296,  156,   676,   320,   160,   908,
    -84,   -1236, -288,  -116,  260,  -372,  -644,  732,   -756,  -96,   84,    344,   -520,  348,   -688,
    240,   -84,   216,   -1044, -136, -676,  -396,  -1500, 960,   -40,   176,   168,   1516,  420,   -504,
    -344,  -364,  -360,  1216,  -940, -380,  -212,  252,   -660,  -708,  484,   -444,  -152,  928,   -120,
    1112,  476,   -260,  560,   -148, -344,  108,   -196,  228,   -288,  504,   560,   -328,  -88,   288,
    -1008, 460,   -228,  468,   -836, -196,  76,    388,   232,   412,   -1168, -716,  -644,  756,   -172,
    -356,  -504,  116,   432,   528,  48,    476,   -168,  -608,  448,   160,   -532,  -272,  28,    -676,
    -12,   828,   980,   456,   520,  104,   -104,  256,   -344,  -4,    -28,   -368,  -52,   -524,  -572,
    -556,  -200,  768,   1124,  -208, -512,  176,   232,   248,   -148,  -888,  604,   -600,  -304,  804,
    -156,  -212,  488,   -192,  -804, -256,  368,   -360,  -916,  -328,  228,   -240,  -448,  -472,  856,
    -556,  -364,  572,   -12,   -156, -368,  -340,  432,   252,   -752,  -152,  288,   268,   -580,  -848,
    -592,  108,   -76,   244,   312,  -716,  592,   -80,   436,   360,   4,     -248,  160,   516,   584,
    732,   44,    -468,  -280,  -292, -156,  -588,  28,    308,   912,   24,    124,   156,   180,   -252,
    944,   -924,  -772,  -520,  -428, -624,  300,   -212,  -1144, 32,    -724,  800,   -1128, -212,  -1288,
    -848,  180,   -416,  440,   192,  -576,  -792,  -76,   -1080, 80,    -532,  -352,  -132,  380,   -820,
    148,   1112,  128,   164,   456,  700,   -924,  144,   -668,  -384,  648,   -832,  508,   552,   -52,
    -100,  -656,  208,   -568,  748,  -88,   680,   232,   300,   192,   -408,  -1012, -152,  -252,  -268,
    272,   -876,  -664,  -648,  -332, -136,  16,    12,    1152,  -28,   332,   -536,  320,   -672,  -460,
    -316,  532,   -260,  228,   -40,  1052,  -816,  180,   88,    -496,  -556,  -672,  -368,  428,   92,
    356,   404,   -408,  252,   196,  -176,  -556,  792,   268,   32,    372,   40,    96,    -332,  328,
    120,   372,   -900,  -40,   472,  -264,  -592,  952,   128,   656,   112,   664,   -232,  420,   4,
    -344,  -464,  556,   244,   -416, -32,   252,   0,     -412,  188,   -696,  508,   -476,  324,   -1096,
    656,   -312,  560,   264,   -136, 304,   160,   -64,   -580,  248,   336,   -720,  560,   -348,  -288,
    -276,  -196,  -500,  852,   -544, -236,  -1128, -992,  -776,  116,   56,    52,    860,   884,   212,
    -12,   168,   1020,  512,   -552, 924,   -148,  716,   188,   164,   -340,  -520,  -184,  880,   -152,
    -680,  -208,  -1156, -300,  -528, -472,  364,   100,   -744,  -1056, -32,   540,   280,   144,   -676,
    -32,   -232,  -280,  -224,  96,   568,   -76,   172,   148,   148,   104,   32,    -296,  -32,   788,
    -80,   32,    -16,   280,   288,  944,   428,   -484,
};

namespace {

constexpr int kTemplateBorder = 3;
constexpr std::array<int, 3> kSeedMasks{0, 0xb524, 0x49d8};

GrainTemplate gaussian_template(const FilmGrain& parameters, const FrameFormat& format, int plane) {
  GrainTemplate result;
  result.half_width = plane > 0 && format.chroma_shift_x > 0;
  result.half_height = plane > 0 && format.chroma_shift_y > 0;
  result.width = result.half_width ? 44 : 82;
  result.height = result.half_height ? 38 : 73;
  result.grain.resize(static_cast<std::size_t>(result.width) * result.height);
  if (!parameters.has_grain(plane)) {
    return result;
  }
  constexpr int kGaussianDepth = 12;
  constexpr int kIndexBits = 11;
  const int shift = kGaussianDepth - format.bit_depth + parameters.grain_shift;
  GrainRandom random(parameters.seed ^ kSeedMasks[plane]);
  for (int& each : result.grain) {
    each = round_shift(kGaussianSequence[random.next(kIndexBits)], shift);
  }
  return result;
}

/// The sum over the neighbors of a sample.
int sum_of_neighbors(const FilmGrain& parameters, int plane, const int* at, int stride) {
  const int lag = parameters.lag;
  const int* coefficient = parameters.coefficients[plane].data();
  int sum = 0;
  for (int dy = -lag; dy < 0; ++dy) {
    for (int dx = -lag; dx <= lag; ++dx) {
      sum += *coefficient++ * at[dy * stride + dx];
    }
  }
  for (int dx = -lag; dx < 0; ++dx) {
    sum += *coefficient++ * at[dx];
  }
  return sum;
}

/// The mean of the luma grain that a sample of chroma covers.
int mean_of_luma(const GrainTemplate& luma, const GrainTemplate& chroma, int y, int x) {
  const int shift_x = chroma.half_width ? 1 : 0;
  const int shift_y = chroma.half_height ? 1 : 0;
  const int left = ((x - kTemplateBorder) << shift_x) + kTemplateBorder;
  const int top = ((y - kTemplateBorder) << shift_y) + kTemplateBorder;
  int sum = 0;
  for (int dy = 0; dy <= shift_y; ++dy) {
    for (int dx = 0; dx <= shift_x; ++dx) {
      sum += luma.at(top + dy, left + dx);
    }
  }
  return round_shift(sum, shift_x + shift_y);
}

/// Filters the template. `luma`: null for luma and for luma without grain.
void filter_template(const FilmGrain& parameters, int bit_depth, int plane, const GrainTemplate* luma,
                     GrainTemplate& result) {
  const GrainRange range(bit_depth);
  const int of_luma = parameters.coefficients[plane][parameters.neighbors()];
  for (int y = kTemplateBorder; y < result.height; ++y) {
    for (int x = kTemplateBorder; x < result.width - kTemplateBorder; ++x) {
      int& grain = result.grain[static_cast<std::size_t>(y) * result.width + x];
      int sum = sum_of_neighbors(parameters, plane, &grain, result.width);
      if (luma != nullptr) {
        sum += of_luma * mean_of_luma(*luma, result, y, x);
      }
      grain = range.clip(grain + round_shift(sum, parameters.coefficient_shift));
    }
  }
}

}  // namespace

GrainTemplate luma_template(const FilmGrain& parameters, const FrameFormat& format) {
  GrainTemplate result = gaussian_template(parameters, format, 0);
  filter_template(parameters, format.bit_depth, 0, nullptr, result);
  return result;
}

GrainTemplate chroma_template(const FilmGrain& parameters, const FrameFormat& format, int plane,
                              const GrainTemplate& luma) {
  GrainTemplate result = gaussian_template(parameters, format, plane);
  const bool has_luma = parameters.has_grain(0);
  filter_template(parameters, format.bit_depth, plane, has_luma ? &luma : nullptr, result);
  return result;
}

namespace {

constexpr int kBlockSide = 32;   // of luma samples
constexpr int kOverlap = 2;      // of luma samples, beyond a block
constexpr int kWeightShift = 5;  // of blending

/// The `i`-th sample of the overlap: of `before`, which ends there, and of `behind`.
int blended(int before, int behind, int i, bool half, const GrainRange& range) {
  constexpr std::array<std::pair<int, int>, 2> kFull{{{27, 17}, {17, 27}}};
  constexpr std::pair<int, int> kHalf{23, 22};
  const auto [of_before, of_behind] = half ? kHalf : kFull[i];
  return range.clip(round_shift(before * of_before + behind * of_behind, kWeightShift));
}

/// The grain of a plane: rows of blocks of the template, which overlap.
class GrainPlane {
 public:
  GrainPlane(const FilmGrain& parameters, GrainTemplate source, int bit_depth, int width)
      : parameters_(parameters),
        template_(std::move(source)),
        range_(bit_depth),
        width_(width),
        rows_((kBlockSide + kOverlap) >> (template_.half_height ? 1 : 0)) {
    for (std::vector<int>& stripe : stripes_) {
      stripe.resize(static_cast<std::size_t>(rows_) * width_);
    }
  }

  /// The grain of a row. Rows must be requested from 0 on, in their order.
  void row(int y, std::vector<int>& grain) {
    const int side = kBlockSide >> (template_.half_height ? 1 : 0);
    const int overlap = rows_ - side;
    const int i = y % side;
    if (i == 0) {
      std::swap(stripes_[0], stripes_[1]);
      fill(y / side, stripes_[1]);
    }
    const int* const own = &stripes_[1][static_cast<std::size_t>(i) * width_];
    std::copy_n(own, width_, grain.begin());
    if (parameters_.overlap && y >= side && i < overlap) {
      const int* const before = &stripes_[0][static_cast<std::size_t>(side + i) * width_];
      for (int x = 0; x < width_; ++x) {
        grain[x] = blended(before[x], own[x], i, template_.half_height, range_);
      }
    }
  }

 private:
  void fill(int number, std::vector<int>& stripe) const {
    const int seed = parameters_.seed ^ (((number * 37 + 178) & 255) << 8) ^ ((number * 173 + 105) & 255);
    GrainRandom random(seed);
    const int side = kBlockSide >> (template_.half_width ? 1 : 0);
    for (int left = 0; left < width_; left += side) {
      constexpr int kOffsetBits = 8;
      const int offsets = random.next(kOffsetBits);
      place_block(offsets >> 4, offsets & 15, left, stripe);
    }
  }

  void place_block(int offset_x, int offset_y, int left, std::vector<int>& stripe) const {
    const int from_x = template_.first_column() + (template_.half_width ? offset_x : 2 * offset_x);
    const int from_y = template_.first_row() + (template_.half_height ? offset_y : 2 * offset_y);
    const int overlap = kOverlap >> (template_.half_width ? 1 : 0);
    const int columns = std::min((kBlockSide + kOverlap) >> (template_.half_width ? 1 : 0), width_ - left);
    for (int y = 0; y < rows_; ++y) {
      int* const to = &stripe[static_cast<std::size_t>(y) * width_ + left];
      for (int x = 0; x < columns; ++x) {
        const int grain = template_.at(from_y + y, from_x + x);
        const bool is_blended = parameters_.overlap && left > 0 && x < overlap;
        to[x] = is_blended ? blended(to[x], grain, x, template_.half_width, range_) : grain;
      }
    }
  }

  const FilmGrain& parameters_;
  GrainTemplate template_;
  GrainRange range_;
  int width_;
  int rows_;
  std::array<std::vector<int>, 2> stripes_;  ///< the one before, and the last one
};

/// A scaling function for samples of any depth.
class Scaling {
 public:
  Scaling(const std::vector<FilmGrain::Point>& points, int bit_depth)
      : function_(scaling_function(points)), shift_(bit_depth - 8) {}

  int at(int sample) const {
    const int x = sample >> shift_;
    if (shift_ == 0 || x == 255) {
      return function_[x];
    }
    const int rest = sample - (x << shift_);
    return function_[x] + round_shift((function_[x + 1] - function_[x]) * rest, shift_);
  }

 private:
  std::array<std::uint8_t, 256> function_;
  int shift_;
};

struct SampleLimits {
  int least;
  int most;
  SampleLimits(const FilmGrain& grain, int bit_depth, bool luma) {
    const int unit = 1 << (bit_depth - 8);
    least = grain.clips_to_limited ? 16 * unit : 0;
    most = grain.clips_to_limited ? (luma ? 235 : 240) * unit : 256 * unit - 1;
  }
};

template <typename Sample>
class Synthesis {
 public:
  Synthesis(const FilmGrain& grain, const Frame& from, const Frame& to)
      : grain_(grain), from_(from), to_(to) {}

  void run() {
    const GrainTemplate luma = luma_template(grain_, from_.format);
    for (int plane = 0; plane < from_.format.color_plane_count(); ++plane) {
      if (grain_.has_grain(plane)) {
        add(plane, plane == 0 ? luma : chroma_template(grain_, from_.format, plane, luma));
      }
    }
  }

 private:
  void add(int plane, const GrainTemplate& source) {
    const int depth = from_.format.bit_depth;
    const Plane& samples = from_.planes[plane];
    const bool is_scaled_as_luma = plane == 0 || grain_.chroma_from_luma;
    const Scaling scaling(grain_.points[is_scaled_as_luma ? 0 : plane], depth);
    const SampleLimits limits(grain_, depth, plane == 0);
    GrainPlane grain(grain_, source, depth, samples.width);
    std::vector<int> row(samples.width);
    std::vector<int> index(samples.width);
    for (int y = 0; y < samples.height; ++y) {
      grain.row(y, row);
      find_index(plane, y, index);
      const Sample* const in = samples.row<Sample>(y);
      Sample* const out = to_.planes[plane].template row<Sample>(y);
      for (int x = 0; x < samples.width; ++x) {
        const int noise = round_shift(scaling.at(index[x]) * row[x], grain_.scaling_shift);
        out[x] = static_cast<Sample>(std::clamp(in[x] + noise, limits.least, limits.most));
      }
    }
  }

  /// The samples that the scaling function is applied to.
  void find_index(int plane, int y, std::vector<int>& index) const {
    const Sample* const own = from_.planes[plane].row<Sample>(y);
    if (plane == 0) {
      std::copy_n(own, index.size(), index.begin());
      return;
    }
    const FrameFormat& format = from_.format;
    const Plane& luma = from_.planes[0];
    const Sample* const above = luma.row<Sample>(y << format.chroma_shift_y);
    const FilmGrain::ChromaIndex& factors = grain_.chroma_index[plane - 1];
    const int most = (256 << (format.bit_depth - 8)) - 1;
    const int offset = (factors.offset - 256) * (1 << (format.bit_depth - 8));
    for (std::size_t x = 0; x < index.size(); ++x) {
      const int left = static_cast<int>(x) << format.chroma_shift_x;
      const int right = std::min(left + 1, luma.width - 1);
      const int mean =
          format.chroma_shift_x > 0 ? round_shift(above[left] + above[right], 1) : int{above[left]};
      const int sum = mean * (factors.luma - 128) + own[x] * (factors.chroma - 128);
      index[x] = grain_.chroma_from_luma ? mean : std::clamp((sum >> 6) + offset, 0, most);
    }
  }

  const FilmGrain& grain_;
  const Frame& from_;
  const Frame& to_;
};

}  // namespace

Frame with_film_grain(const FilmGrain& grain, const Frame& frame) {
  Frame result = copied(frame, allocate_frame(frame.format));
  if (frame.format.sample_type == SampleType::kUint8) {
    Synthesis<std::uint8_t>(grain, frame, result).run();
  } else {
    Synthesis<std::uint16_t>(grain, frame, result).run();
  }
  return result;
}

}  // namespace limpid
