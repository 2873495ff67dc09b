// SPDX-License-Identifier: MIT
#include "core/base/text.h"

#include <cstddef>

namespace limpid {
namespace {

constexpr std::size_t kMostBytes = 200;

/// Does not end within a character of UTF-8.
std::string shortened(std::string_view text) {
  std::size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

void shorten_all(std::string& sentence, std::string_view argument) {
  if (argument.size() <= kMostBytes) {
    return;
  }
  const std::string brief = shortened(argument);
  for (std::size_t at = sentence.find(argument); at != std::string::npos;
       at = sentence.find(argument, at + brief.size())) {
    sentence.replace(at, argument.size(), brief);
  }
}

/// The distance of Damerau and Levenshtein, in the form that edits no letter twice.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({replaced, cost[i - 1][j] + 1, cost[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string with_brief_quotes(std::string sentence, const std::vector<std::string_view>& arguments) {
  if (sentence.size() <= kMostBytes) {
    return sentence;
  }
  for (const std::string_view argument : arguments) {
    shorten_all(sentence, argument);
    if (const std::size_t equals = argument.find('='); equals != std::string_view::npos) {
      shorten_all(sentence, argument.substr(equals + 1));
    }
  }
  std::string result;
  const std::string_view rest = sentence;
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find(' ', begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    const bool ends_subject = word.size() > kMostBytes && word.back() == ':';
    result += (word.size() > kMostBytes ? shortened(word) : std::string(word)) + (ends_subject ? ":" : "");
    result += end < rest.size() ? " " : "";
    begin = end + 1;
  }
  return result;
}

std::string nearest_name(std::string_view given, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 64;  // names are shorter; bounds the time of distance()
  constexpr std::size_t kLongName = 7;
  if (given.empty() || given.size() > kLongest) {
    return "";
  }
  const auto without_dashes = [](std::string_view name) {
    return lower_case(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  };
  const std::string wanted = without_dashes(given);
  std::string nearest;
  std::size_t least = 0;
  for (const std::string& name : names) {
    const std::string candidate = without_dashes(name);
    const std::size_t difference = distance(wanted, candidate);
    if (difference <= (candidate.size() < kLongName ? 1 : 2) && difference < wanted.size() &&
        (nearest.empty() || difference < least)) {
      nearest = name;
      least = difference;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names) {
  const std::string name = nearest_name(given, names);
  return name.empty() ? "" : "; did you mean '" + name + "'?";
}

}  // namespace limpid
