// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/media/writer.h"

namespace limpid::app {

/// The inputs and outputs in the arguments of limpid denoise.
struct Jobs {
  struct Input {
    std::string file;
    bool from_folder = false;  ///< found in a folder, so possibly not a media file
  };
  std::vector<Input> inputs;
  std::string output;        ///< a file, or a folder; empty: a file beside the input, NAME-denoised.EXT
  bool into_folder = false;  ///< outputs are named after their inputs
  bool many = false;         ///< several inputs, or a folder of them
  std::string advice;        ///< for pictures that may be meant as a video; empty: none
};

/// Interprets the arguments IN, IN OUT, IN with -o OUT, or any number of files and folders with -o FOLDER.
/// Files of a folder are sorted by name; skipped files are logged. Without -o, OUT must not be an existing
/// file. Throws UsageError for illegal arguments, and Error for a folder that cannot be read or is empty.
Jobs plan_jobs(std::vector<std::string> arguments, const std::string& output_option);

/// Throws UsageError, which ends with `advice`, if `output` is a file, or has the name of one, and not a
/// folder for several outputs.
void require_folder(const std::string& output, const std::string& advice = {});

/// Creates a folder for outputs, and those above it. Throws Error.
void create_folder(const std::string& folder);

/// The files that the arguments name: files of a folder are sorted by name; skipped files are logged. Throws
/// Error for a folder that cannot be read or is empty.
std::vector<Jobs::Input> expand_inputs(const std::vector<std::string>& arguments);

/// Why one of several inputs has no result.
struct InputFailure {
  bool is_skipped = false;  ///< a file of a folder that is not a video
  std::string text;
};

/// Calls `work`, which processes one of several inputs. Logs and returns its failure.
std::optional<InputFailure> attempt(const Jobs::Input& input, const std::function<void()>& work);
/// True if `failure` shows that a file of a folder is not a video.
bool is_skipped(const Jobs::Input& input, const std::exception& failure);

/// The output for an input without -o: NAME-denoised.EXT beside it, with the extension of OutputNames, or
/// NAME-denoised-2.EXT and so on if `must_be_free` and the file exists.
std::string output_beside(const std::string& input, bool still_picture, const io::WriterOptions& options,
                          bool must_be_free);

/// Names for the outputs of jobs that write into a folder.
class OutputNames {
 public:
  explicit OutputNames(const Jobs& jobs);

  /// The output for an input: the input's name in the folder, with the input's extension if files of that
  /// type can be written. Throws Error if this file is an input or is already the output for another input.
  std::string name_for(const std::string& input, bool still_picture, const io::WriterOptions& options);

 private:
  using FileId = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
  std::string folder_;
  std::map<FileId, std::string> inputs_;
  std::map<std::string, std::string> taken_;  // output to input
};

}  // namespace limpid::app
