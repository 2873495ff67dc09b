// SPDX-License-Identifier: MIT
// limpidw.exe: `limpid preview` without a console, for a double click or a file that is dropped on the icon.
// Without a file it asks for one. Errors come in a message box.
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// After windows.h:
#include <commdlg.h>
#include <shellapi.h>

#include <array>
#include <string>

namespace {

std::wstring choose_file() {
  std::array<wchar_t, 32768> name{};
  OPENFILENAMEW dialog{};
  dialog.lStructSize = sizeof dialog;
  dialog.lpstrFile = name.data();
  dialog.nMaxFile = static_cast<DWORD>(name.size());
  dialog.lpstrTitle = L"Open a video or picture";
  dialog.Flags = OFN_FILEMUSTEXIST | OFN_HIDEREADONLY | OFN_EXPLORER | OFN_NOCHANGEDIR;
  return GetOpenFileNameW(&dialog) != FALSE ? std::wstring(name.data()) : std::wstring();
}

/// The last line of a text in UTF-8.
std::wstring last_line(std::string text) {
  text.erase(text.find_last_not_of("\r\n") + 1);
  text.erase(0, text.rfind('\n') + 1);
  std::wstring wide(text.size(), L'\0');
  wide.resize(static_cast<std::size_t>(MultiByteToWideChar(
      CP_UTF8, 0, text.data(), static_cast<int>(text.size()), wide.data(), static_cast<int>(wide.size()))));
  return wide;
}

int show(const std::wstring& message) {
  MessageBoxW(nullptr, message.empty() ? L"limpid has failed" : message.c_str(), L"Limpid",
              MB_ICONERROR | MB_OK);
  return 1;
}

/// The program beside this one.
std::wstring program() {
  std::array<wchar_t, 32768> own{};
  GetModuleFileNameW(nullptr, own.data(), static_cast<DWORD>(own.size()));
  const std::wstring path = own.data();
  return path.substr(0, path.rfind(L'\\') + 1) + L"limpid.exe";
}

/// Runs `limpid preview FILE`, whose messages come through a pipe.
int preview(const std::wstring& file) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  HANDLE messages = nullptr;
  HANDLE written = nullptr;
  if (CreatePipe(&messages, &written, &inherited, 0) == FALSE) {
    return show(L"the system has no more pipes");
  }
  SetHandleInformation(messages, HANDLE_FLAG_INHERIT, 0);
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdError = written;
  PROCESS_INFORMATION process{};
  std::wstring line = L"limpid preview -- \"" + file + L"\"";
  const BOOL started = CreateProcessW(program().c_str(), line.data(), nullptr, nullptr, TRUE,
                                      CREATE_NO_WINDOW, nullptr, nullptr, &start, &process);
  CloseHandle(written);
  if (started == FALSE) {
    return show(program() + L" cannot be started");
  }
  std::string text;
  std::array<char, 4096> part{};
  for (DWORD count = 0;
       ReadFile(messages, part.data(), static_cast<DWORD>(part.size()), &count, nullptr) != FALSE &&
       count > 0;) {
    text.append(part.data(), count);
  }
  WaitForSingleObject(process.hProcess, INFINITE);
  DWORD code = 1;
  GetExitCodeProcess(process.hProcess, &code);
  return code == 0 || code > 2 ? 0 : show(last_line(text));  // above 2: interrupted
}

}  // namespace

int WINAPI WinMain(HINSTANCE /*instance*/, HINSTANCE /*previous*/, LPSTR /*line*/, int /*shown*/) {
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  const std::wstring file = count > 1 ? std::wstring(words[1]) : choose_file();
  LocalFree(words);
  return file.empty() ? 0 : preview(file);
}
