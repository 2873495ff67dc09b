// SPDX-License-Identifier: MIT
#include "tests/app/program/process.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

namespace limpid::test {
namespace {

using namespace std::chrono_literals;

int checked(int result, const char* what) {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return result;
}

FileDescriptor memory_file(const char* name) {
  return FileDescriptor(checked(memfd_create(name, MFD_CLOEXEC), "memfd_create"));
}

std::string contents(const FileDescriptor& file) {
  struct stat status {};
  checked(fstat(file.get(), &status), "fstat");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = pread(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count <= 0) {
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

// Both ends of a terminal of 100 columns: the user's and the program's.
std::pair<FileDescriptor, FileDescriptor> open_terminal() {
  int primary = -1;
  int secondary = -1;
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 25;
  checked(openpty(&primary, &secondary, nullptr, nullptr, &size), "openpty");
  return {FileDescriptor(primary), FileDescriptor(secondary)};
}

pid_t spawn(const std::vector<std::string>& arguments, int input, int out, int err) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& argument : copies) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t id = -1;
  const int error = posix_spawnp(&id, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), arguments[0]);
  }
  return id;
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void FileDescriptor::close() {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

std::string problem_with_terminals() {
  try {
    open_terminal();
    return "";
  } catch (const std::system_error& error) {
    return error.what();
  }
}

Process::Process(const std::vector<std::string>& arguments, const ProcessOptions& options)
    : out_(memory_file("out")), err_(memory_file("err")) {
  // A program that has ended must not end the tests when they write to its input.
  std::signal(SIGPIPE, SIG_IGN);
  if (options.terminal) {
    FileDescriptor child_side;
    std::tie(terminal_, child_side) = open_terminal();
    checked(fcntl(terminal_.get(), F_SETFD, FD_CLOEXEC), "fcntl");
    id_ = spawn(arguments, child_side.get(), out_.get(), child_side.get());
    terminal_reader_ = std::jthread([this] {
      std::array<char, 4096> buffer{};
      ssize_t count = 0;
      while ((count = read(terminal_.get(), buffer.data(), buffer.size())) > 0) {
        const std::scoped_lock lock(terminal_mutex_);
        terminal_text_.append(buffer.data(), static_cast<std::size_t>(count));
      }
    });
    return;
  }
  FileDescriptor child_input;
  if (options.input_pipe) {
    std::array<int, 2> ends{};
    checked(pipe2(ends.data(), O_CLOEXEC), "pipe2");
    child_input = FileDescriptor(ends[0]);
    input_ = FileDescriptor(ends[1]);
  } else {
    const std::string path = options.input.empty() ? "/dev/null" : options.input.string();
    child_input = FileDescriptor(checked(open(path.c_str(), O_RDONLY | O_CLOEXEC), path.c_str()));
  }
  id_ = spawn(arguments, child_input.get(), out_.get(), err_.get());
}

Process::~Process() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
}

bool Process::has_ended() const {
  siginfo_t info{};
  checked(waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT), "waitid");
  return info.si_pid == id_;
}

void Process::send_signal(int signal) const { checked(kill(id_, signal), "kill"); }

void Process::write_input(std::string_view text) {
  const int descriptor = terminal_.get() >= 0 ? terminal_.get() : input_.get();
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Process::close_input() { input_.close(); }

std::string Process::err_so_far() {
  if (terminal_.get() < 0) {
    return contents(err_);
  }
  const std::scoped_lock lock(terminal_mutex_);
  return terminal_text_;
}

bool Process::wait_until(const std::function<bool(const std::string& err)>& condition,
                         std::chrono::seconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!condition(err_so_far())) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

bool Process::wait_for_err(std::string_view text, std::chrono::seconds timeout) {
  return wait_until([text](const std::string& err) { return err.find(text) != std::string::npos; }, timeout);
}

bool Process::wait_for_frames(std::string_view input, int frames, std::chrono::seconds timeout) {
  return wait_until(
      [input, frames](const std::string& err) {
        std::istringstream lines(err);
        for (std::string line; std::getline(lines, line);) {
          const nlohmann::json progress = nlohmann::json::parse(line, nullptr, false);  // other lines are not
                                                                                        // JSON
          if (progress.is_object() && progress.value("frames", 0) >= frames &&
              (input.empty() || progress.value("input", "") == input)) {
            return true;
          }
        }
        return false;
      },
      timeout);
}

Outcome Process::wait(std::chrono::seconds timeout) {
  Outcome outcome;
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (checked(waitpid(id_, &status, WNOHANG), "waitpid") == 0) {
    if (std::chrono::steady_clock::now() > end) {
      outcome.timed_out = true;
      kill(id_, SIGKILL);
      checked(waitpid(id_, &status, 0), "waitpid");
      break;
    }
    std::this_thread::sleep_for(2ms);
  }
  id_ = -1;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (terminal_reader_.joinable()) {
    terminal_reader_.join();  // closing the other end of the terminal ends the read
  }
  outcome.out = contents(out_);
  outcome.err = err_so_far();
  return outcome;
}

Outcome run(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  return Process(arguments, options).wait();
}

bool can_run(const std::vector<std::string>& command) {
  try {
    return run(command).exit_code == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace limpid::test
