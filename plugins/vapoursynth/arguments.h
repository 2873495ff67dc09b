#pragma once

#include <limpid.h>

#include <string>
#include <vector>

// The library's settings as arguments of functions.

namespace limpid::vapoursynth {

/// One of the library's structs.
template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

struct Parameter {
  std::string setting;   ///< "search-window"
  std::string argument;  ///< "search_window"
  limpid_kind kind;
};

/// Of one filter or, null, of all.
std::vector<Parameter> parameters_of(const char* filter);

/// All arguments of a function with one filter or, null, the user's choice, as registerFunction() takes them.
std::string arguments_of(const char* filter);

}  // namespace limpid::vapoursynth
