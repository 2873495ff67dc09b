// SPDX-License-Identifier: MIT
#include "io/media/diagnostic.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace limpid::io {

std::string text_of(const Diagnostics& diagnostics, Diagnostic::Kind kind) {
  const auto found = std::ranges::find(diagnostics, kind, &Diagnostic::kind);
  return found == diagnostics.end() ? std::string() : found->text;
}

std::int64_t count_of(const Diagnostics& diagnostics, Diagnostic::Kind kind) {
  std::int64_t count = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    count += diagnostic.kind == kind ? diagnostic.count : 0;
  }
  return count;
}

std::vector<std::string> texts_of(const Diagnostics& diagnostics) {
  std::vector<std::string> texts;
  std::map<std::string, std::size_t> left_out;  // places in `texts`, by the text without the stream's number
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::string number = diagnostic.stream ? "#" + std::to_string(*diagnostic.stream) : "";
    std::string reason = diagnostic.text;
    if (const std::size_t at = reason.find(number + " "); !number.empty() && at != std::string::npos) {
      reason.erase(at, number.size());
    }
    const auto [known, is_new] = left_out.emplace(std::move(reason), texts.size());
    if (is_new || number.empty()) {
      texts.push_back(diagnostic.text);
    } else {
      std::string& text = texts[known->second];
      text += (text.find(", and also #") == std::string::npos ? ", and also " : ", ") + number;
    }
  }
  return texts;
}

std::vector<unsigned> streams_left_out(const Diagnostics& diagnostics) {
  std::vector<unsigned> streams;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.kind == Diagnostic::Kind::kLeftOut && diagnostic.stream) {
      streams.push_back(*diagnostic.stream);
    }
  }
  return streams;
}

Diagnostics merged(const Diagnostics& of_reader, const Diagnostics& of_writer) {
  Diagnostics all = of_reader;
  for (const Diagnostic& diagnostic : of_writer) {
    const auto same = std::ranges::find(all, diagnostic.kind, &Diagnostic::kind);
    if (diagnostic.count > 0 && same != all.end()) {
      same->count += diagnostic.count;
    } else {
      all.push_back(diagnostic);
    }
  }
  std::ranges::stable_sort(all, {}, &Diagnostic::kind);
  return all;
}

}  // namespace limpid::io
