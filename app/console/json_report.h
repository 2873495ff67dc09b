#pragma once

#include <nlohmann/json_fwd.hpp>

namespace limpid::app {

/// A command's report on standard output, indented. What is no UTF-8 in names of files, which may be any
/// bytes, becomes U+FFFD.
void print_report(const nlohmann::ordered_json& report);

}  // namespace limpid::app
