// SPDX-License-Identifier: MIT
#include "app/commands/jobs.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "app/console/durable_file.h"
#include "core/base/error.h"
#include "core/base/system/posix.h"
#include "core/base/text.h"
#include "io/media/picture_sequence.h"
#include "io/media/reader.h"

namespace limpid::app {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<Jobs::Input> files_of(const std::string& folder) {
  std::vector<Jobs::Input> files;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (entry.path().filename().string().starts_with('.')) {
        spdlog::debug(fmt::format("{}: skipped, hidden", path));
      } else if (entry.is_directory()) {
        spdlog::info(fmt::format("{}: skipped, because subfolders are not searched", path));
      } else if (entry.is_regular_file()) {
        files.push_back({path, true});
      } else {
        spdlog::info(fmt::format("{}: skipped, not a file", path));
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(folder + ": can't read the folder: " + error.code().message());
  }
  if (files.empty()) {
    throw Error(folder + ": has no files");
  }
  std::sort(files.begin(), files.end(),
            [](const Jobs::Input& a, const Jobs::Input& b) { return a.file < b.file; });
  return files;
}

/// Device and inode, which identify a file under any name.
std::optional<std::pair<std::uint64_t, std::uint64_t>> id_of(const std::string& path) {
  posix::Stat status{};
  if (posix::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return std::pair<std::uint64_t, std::uint64_t>(status.st_dev, status.st_ino);
}

/// False for names of sequences and addresses, too.
bool is_absent_file(const std::string& name) {
  std::error_code ignored;
  return name != "-" && !fs::exists(name, ignored) && name.find('%') == std::string::npos &&
         name.find("://") == std::string::npos;
}

/// Throws UsageError for words that are parts of a name with blanks, or an option with the dash of a text.
void require_whole_words(const std::vector<std::string>& words) {
  for (std::size_t first = 0; first < words.size(); ++first) {
    if (!is_absent_file(words[first])) {
      continue;
    }
    for (const char* const dash : {"\u2013", "\u2014", "\u2212"}) {
      if (words[first].starts_with(dash)) {
        throw UsageError(words[first] + ": begins with a dash that is not '-'");
      }
    }
    std::string name = words[first];
    for (std::size_t last = first + 1; last < words.size(); ++last) {
      name += " " + words[last];
      if (std::error_code ignored; fs::exists(name, ignored)) {
        throw UsageError(
            fmt::format("{}: no such file; a name with blanks needs quotes: '{}'", words[first], name));
      }
    }
  }
}

/// Throws UsageError if one of several inputs is missing and has no name of a medium: a word after a flag.
void require_files(const std::vector<std::string>& inputs) {
  require_whole_words(inputs);
  const auto absent = std::ranges::find_if(
      inputs, [](const std::string& name) { return is_absent_file(name) && !io::is_media_name(name); });
  if (inputs.size() > 1 && absent != inputs.end()) {
    throw UsageError(*absent + ": no such file");
  }
}

/// "; to denoise numbered pictures as a video, name ser/img_%03d.tif", of several inputs with numbered
/// pictures; else empty.
std::string series_text(const std::vector<Jobs::Input>& inputs) {
  constexpr const char* kDigits = "0123456789";
  constexpr std::int64_t kLeast = 3;
  const auto picture =
      std::ranges::find_if(inputs, [](const Jobs::Input& input) { return io::is_picture_name(input.file); });
  if (picture == inputs.end() || picture->file.find('%') != std::string::npos) {
    return "";
  }
  fs::path path(picture->file);
  std::string name = path.stem().string();
  const std::size_t end = name.find_last_of(kDigits) + 1;
  if (end == 0) {
    return "";
  }
  const std::size_t begin = name.find_last_not_of(kDigits, end - 1) + 1;
  name.replace(begin, end - begin, fmt::format("%0{}d", end - begin));
  path.replace_filename(name + path.extension().string());
  return io::PictureSequence(path.string()).count() < kLeast
             ? ""
             : "; to denoise numbered pictures as a video, name " + path.string();
}

/// Throws UsageError for inputs that have no file beside which an output could be written.
void require_neighbor(const std::string& input) {
  std::error_code ignored;
  if (is_folder(input)) {
    throw UsageError(input + ": the folder for the outputs is missing; add -o FOLDER" +
                     series_text(files_of(input)));
  }
  if (input == "-" || (!fs::is_regular_file(input, ignored) && !is_absent_file(input))) {
    throw UsageError((input == "-" ? "standard input" : input) + ": the output is missing; add -o OUTPUT");
  }
}

}  // namespace

std::vector<Jobs::Input> expand_inputs(const std::vector<std::string>& arguments) {
  std::vector<Jobs::Input> inputs;
  require_files(arguments);
  for (const std::string& argument : arguments) {
    if (is_folder(argument)) {
      const std::vector<Jobs::Input> files = files_of(argument);
      inputs.insert(inputs.end(), files.begin(), files.end());
    } else {
      inputs.push_back({argument, false});
    }
  }
  return inputs;
}

void require_folder(const std::string& output, const std::string& advice) {
  std::error_code ignored;
  if (output == "-" || (!is_folder(output) && (fs::exists(output, ignored) || io::is_media_name(output)))) {
    throw UsageError(output + ": is not a folder; several inputs need a folder for their outputs" + advice);
  }
}

void create_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    throw Error(folder + ": cannot create the folder: " + failure.message());
  }
}

Jobs plan_jobs(std::vector<std::string> arguments, const std::string& output_option) {
  Jobs jobs;
  jobs.output = output_option;
  require_whole_words(arguments);
  if (jobs.output.empty()) {
    if (arguments.size() == 1) {
      require_neighbor(arguments.front());
      jobs.inputs = {{arguments.front(), false}};
      return jobs;
    }
    if (arguments.size() > 2) {
      require_files(arguments);
      throw UsageError("several inputs need a folder for the outputs: -o FOLDER");
    }
    // A pattern such as *.mkv may have matched two files: the second is an input then.
    if (std::error_code ignored; fs::is_regular_file(arguments.back(), ignored)) {
      throw UsageError(arguments.back() +
                       ": exists and may be meant as a second input; name the output with -o");
    }
    jobs.output = arguments.back();
    arguments.pop_back();
  }
  jobs.many = arguments.size() > 1 || is_folder(arguments.front());
  jobs.into_folder = jobs.many || is_folder(jobs.output) || jobs.output.ends_with('/');
  if (!jobs.into_folder) {
    jobs.inputs = {{arguments.front(), false}};
    return jobs;
  }
  if (jobs.many) {
    require_files(arguments);
  }
  for (const std::string& argument : arguments) {
    if (argument == "-") {
      throw UsageError(
          "an output in a folder is named after its input, and standard input has no name; name a file with "
          "-o");
    }
  }
  jobs.inputs = expand_inputs(arguments);
  jobs.advice = jobs.many ? series_text(jobs.inputs) : "";
  require_folder(jobs.output, jobs.advice);
  return jobs;
}

bool is_skipped(const Jobs::Input& input, const std::exception& failure) {
  const auto* const no_video = dynamic_cast<const io::NoVideo*>(&failure);
  return input.from_folder && no_video != nullptr && (no_video->is_media() || !io::is_media_name(input.file));
}

std::optional<InputFailure> attempt(const Jobs::Input& input, const std::function<void()>& work) {
  InputFailure failure;
  try {
    work();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    failure.text = input.file + ": " + kOutOfMemory;
  } catch (const Error& error) {
    failure = {is_skipped(input, error), with_brief_quotes(error.what())};
  } catch (const std::exception& error) {
    failure.text = input.file + ": " + error.what();
  }
  if (failure.is_skipped) {
    spdlog::info(fmt::format("skipped: {}", failure.text));
  } else {
    spdlog::error(failure.text);
  }
  return failure;
}

std::string output_beside(const std::string& input, bool still_picture, const io::WriterOptions& options,
                          bool must_be_free) {
  const fs::path path(input);
  const std::string stem = (path.parent_path() / path.stem()).string() + "-denoised";
  const std::string extension = io::output_extension(input, still_picture, options);
  return must_be_free ? free_path(stem, extension) : stem + extension;
}

OutputNames::OutputNames(const Jobs& jobs) : folder_(jobs.output) {
  for (const Jobs::Input& input : jobs.inputs) {
    if (const auto id = id_of(input.file)) {
      inputs_.emplace(*id, input.file);
    }
  }
}

std::string OutputNames::name_for(const std::string& input, bool still_picture,
                                  const io::WriterOptions& options) {
  const std::string name =
      fs::path(input).stem().string() + io::output_extension(input, still_picture, options);
  std::string output = (fs::path(folder_) / name).string();
  if (const auto id = id_of(output); id && inputs_.contains(*id)) {
    throw Error(output + ": is " + (inputs_.at(*id) == input ? "the input" : "an input") +
                " itself; name another folder");
  }
  const auto [taken, is_new] = taken_.emplace(output, input);
  if (!is_new) {
    throw Error(input + ": its output " + output + " is already the output of " + taken->second +
                "; rename one of the inputs, or denoise it alone");
  }
  return output;
}

}  // namespace limpid::app
