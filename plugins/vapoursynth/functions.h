#pragma once

#include <VapourSynth4.h>

#include <string>

#include "plugins/shared/denoiser.h"

// The plug-in's functions: their arguments, and what these are to the library.

namespace limpid::vapoursynth {

struct Function {
  const char* name;
  const char* filter;  ///< null: the user's choice
  bool as_bm3dcuda;    ///< with the arguments of BM3DCUDA's function of that name
};
inline constexpr Function kFunctions[] = {{"Denoise", nullptr, false},
                                          {"Bilateral", "bilateral", false},
                                          {"NLM", "nlm", false},
                                          {"BM3Dv2", nullptr, true}};

/// As registerFunction() takes them.
std::string arguments_of(const Function& function);

struct Request {
  plugins::Settings settings;
  bool planes[3]{};  ///< those that are filtered; the others are passed on
};
/// What the arguments of a call ask for. Throws std::runtime_error with a sentence for the user.
Request request_of(const Function& function, const VSMap* arguments, const VSVideoInfo& clip,
                   const VSAPI* vs);

}  // namespace limpid::vapoursynth
