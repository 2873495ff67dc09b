// SPDX-License-Identifier: MIT
#include "io/media/reader/open_input.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/base/error.h"
#include "io/media/output_file.h"
#include "io/media/reader/input_format.h"
#include "io/media/references.h"

namespace limpid::io {
namespace {

/// libav's form of a file's name: "pipe:0" for "-", and a file whose name contains a colon does not become a
/// protocol.
std::string libav_url(const std::string& url) {
  if (url == "-") {
    return "pipe:0";
  }
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(url, ignored) || url.starts_with("pipe:");
  return !has_protocol(url) && is_file ? "file:" + url : url;
}

[[noreturn]] void throw_reference(const std::string& url, const std::string& demuxer) {
  throw Error(url + ": is a list of other files (" + demuxer +
              "), which are read only with --allow-references");
}

/// Throws an error for faults of a file that can be detected without opening it.
void look_at_file(const std::string& url) {
  std::error_code ignored;
  if (std::filesystem::is_directory(url, ignored)) {
    throw Error(url + ": is a directory, not a file");
  }
  if (std::filesystem::is_regular_file(url, ignored) && std::filesystem::file_size(url, ignored) == 0) {
    throw NoVideo(url + ": the file is empty", false);
  }
}

[[noreturn]] void explain_failure(int code, const std::string& url, const ReaderOptions& options,
                                  bool is_pipe, const AVIOInterruptCB& interrupt) {
  if (url != "-" && !has_protocol(url) && options.input_format.empty()) {
    look_at_file(url);
  }
  if (code == AVERROR_INVALIDDATA) {
    throw NoVideo(url + ": no video or picture found in it", false);
  }
  if (code == AVERROR(EINVAL) && !options.allow_references && !is_pipe) {
    const std::string name = demuxer_of_references(libav_url(url), interrupt);
    if (!name.empty()) {
      throw_reference(url, name);
    }
  }
  if (code == AVERROR(EBUSY) && options.input_format.empty()) {
    // from libav's y4m demuxer
    throw Error(url + ": the picture size in its header is not possible");
  }
  if (code == AVERROR(EINVAL) && !options.options.empty()) {
    throw UsageError(url + ": can't open it with the options given" + logged_reason());
  }
  if (code == AVERROR(ENOENT) && is_sequence(url)) {
    throw Error(
        url +
        ": no picture of this sequence was found (--input-option start_number=N sets the first number)");
  }
  check(code, url, "can't open it");
  throw Error(url + ": can't open it");
}

}  // namespace

const AVInputFormat* requested_format(const std::string& url, const ReaderOptions& options) {
  const AVInputFormat* format = nullptr;
  if (!options.input_format.empty()) {
    avdevice_register_all();
    format = av_find_input_format(options.input_format.c_str());
    if (format == nullptr) {
      throw UsageError("no input format is called '" + options.input_format + "'");
    }
  }
  if (options.local_only) {
    require_local_source(libav_url(url), format, options.options);
  }
  if (format != nullptr && !options.allow_references && follows_references(*format) &&
      !is_address_for(url, *format)) {
    throw_reference(url, format->name);
  }
  return format;
}

std::optional<std::int64_t> first_of_sequence(const std::string& url, const ReaderOptions& options) {
  const auto start =
      std::ranges::find(options.options, "start_number", &std::pair<std::string, std::string>::first);
  const std::int64_t least =
      start == options.options.end() ? 0 : std::strtoll(start->second.c_str(), nullptr, 10);
  const std::filesystem::path path(url);
  const std::string pattern = path.filename().string();
  const std::size_t prefix = pattern.find('%');
  std::optional<std::int64_t> first;
  std::error_code ignored;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= prefix || name.compare(0, prefix, pattern, 0, prefix) != 0) {
      continue;
    }
    const std::int64_t number = std::strtoll(name.c_str() + prefix, nullptr, 10);
    if (number >= least && number <= INT_MAX && (!first || number < *first) &&
        std::filesystem::path(picture_name(url, number)).filename() == name) {
      first = number;
    }
  }
  return first;
}

InputHandle open_input(const std::string& url, const ReaderOptions& options, const AVInputFormat* requested,
                       AVIOContext* bytes, const AVIOInterruptCB& interrupt, Dictionary& unused) {
  UnopenedInputHandle context(avformat_alloc_context());
  if (context == nullptr) {
    throw Error("out of memory");
  }
  context->interrupt_callback = interrupt;
  context->pb = bytes;
  if (requested != nullptr && is_live(*requested)) {
    // A read that waits in the driver could not be interrupted, and frames queued during probing are
    // outdated.
    context->flags |= AVFMT_FLAG_NONBLOCK | AVFMT_FLAG_NOBUFFER;
  }
  if (options.local_only) {
    context->protocol_whitelist = av_strdup(kLocalProtocols);
  }
  const AVInputFormat* found = requested;
  if (requested == nullptr && !options.allow_references) {
    context->format_whitelist = av_strdup(demuxers_without_references(url).c_str());
    // Probes as libav would: a pipe cannot be read again to report why it was refused.
    if (bytes != nullptr && av_probe_input_buffer2(bytes, &found, url.c_str(), context.get(), 0, 0) >= 0 &&
        follows_references(*found)) {
      throw_reference(url, found->name);
    }
  }
  forget_logged_messages();
  AVFormatContext* opened = context.release();  // freed by libav on failure
  const int code = avformat_open_input(&opened, libav_url(url).c_str(), found, unused.get());
  InputHandle input(opened);
  if (code < 0) {
    explain_failure(code, url, options, bytes != nullptr, interrupt);
  }
  if (requested == nullptr && draws_text(*input->iformat)) {
    throw NoVideo(url + ": no video or picture found in it", false);
  }
  return input;
}

}  // namespace limpid::io
