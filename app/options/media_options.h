#pragma once

#include <string>
#include <vector>

#include "app/options/command_line.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// --local-only, under the heading `group` if there is one; `command` refers to `value` from then on.
void add_local_only(CommandLine& command, bool& value, const std::string& group = "");

/// --input-option, and for files --input-format, --allow-references and --local-only.
class InputOptions {
 public:
  /// Adds all to `command`, under the heading `group`; the command refers to this object from then on.
  void add_to(CommandLine& command, const std::string& group);
  /// --input-option alone.
  void add_pairs_to(CommandLine& command, const std::string& group);
  /// Throws UsageError.
  void apply_to(io::ReaderOptions& reader) const;
  bool local_only() const { return local_only_; }

 private:
  std::string format_;
  std::vector<std::string> pairs_;
  bool allow_references_ = false;
  bool local_only_ = false;
};

/// --crf, --preset and -e.
class EncoderOptions {
 public:
  /// As InputOptions::add_to().
  void add_to(CommandLine& command, const std::string& group);
  /// Throws UsageError.
  void apply_to(io::WriterOptions& writer) const;

 private:
  std::string crf_;
  std::string preset_;
  std::vector<std::string> pairs_;
};

}  // namespace limpid::app
