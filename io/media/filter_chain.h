// SPDX-License-Identifier: MIT
#pragma once

// Chains of libavfilter's filters that users give, in ffmpeg's syntax.

#include <memory>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/display_properties.h"
#include "io/media/reader.h"

namespace limpid::io {

/// FilterChain::option() of a chain that converts colors.
inline constexpr const char* kForWeb = "--for web";

/// A filter of a chain.
struct ChainFilter {
  std::string name;
  std::string arguments;
};

/// A chain of filters that libavfilter has. Nothing is opened until require_accepted() or a FilterGraph.
/// Its grammar is a part of libavfilter's, where the names of all filters are plain to see:
///   chain   = filter { ("," | ";") filter }         filter = { link } name [ "=" options ] { link }
///   link    = "[" name "]"                          name   = letters, digits and "_"
///   options = characters except [ ] , ; ' and \, texts in quotes, and \ before a punctuation mark
/// "sws_flags=" at the beginning and "@" after a name are not a part of it.
class FilterChain {
 public:
  /// `option`: name of the option, for messages. Throws UsageError for other text and unknown filters, and
  /// with `local_only` for filters that may open files or connections.
  FilterChain(std::string option, std::string text, bool local_only);

  const std::string& option() const { return option_; }
  const std::string& text() const { return text_; }
  const std::vector<ChainFilter>& filters() const { return filters_; }

  /// The name of the first filter that may use more than one frame for a result, or the number of a frame;
  /// empty if there is none.
  std::string first_with_memory() const;
  /// True if each pixel keeps its place in the picture, which may be scaled.
  bool keeps_layout() const;

  /// Throws UsageError for a chain that libavfilter does not accept, whatever the frames.
  void require_accepted() const;
  /// Throws UsageError if the chain has memory. `where` names what requires independent frames.
  void require_no_memory(const std::string& where) const;

  /// Throws Error for memory or threads that are missing, and else UsageError with the filter that
  /// libavfilter has named in its first message since forget_logged_messages(), and with the message.
  [[noreturn]] void fail(int code) const;

 private:
  void require_known_filters() const;
  void require_names_of_libavfilter() const;
  void require_local_filters() const;

  std::string option_;
  std::string text_;
  std::vector<ChainFilter> filters_;
};

/// Throws UsageError if a chain is given and has filters with memory, or filters that may open files.
/// `where` names what requires others.
void require_independent_frames(const std::string& option, const std::string& chain,
                                const std::string& where);

/// Filters frames of a source, or results made of them, one by one: in any order, as often as needed. Not
/// for use by two threads at once.
class PictureFilter : NotCopyable {
 public:
  /// `chain` must have no memory. Throws UsageError if it does not accept the frames of `reader`, which need
  /// not outlive this object.
  PictureFilter(const FilterChain& chain, const Reader& reader);
  ~PictureFilter();

  /// Properties of the results.
  const FrameFormat& format() const;
  const DisplayProperties& display() const;

  /// The result for a frame in host memory.
  Frame filter(const Frame& frame);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace limpid::io
