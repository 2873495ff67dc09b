#include "app/console/json_report.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace limpid::app {

void print_report(const nlohmann::ordered_json& report) {
  std::cout << report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << std::endl;
}

}  // namespace limpid::app
