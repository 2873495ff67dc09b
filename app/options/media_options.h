// SPDX-License-Identifier: MIT
#pragma once

// The options of readers and writers, declared once: the command line, plans and reports walk these tables.

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/options/command_line.h"
#include "core/base/not_copyable.h"
#include "core/settings/json_reader.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// An option for reading or writing media. Options: io::ReaderOptions or io::WriterOptions.
template <typename Options>
struct MediaField {
  using Pairs = std::vector<std::pair<std::string, std::string>>;  ///< KEY=VALUE
  using Time = std::optional<double>;                              ///< in seconds; parse_time()

  std::string names;  ///< names on the command line, such as "-c,--codec"
  std::string value;  ///< placeholder of the value in help; empty: a flag
  std::string help;
  /// A flag sets its member to the opposite of the default.
  std::variant<std::string Options::*, bool Options::*, Time Options::*, Pairs Options::*> member;
  bool advanced = false;                ///< listed by --help-all only
  std::vector<std::string> words = {};  ///< values that completions offer

  /// "--codec".
  std::string option() const;
  /// In JSON: "codec".
  std::string key() const;
};

template <typename Options>
using MediaFields = std::vector<MediaField<Options>>;

const MediaFields<io::ReaderOptions>& reader_fields();
const MediaFields<io::WriterOptions>& writer_fields();

/// All fields as a JSON object. Empty texts and missing times are null.
template <typename Options>
nlohmann::ordered_json to_json(const MediaFields<Options>& fields, const Options& options);

/// Sets the fields from a result of to_json(). A missing or null member leaves the default. Throws Error for
/// an unknown member or a wrong type.
template <typename Options>
void read_json(const MediaFields<Options>& fields, const JsonValue& json, Options& options);

/// The values of media options on the command line.
template <typename Options>
class MediaOptions : NotCopyable {
 public:
  explicit MediaOptions(const MediaFields<Options>& fields);
  ~MediaOptions() = default;

  /// Adds the fields with these keys to `command`, which keeps a reference to this object.
  void add_to(CommandLine& command, const std::vector<std::string_view>& keys);
  /// Throws UsageError for illegal values.
  void apply_to(Options& options) const;

 private:
  struct Value {
    const MediaField<Options>* field;
    std::string text;
    std::vector<std::string> texts;
    bool flag = false;
  };

  const MediaFields<Options>& fields_;
  std::deque<Value> values_;
};

/// Seconds from "83.5", "1:23.5" or "0:01:23.5". Minutes and seconds after a colon must be below 60. Throws
/// UsageError that names the option.
double parse_time(const std::string& option, const std::string& text);

/// --duration, beside --start and --end.
class DurationOption {
 public:
  /// The command keeps a reference to this object.
  void add_to(CommandLine& command);
  /// Sets the end of `reader`, which has its start. Throws UsageError for an illegal value, for a duration
  /// beside an end, and if the end is not later than the start.
  void apply_to(io::ReaderOptions& reader) const;

 private:
  std::string text_;
};

/// Adds --local-only, for commands that have no other reader options.
void add_local_only(CommandLine& command, bool& value);

/// Sets the encoding of an output unless an option does: "lossless" for a lossless source into a container of
/// lossless video, if no other option of the encoder is given; else "high". Throws UsageError for unknown
/// ones.
void settle_encoding(io::WriterOptions& options, const std::string& output, bool is_source_lossless);

/// Sets the options for a purpose (web, archive or edit), except those that `options` has. Does nothing for
/// an empty purpose. Throws UsageError for an unknown one.
void apply_purpose(const std::string& purpose, io::WriterOptions& options);

/// Throws UsageError if the name of the output requests another container than the purpose.
void require_container_of_purpose(const std::string& purpose, const std::string& output,
                                  const io::WriterOptions& options);

}  // namespace limpid::app
