// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/denoiser.h"

namespace limpid {

/// The engine names in `name`: "cuda:0,1,3" and "cuda:all" (those of `engines` that can run) give several of
/// one family, "cuda" its first device that can run, and any other name itself. Throws UsageError for lists
/// that mix families, repeat an engine or are empty.
std::vector<std::string> expand_engine_name(std::string_view name, const std::vector<EngineInfo>& engines);

/// Combines several engines of one family into one engine. They share the frames of a stream in segments with
/// the context that the filter's reach requires. Results are in order and bit-exact with those of each engine
/// alone. Segments are long, so many frames are in progress (Denoiser::concurrency()). The denoiser of each
/// engine has its own thread. receive() throws the error of a denoiser when the next frame in order has no
/// result. `name` is the name given by the user.
std::shared_ptr<Engine> make_engine_group(std::string name, std::vector<std::shared_ptr<Engine>> engines);

}  // namespace limpid
