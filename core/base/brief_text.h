// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace limpid {

/// The sentence with at most 200 bytes of each word and of each of the `arguments` that it quotes, so that an
/// argument of any length gives a readable error.
std::string with_brief_quotes(std::string sentence, const std::vector<std::string_view>& arguments = {});

}  // namespace limpid
