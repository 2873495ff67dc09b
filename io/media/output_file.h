#pragma once

// Where a muxer's bytes go. Private to io.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/media/libav.h"
#include "io/media/writer.h"

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

/// Keeps disk space so that, when the rest of the disk is full, a file can still be finished.
class DiskReserve {
 public:
  /// Takes as much of the disk that holds `folder` as the end of a long file needs: 16 MiB, but at most a
  /// quarter of what is free; nothing where the file system can't do that. No name of it is ever left behind.
  explicit DiskReserve(const std::string& folder);
  DiskReserve(const DiskReserve&) = delete;
  DiskReserve& operator=(const DiskReserve&) = delete;
  DiskReserve(DiskReserve&&) = delete;
  DiskReserve& operator=(DiskReserve&&) = delete;
  ~DiskReserve() { release(); }

  /// Gives it back. False if there is nothing to give.
  bool release();
  std::int64_t bytes() const { return bytes_; }

 private:
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

/// A file that is written under a temporary name beside the target and appears under its own name only when
/// complete; or a pipe, device or URL that is written straight.
class OutputFile {
 public:
  /// Creates and opens the temporary file. Throws Error if the target exists and may not be overwritten, is
  /// the same file as `source_url` or one of its numbered pictures, or can't be created. `mark`:
  /// WriterOptions::temporary_mark.
  OutputFile(std::string url, const std::string& source_url, Overwrite overwrite,
             const std::string& mark = "");
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the temporary file unless it has been given a name.
  ~OutputFile();

  AVIOContext* bytes() const { return bytes_; }
  /// Empty if written straight.
  std::string temporary() const { return temporary_ ? temporary_->path() : ""; }

  /// Keeps some of the disk, and of the size that the file may have, free for its end: once the rest is used
  /// up, is_full() says so, and what is written from then on goes there. Returns how many bytes that are; 0
  /// of what is written straight.
  std::int64_t reserve_space();
  bool is_full() const { return full_because_ != 0; }
  /// The errno of that; 0 while it isn't.
  int full_because() const { return full_because_; }

  /// Closes the file and gives it its name, with the permissions of the file that it replaces. With
  /// `synced`, it is on the disk before it is renamed, and its folder afterwards. Should a file of that name
  /// have come into being that may not be overwritten, it is called "NAME.new.EXT" instead, and an Error says
  /// so. `when_whole` is called with the temporary file's path before that is renamed.
  void commit(bool synced = true, const std::function<void(const std::string&)>& when_whole = {});

  /// Closes a file that holds a part of what it should. It is called "NAME.partial.EXT" (or
  /// "NAME.partial-2.EXT", ...) and replaces nothing. Returns that name; the url of what is written straight.
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
  std::string target_;  ///< where `url_` leads if it is a link; empty if written straight
  std::optional<TemporaryFile> temporary_;
  Overwrite overwrite_;
  int descriptor_ = -1;  ///< of the temporary file or the pipe; -1 where libav opened what is written
  AVIOContext* bytes_ = nullptr;
  std::optional<DiskReserve> reserve_;
  std::optional<std::int64_t> full_from_;  ///< a position in the file
  int full_because_ = 0;                   ///< errno
};

/// The file of a sequence ("img_%03d.png") that has this number. Throws Error if the name gets too long.
std::string picture_name(const std::string& sequence, std::int64_t number);

/// Throws Error if `path` exists and may not be overwritten, by the options or its permissions, or is no
/// file.
void require_writable_target(const std::string& path, Overwrite overwrite);

/// Waits until what has been written to the file system that holds `folder` is on the disk.
void sync_file_system(const std::string& folder);

}  // namespace limpid::io
