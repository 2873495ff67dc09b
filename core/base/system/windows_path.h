// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace limpid {

/// A path for functions of Windows, which accept more than 259 characters only after the prefix \\?\.
std::filesystem::path system_path(const std::filesystem::path& given);

}  // namespace limpid
