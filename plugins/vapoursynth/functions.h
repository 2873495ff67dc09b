#pragma once

#include <VapourSynth4.h>

#include <array>
#include <string>
#include <vector>

#include "plugins/shared/denoiser.h"

// The plug-in's functions: their arguments, and what these are to the library.

namespace limpid::vapoursynth {

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

/// What the arguments of a call ask for. Throws std::runtime_error with a sentence for the user.
struct Request {
  plugins::Settings settings;
  Planes planes;
};
Request request_of(const Function& function, const VSMap* arguments, const VSVideoInfo& clip,
                   const VSAPI* vs);

}  // namespace limpid::vapoursynth
