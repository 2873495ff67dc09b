#pragma once

// Where a muxer's bytes go. Private to io.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/libav.h"
#include "io/writer.h"

namespace limpid::io {

/// A file that is removed with its owner, or by remove_temporary_files(), unless it has been renamed.
class TemporaryFile {
 public:
  /// Of a file that exists. Its name is unique.
  explicit TemporaryFile(std::string path);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A file that is written under a temporary name beside its target and appears under its own name only when
/// complete; or a pipe, device or URL that is written straight.
class OutputFile {
 public:
  /// Creates and opens the temporary file. Throws Error if the target exists and may not be overwritten, is
  /// the same file as `source_url` or one of its numbered pictures, or can't be created.
  OutputFile(std::string url, const std::string& source_url, Overwrite overwrite);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the temporary file unless commit() has given it its name.
  ~OutputFile();

  AVIOContext* bytes() const { return bytes_.get(); }
  /// Empty if written straight.
  std::string temporary() const { return temporary_ ? temporary_->path() : ""; }

  /// Closes the file and gives it its name.
  void commit();

 private:
  struct Closer {
    void operator()(AVIOContext* bytes) const { avio_closep(&bytes); }
  };

  void create_temporary();

  std::string url_;
  std::string target_;  ///< where `url_` leads if it is a link; empty if written straight
  std::optional<TemporaryFile> temporary_;
  Overwrite overwrite_;
  std::unique_ptr<AVIOContext, Closer> bytes_;
};

/// The file of a sequence ("img_%03d.png") that has this number. Throws Error if the name gets too long.
std::string picture_name(const std::string& sequence, std::int64_t number);

/// Throws Error if `path` exists and may not be overwritten, or is no file.
void require_writable_target(const std::string& path, Overwrite overwrite);

}  // namespace limpid::io
