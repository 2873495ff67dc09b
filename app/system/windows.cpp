// SPDX-License-Identifier: MIT
// Interrupts, processes and the console on Windows.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// After windows.h:
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "app/console/console.h"
#include "app/console/process.h"
#include "core/base/error.h"
#include "core/base/system.h"
#include "core/base/thread.h"
#include "io/media/writer.h"

namespace limpid::app {
namespace {

/// See linux.cpp.
constexpr DWORD kPatienceWithWork = 3000;

/// Other processes set this event instead of sending a signal, also to programs without a console.
std::wstring interrupt_name(DWORD process) { return L"Local\\limpid-interrupt-" + std::to_wstring(process); }

HANDLE interrupt_event = nullptr;  ///< of this process; each interrupt sets it once
std::atomic<bool> watch_ends = false;
std::atomic<int> first_signal = SIGINT;

BOOL WINAPI interrupt(DWORD reason) {
  constexpr int kHangup = 1;
  const bool closes = reason != CTRL_C_EVENT && reason != CTRL_BREAK_EVENT;
  first_signal = closes ? kHangup : SIGINT;
  SetEvent(interrupt_event);
  if (closes) {
    Sleep(INFINITE);  // the system ends the process when this function returns, and after some seconds anyway
  }
  return TRUE;
}

[[noreturn]] void end_at_once() { io::exit_without_temporary_files(kExitInterrupted); }

/// The words of a command line as CommandLineToArgvW() splits them.
std::wstring quoted(const std::wstring& word) {
  if (!word.empty() && word.find_first_of(L" \t\"") == std::wstring::npos) {
    return word;
  }
  std::wstring text = L"\"";
  for (std::size_t i = 0, backslashes = 0; i <= word.size(); ++i) {
    if (i < word.size() && word[i] == L'\\') {
      ++backslashes;
      continue;
    }
    const bool doubles = i == word.size() || word[i] == L'"';
    text.append(doubles ? 2 * backslashes : backslashes, L'\\');
    backslashes = 0;
    if (i < word.size()) {
      text += word[i] == L'"' ? L"\\\"" : std::wstring(1, word[i]);
    }
  }
  return text + L"\"";
}

}  // namespace

InterruptWatch::InterruptWatch(Interrupts interrupts) : interrupts_(interrupts) {
  io::set_outputs_interrupted(false);
  watch_ends = false;
  interrupt_event = CreateEventW(nullptr, FALSE, FALSE, interrupt_name(GetCurrentProcessId()).c_str());
  SetConsoleCtrlHandler(interrupt, TRUE);
  thread_ = start_thread([this](const std::stop_token& end) { run(end); });
}

InterruptWatch::~InterruptWatch() {
  thread_.request_stop();
  watch_ends = true;
  SetEvent(interrupt_event);  // wakes the thread
  thread_.join();
  SetConsoleCtrlHandler(interrupt, FALSE);
  CloseHandle(std::exchange(interrupt_event, nullptr));
}

void InterruptWatch::run(const std::stop_token& end) {
  WaitForSingleObject(interrupt_event, INFINITE);
  if (end.stop_requested()) {
    return;
  }
  signal_ = first_signal.load();
  if (interrupts_ == Interrupts::kEnd) {
    end_at_once();
  }
  io::set_outputs_interrupted(true);
  stop_.request_stop();
  spdlog::warn("interrupted: finishing the frames in progress (interrupt again to exit at once)");
  if (WaitForSingleObject(interrupt_event, kPatienceWithWork) == WAIT_TIMEOUT) {
    abandon_.request_stop();
    WaitForSingleObject(interrupt_event, INFINITE);
  }
  if (!watch_ends) {
    end_at_once();
  }
}

std::int64_t resident_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
  return static_cast<std::int64_t>(counters.WorkingSetSize);
}

std::int64_t open_files() {
  DWORD count = 0;
  GetProcessHandleCount(GetCurrentProcess(), &count);
  return count;
}

bool are_processors_shared() {
  constexpr std::uint64_t kTicks = 10'000'000;  // in a second
  constexpr std::uint64_t kShare = 3;           // a third of the time
  static std::uint64_t all_before = 0;
  static std::uint64_t others_before = 0;
  static bool are_shared = false;  // between the last two measurements
  FILETIME idle{};
  FILETIME kernel{};  // idle is a part of it
  FILETIME user{};
  FILETIME own_kernel{};
  FILETIME own_user{};
  FILETIME ignored{};
  GetSystemTimes(&idle, &kernel, &user);
  GetProcessTimes(GetCurrentProcess(), &ignored, &ignored, &own_kernel, &own_user);
  const auto ticks = [](FILETIME time) {
    return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
  };
  const std::uint64_t all = ticks(kernel) + ticks(user);
  const std::uint64_t others = all - ticks(idle) - ticks(own_kernel) - ticks(own_user);
  if (all - all_before > kTicks * std::thread::hardware_concurrency()) {
    are_shared = all_before > 0 && kShare * (others - others_before) > all - all_before;
    all_before = all;
    others_before = others;
  }
  return are_shared;
}

std::int64_t available_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) != FALSE ? static_cast<std::int64_t>(status.ullAvailPhys) : 0;
}

std::size_t terminal_width() {
  CONSOLE_SCREEN_BUFFER_INFO information{};
  constexpr std::size_t kUsual = 80;
  return GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &information) != FALSE
             ? static_cast<std::size_t>(information.srWindow.Right - information.srWindow.Left + 1)
             : kUsual;
}

void set_up_console() {
  for (const int standard : {0, 1, 2}) {
    ::_setmode(standard, _O_BINARY);
  }
  // The console shows UTF-8 while the program runs, and follows the commands of terminals.
  static const UINT page = GetConsoleOutputCP();
  if (page != 0 && page != CP_UTF8 && SetConsoleOutputCP(CP_UTF8) != FALSE) {
    std::atexit([] { SetConsoleOutputCP(page); });
  }
  const HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
  DWORD mode = 0;
  if (GetConsoleMode(console, &mode) != FALSE) {
    SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

std::string state_folder() { return trusted_variable("LOCALAPPDATA"); }
std::string cache_folder() { return state_folder(); }

std::vector<std::string> words_of_command(int /*argc*/, char** /*argv*/) {
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    texts.push_back(text_of(words[i]));
  }
  LocalFree(words);
  return texts;
}

ChildProcess::ChildProcess(std::vector<std::string> command) {
  const auto fail = [&] {
    throw Error(command.front() + ": cannot be started: error " + std::to_string(GetLastError()));
  };
  std::array<wchar_t, MAX_PATH + 1> folder{};
  std::array<wchar_t, MAX_PATH + 1> name{};
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  GetTempPathW(MAX_PATH, folder.data());
  GetTempFileNameW(folder.data(), L"lim", 0, name.data());
  const auto open = [&inherited](const wchar_t* file, DWORD flags) {
    return CreateFileW(file, GENERIC_READ | GENERIC_WRITE,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &inherited, OPEN_EXISTING,
                       flags, nullptr);
  };
  const HANDLE log = open(name.data(), FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
  if (log == INVALID_HANDLE_VALUE) {
    fail();
  }
  log_.reset(::_fdopen(::_open_osfhandle(reinterpret_cast<std::intptr_t>(log), _O_RDWR | _O_BINARY), "r+b"));
  const HANDLE nothing = open(L"NUL", 0);
  std::wstring line;
  for (const std::string& word : command) {
    line += (line.empty() ? L"" : L" ") + quoted(path_of(word).native());
  }
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = nothing;
  start.hStdOutput = nothing;
  start.hStdError = log;
  PROCESS_INFORMATION process{};
  // A group of its own: Ctrl-C in the console is for the window.
  const BOOL started =
      CreateProcessW(path_of(command.front()).c_str(), line.data(), nullptr, nullptr, TRUE,
                     CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW, nullptr, nullptr, &start, &process);
  CloseHandle(nothing);
  if (started == FALSE) {
    fail();
  }
  CloseHandle(process.hThread);
  process_ = reinterpret_cast<std::intptr_t>(process.hProcess);
}

ChildProcess::~ChildProcess() { CloseHandle(reinterpret_cast<HANDLE>(process_)); }

int ChildProcess::log() const { return ::_fileno(log_.get()); }

void ChildProcess::interrupt() const {
  const DWORD number = GetProcessId(reinterpret_cast<HANDLE>(process_));
  if (const HANDLE event = OpenEventW(EVENT_MODIFY_STATE, FALSE, interrupt_name(number).c_str());
      event != nullptr) {
    SetEvent(event);
    CloseHandle(event);
  } else {
    TerminateProcess(reinterpret_cast<HANDLE>(process_), kExitInterrupted);  // it has not begun to write
  }
}

std::optional<int> ChildProcess::poll() {
  DWORD code = 0;
  if (!exit_code_ && WaitForSingleObject(reinterpret_cast<HANDLE>(process_), 0) == WAIT_OBJECT_0 &&
      GetExitCodeProcess(reinterpret_cast<HANDLE>(process_), &code) != FALSE) {
    exit_code_ = static_cast<int>(code);
  }
  return exit_code_;
}

}  // namespace limpid::app
