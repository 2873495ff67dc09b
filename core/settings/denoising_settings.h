// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/settings/filter_settings.h"
#include "core/stream/noise_control.h"

namespace limpid {

/// All settings on which the result for a video depends.
struct DenoisingSettings {
  FilterSettings filter;
  NoiseSettings noise;
  FieldChoice fields = FieldChoice::kAuto;
};

// The file format of settings:
//
//   {"limpid_settings": 1,
//    "filter": "vbm4d:profile=np:reach=4",
//    "noise": {"limpid_noise_profile": 1, ...},
//    "strength": "1.2,1", "repair": "off", "mix": 0.1, "fields": "auto"}
//
// `noise` is "auto", a level ("10"), a level per plane ("10,5,5"), or a profile
// (core/settings/noise_profile.h). All members but the first are optional. Defaults: the default filter,
// "auto" for noise and fields, strength 1, mix 0.

/// The settings as indented JSON.
std::string json_text(const DenoisingSettings& settings);

/// Throws UsageError for a text that is not such a document.
DenoisingSettings parse_settings(const std::string& text);

/// Throws a UsageError that names the file if it cannot be read or does not contain settings.
DenoisingSettings read_settings(const std::string& path);

/// Parses "auto", "progressive" or "interlaced". Throws a UsageError that begins with `setting` for other
/// words.
FieldChoice parse_fields(const std::string& setting, const std::string& text);
/// The name in settings.
std::string to_string(FieldChoice choice);

}  // namespace limpid
