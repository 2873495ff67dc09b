// SPDX-License-Identifier: MIT
#include "core/grain/film_grain.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.h"

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
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      fail(line, word.empty() ? "a number is missing"
                              : "'" + std::string(word.substr(0, kMostShown)) + "' is not a number");
    }
    return value;
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

}  // namespace limpid
