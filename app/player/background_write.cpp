// SPDX-License-Identifier: MIT
#include "app/player/background_write.h"

#include <fcntl.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "core/base/error.h"

namespace limpid::app {

BackgroundWrite::BackgroundWrite(std::vector<std::string> command) {
  log_.reset(std::tmpfile());  // NOLINT(cppcoreguidelines-owning-memory)
  if (log_ == nullptr) {
    throw Error(command.front() + ": cannot be started: no temporary file: " + std::strerror(errno));
  }
  fcntl(fileno(log_.get()), F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, fileno(log_.get()), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A group of its own: a Ctrl-C in the terminal is for the window.
  sigset_t interrupt;  // which cancel() sends, even if this process ignores it
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  std::transform(command.begin(), command.end(), std::back_inserter(words),
                 [](std::string& word) { return word.data(); });
  words.push_back(nullptr);
  const int failure = posix_spawn(&process_, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) {
    throw Error(command.front() + ": cannot be started: " + std::strerror(failure));
  }
}

BackgroundWrite::~BackgroundWrite() {
  if (exit_code_ || left_alone_) {
    return;
  }
  cancel();
  // An encoder may take longer. The process ends by itself, and nothing waits for it.
  constexpr std::chrono::seconds kPatience{1};
  for (const auto end = std::chrono::steady_clock::now() + kPatience;
       !poll() && std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void BackgroundWrite::cancel() { kill(process_, SIGINT); }

std::optional<int> BackgroundWrite::poll() {
  read();
  int status = 0;
  if (!exit_code_ && waitpid(process_, &status, WNOHANG) == process_) {
    read();
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  return exit_code_;
}

void BackgroundWrite::read() {
  std::array<char, 4096> bytes{};
  for (ssize_t count = 0; (count = pread(fileno(log_.get()), bytes.data(), bytes.size(), read_)) > 0;
       read_ += count) {
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
  for (std::size_t end = 0; (end = unread_.find('\n')) != std::string::npos;) {
    take_line(unread_.substr(0, end));
    unread_.erase(0, end + 1);
  }
}

void BackgroundWrite::take_line(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) {
    message_ = line;
  } else if (const auto percent = json.find("percent"); percent != json.end() && percent->is_number()) {
    progress_ = percent->get<double>() / 100;
  }
}

std::string free_path(const std::string& stem, const std::string& extension) {
  std::string path = stem + extension;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(path, ignored); ++number) {
    path = fmt::format("{}-{}{}", stem, number, extension);
  }
  return path;
}

std::string free_output(const std::string& input) {
  static constexpr std::array<std::string_view, 9> kKept{".mkv", ".mp4", ".mov",  ".webm", ".avi",
                                                         ".png", ".tif", ".tiff", ".jpg"};
  const std::filesystem::path path(input);
  const bool kept = std::ranges::find(kKept, path.extension().string()) != kKept.end();
  const std::string extension =
      kept && input.find('%') == std::string::npos ? path.extension().string() : ".mkv";
  return free_path((path.parent_path() / path.stem()).string() + "-denoised", extension);
}

}  // namespace limpid::app
