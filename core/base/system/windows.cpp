// SPDX-License-Identifier: MIT
// What Limpid needs from Windows.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// After windows.h:
#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/regular_file.h"
#include "core/base/system.h"
#include "core/base/system/windows_path.h"

namespace limpid {
namespace {

using std::filesystem::path;

/// The program or the DLL that contains this code.
HMODULE own_module(DWORD flags) {
  HMODULE module = nullptr;
  GetModuleHandleExW(flags | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, reinterpret_cast<LPCWSTR>(&own_file),
                     &module);
  return module;
}

// Idle oneTBB threads exist for a while after the last denoiser, so a host that unloads its plug-ins must not
// unload their code.
[[maybe_unused]] const HMODULE kPinnedModule = own_module(GET_MODULE_HANDLE_EX_FLAG_PIN);

bool is_folder(const path& file) {
  const DWORD attributes = GetFileAttributesW(file.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

/// The system's sentence in its language, without the period and line break at its end.
std::string sentence_of(DWORD code) {
  std::wstring text(512, L'\0');
  text.resize(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0,
                             text.data(), static_cast<DWORD>(text.size()), nullptr));
  text.erase(text.find_last_not_of(L"\r\n. ") + 1);
  return text.empty() ? "error " + std::to_string(code) : text_of(text);
}

std::string reason_not_to_load(DWORD code) {
  switch (code) {
    case ERROR_MOD_NOT_FOUND:
      return "it, or a DLL that it needs, is missing";
    case ERROR_BAD_EXE_FORMAT:
      return "it is not a DLL for this processor";
    default:
      return sentence_of(code);
  }
}

}  // namespace

path system_path(const path& given) {
  if (given.native().starts_with(LR"(\\?\)")) {
    return given;
  }
  std::error_code error;
  const path whole = std::filesystem::absolute(given, error).lexically_normal().make_preferred();
  const std::wstring& text = whole.native();
  if (error || text.size() < MAX_PATH) {
    return given;
  }
  return text.starts_with(LR"(\\)") ? LR"(\\?\UNC)" + text.substr(1) : LR"(\\?\)" + text;
}

std::uint64_t physical_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) != 0 ? status.ullTotalPhys : 0;
}

std::uint64_t usable_memory() { return physical_memory(); }

int processors() {
  DWORD_PTR allowed = 0;
  DWORD_PTR present = 0;
  GetProcessAffinityMask(GetCurrentProcess(), &allowed, &present);
  // The masks are 0 in processes on more than 64 processors.
  const int count =
      allowed != 0 ? std::popcount(allowed) : static_cast<int>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
  return std::max(1, count);
}

std::string processor_name() {
  wchar_t name[256] = L"";
  DWORD bytes = sizeof name;
  if (RegGetValueW(HKEY_LOCAL_MACHINE, LR"(HARDWARE\DESCRIPTION\System\CentralProcessor\0)",
                   L"ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &bytes) != ERROR_SUCCESS) {
    return "CPU";
  }
  const std::string text = text_of(name);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) {
    ::_close(descriptor_);
  }
}

FileDescriptor open_regular_file(const std::string& text) {
  const path file = system_path(path_of(text));
  if (is_folder(file)) {
    throw Error(text + ": is a folder, not a file");
  }
  FileDescriptor opened(::_wopen(file.c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT));
  if (opened.get() < 0) {
    throw Error(text + ": " + std::strerror(errno));
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): handles are numbers here and pointers there
  if (GetFileType(reinterpret_cast<HANDLE>(::_get_osfhandle(opened.get()))) != FILE_TYPE_DISK) {
    throw Error(text + ": is not a regular file");
  }
  return opened;
}

std::ptrdiff_t read_some(const FileDescriptor& file, char* data, std::size_t most) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  return ::_read(file.get(), data, static_cast<unsigned>(std::min(most, kMost)));
}

path own_file() {
  std::wstring name(32768, L'\0');
  name.resize(GetModuleFileNameW(own_module(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT), name.data(),
                                 static_cast<DWORD>(name.size())));
  return name;
}

void* load_library(const path& file) {
  // Libraries beside the file are found, those in the folders of PATH are not.
  std::error_code error;
  const path whole = system_path(std::filesystem::absolute(file, error).make_preferred());
  DWORD shown = 0;
  SetThreadErrorMode(SEM_FAILCRITICALERRORS, &shown);
  const HMODULE library = LoadLibraryExW(whole.c_str(), nullptr,
                                         LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  const DWORD code = GetLastError();
  SetThreadErrorMode(shown, nullptr);
  if (library == nullptr) {
    throw Error("cannot load " + text_of(file) + ": " + reason_not_to_load(code));
  }
  return library;
}

void* find_function(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

std::string trusted_variable(const char* name) {
  const wchar_t* const value = ::_wgetenv(path_of(name).c_str());
  return value == nullptr ? "" : text_of(value);
}

}  // namespace limpid
