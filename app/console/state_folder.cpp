// SPDX-License-Identifier: MIT
#include "app/console/state_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "app/console/durable_file.h"
#include "core/base/error.h"

namespace limpid::app {

namespace fs = std::filesystem;

StateFolder::StateFolder(const std::string& name, std::size_t most) : most_(most) {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  const bool has_state = state != nullptr && *state != '\0';
  if (!has_state && (home == nullptr || *home == '\0')) {
    throw Error("nothing can be kept between runs: set HOME or XDG_STATE_HOME to a folder");
  }
  folder_ = (has_state ? fs::path(state) : fs::path(home) / ".local/state") / "limpid" / name;
}

fs::path StateFolder::write(const std::string& name, const std::string& text) const {
  std::error_code failure;
  fs::create_directories(folder_, failure);
  fs::path target = path(name);
  write_durably(target.string(), text);
  remove_oldest();
  return target;
}

void StateFolder::remove_oldest() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failure;
  for (fs::directory_iterator each(folder_, failure); !failure && each != fs::directory_iterator();
       each.increment(failure)) {
    std::error_code gone;
    files.emplace_back(each->last_write_time(gone), each->path());
  }
  std::ranges::sort(files, std::greater<>());
  for (std::size_t i = most_; i < files.size(); ++i) {
    fs::remove(files[i].second, failure);
  }
}

std::string digest_of(const std::string& text) {
  return fmt::format("{:016x}", std::hash<std::string>()(text));
}

}  // namespace limpid::app
