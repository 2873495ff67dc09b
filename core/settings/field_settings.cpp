// SPDX-License-Identifier: MIT
#include "core/settings/field_settings.h"

#include "core/base/error.h"

namespace limpid {

FieldChoice parse_fields(const std::string& setting, const std::string& text) {
  for (const FieldChoice choice : {FieldChoice::kAuto, FieldChoice::kProgressive, FieldChoice::kInterlaced}) {
    if (text == to_string(choice)) {
      return choice;
    }
  }
  throw UsageError(setting + ": '" + text + "' is neither auto, progressive nor interlaced");
}

std::string to_string(FieldChoice choice) {
  switch (choice) {
    case FieldChoice::kProgressive:
      return "progressive";
    case FieldChoice::kInterlaced:
      return "interlaced";
    case FieldChoice::kAuto:
      break;
  }
  return "auto";
}

}  // namespace limpid
