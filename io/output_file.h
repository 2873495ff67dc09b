#pragma once

// Where a muxer's bytes go. Private to io.

#include <cstdint>
#include <memory>
#include <string>

#include "io/libav.h"
#include "io/writer.h"

namespace limpid::io {

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
  const std::string& temporary() const { return temporary_; }

  /// Closes the file and gives it its name.
  void commit();

 private:
  struct Closer {
    void operator()(AVIOContext* bytes) const { avio_closep(&bytes); }
  };

  void create_temporary();

  std::string url_;
  std::string target_;     ///< where `url_` leads if it is a link; empty if written straight
  std::string temporary_;  ///< empty if written straight
  Overwrite overwrite_;
  std::unique_ptr<AVIOContext, Closer> bytes_;
};

/// The file of a sequence ("img_%03d.png") that has this number. Throws Error if the name gets too long.
std::string picture_name(const std::string& sequence, std::int64_t number);

/// Throws Error if `path` exists and may not be overwritten, or is no file.
void require_writable_target(const std::string& path, Overwrite overwrite);

}  // namespace limpid::io
