// SPDX-License-Identifier: MIT
// The destination of a muxer's bytes. Private to io.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/not_copyable.h"
#include "core/base/system/posix.h"
#include "io/media/libav.h"
#include "io/media/writer.h"

namespace limpid::io {

/// A temporary file. It is removed with this object, or by exit_without_temporary_files(), unless it has been
/// renamed.
class TemporaryFile : NotCopyable {
 public:
  /// Creates a file that does not exist yet. Returns its descriptor, which the caller closes, or a negative
  /// number with the reason in errno.
  static int create(const std::string& path, int flags, posix::Mode permissions,
                    std::optional<TemporaryFile>& file);
  explicit TemporaryFile(std::string created) : path_(std::move(created)) {}
  ~TemporaryFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Reserves disk space so that a file can be finished when the disk is full.
class DiskReserve : NotCopyable {
 public:
  /// Reserves space for the end of a long file on the disk that holds `folder`: 16 MiB, but at most a quarter
  /// of the free space; none if the file system does not support it. The reserve never has a name, so nothing
  /// is left behind.
  explicit DiskReserve(const std::string& folder);
  ~DiskReserve() { release(); }

  /// Releases the reserved space. Returns false if nothing is reserved.
  bool release();
  std::int64_t bytes() const { return bytes_; }

 private:
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

/// A file that is written under a temporary name beside the target and gets its own name when complete; or a
/// pipe, device or URL that is written directly.
class OutputFile : NotCopyable {
 public:
  /// Creates and opens the temporary file. Throws Error if the target exists and may not be overwritten, is
  /// the same file as `source_url` or one of its numbered pictures, or cannot be created. `mark`:
  /// WriterOptions::temporary_mark.
  OutputFile(std::string url, const std::string& source_url, Overwrite overwrite,
             const std::string& mark = "");
  /// Removes the temporary file unless it has been renamed.
  ~OutputFile();

  AVIOContext* bytes() const { return bytes_; }
  /// Path of the temporary file; empty if the output is written directly.
  std::string temporary() const { return temporary_ ? temporary_->path() : ""; }

  /// Reserves disk space, and a part of the process's file size limit, for the end of the file. Once the rest
  /// is used up, is_full() returns true and later writes use the reserve. Returns the reserved bytes; 0 for
  /// outputs that are written directly.
  std::int64_t reserve_space();
  bool is_full() const { return full_because_ != 0; }
  /// errno of the failed write; 0 while the disk is not full.
  int full_because() const { return full_because_; }

  /// Closes the file and renames it, with the permissions of the file that it replaces. With `synced`, it is
  /// on the disk before the renaming, and its folder afterwards. If a file of that name has appeared that may
  /// not be overwritten, the new one is called "NAME.new.EXT" instead, and an Error reports it. `when_whole`
  /// is called with the temporary file's path before the renaming.
  void commit(bool synced = true, const std::function<void(const std::string&)>& when_whole = {});

  /// Closes an incomplete file and names it "NAME.partial.EXT" (or "NAME.partial-2.EXT", ...) without
  /// replacing any file. Returns that name, or the url if written directly.
  std::string commit_partial();

 private:
  struct Callbacks;

  void create_temporary(const std::string& mark);
  void open_straight(const std::string& url);
  void open_pipe();
  void open_standard_output();
  void make_bytes(bool seekable);
  void free_bytes();
  void close(bool synced);
  void complete_file(bool synced) const;
  bool wait_for_reader() const;
  std::string name_beside(const std::string& mark);
  int write(const std::uint8_t* data, int size);
  std::int64_t seek(std::int64_t offset, int whence) const;

  std::string url_;
  std::string target_;  ///< target of `url_` if that is a symbolic link; empty if written directly
  std::optional<TemporaryFile> temporary_;
  Overwrite overwrite_;
  int descriptor_ = -1;  ///< descriptor of the temporary file or the pipe; -1 if libav opened the output
  AVIOContext* bytes_ = nullptr;
  std::optional<DiskReserve> reserve_;
  std::optional<std::int64_t> full_from_;  ///< position in the file from which the reserve is used
  int full_because_ = 0;                   ///< errno
};

/// The file of a sequence ("img_%03d.png") with this number. Throws Error if the name is too long.
std::string picture_name(const std::string& sequence, std::int64_t number);

/// Throws Error if `path` exists and may not be overwritten, by the options or its permissions, or is not a
/// file.
void require_writable_target(const std::string& path, Overwrite overwrite);

/// True if the outputs have been interrupted for at least this time.
bool outputs_interrupted_for(std::chrono::milliseconds time);

/// Waits until all data written to the file system that holds `folder` is on the disk.
void sync_file_system(const std::string& folder);

/// Writes `text` to a file, which has a temporary name until it is complete. Throws an Error that names the
/// file.
void write_text(const std::string& path, const std::string& text, Overwrite overwrite = Overwrite::kNever);

}  // namespace limpid::io
