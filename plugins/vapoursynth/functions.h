#pragma once

#include <VapourSynth4.h>
#include <limpid.h>

#include <array>
#include <string>
#include <vector>

// The plug-in's functions: their arguments, and what these are to the library.

namespace limpid::vapoursynth {

/// One of the library's structs.
template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

struct Function {
  const char* name;
  const char* filter;  ///< null: the user's choice
  bool as_bm3dcuda;    ///< with the arguments of BM3DCUDA's function of that name
};
const std::vector<Function>& functions();

/// As registerFunction() takes them.
std::string arguments_of(const Function& function);

/// The planes that are filtered; the others are passed on.
using Planes = std::array<bool, 3>;

/// Sets what the arguments of a call say. Throws std::runtime_error with a sentence for the user.
Planes set_up(limpid_denoiser* denoiser, const Function& function, const VSMap* arguments,
              const VSVideoInfo& clip, const VSAPI* vs);

/// Throws std::runtime_error with the library's sentence if `status` is an error.
void check(const limpid_denoiser* denoiser, limpid_status status);

}  // namespace limpid::vapoursynth
