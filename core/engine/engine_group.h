#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/denoiser.h"

namespace limpid {

/// The engines that `name` stands for: "cuda:0,1,3" and "cuda:all" (those of `engines` that can run) for
/// several of a family, any other name for itself. Throws UsageError for lists that mix families, name an
/// engine twice or name none.
std::vector<std::string> expand_engine_name(std::string_view name, const std::vector<EngineInfo>& engines);

/// Several engines of one family as one. They share a stream's frames in segments, with the context that the
/// filter's reach asks for; results come out in order, with the bits that each engine alone would give. For
/// segments to be long, many frames are under way (Denoiser::concurrency()). Each engine's denoiser has a
/// thread of its own; what it throws, receive() throws when it is the turn of a frame that has no result by
/// that. `name` is the user's.
std::shared_ptr<Engine> make_engine_group(std::string name, std::vector<std::shared_ptr<Engine>> engines);

}  // namespace limpid
