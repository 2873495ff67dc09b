// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/frame/reach.h"
#include "core/parameters/parameter.h"
#include "core/recursive/recursive_parameters.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vnlb/vnlb_parameters.h"

namespace limpid {

/// A filter with its parameters. This is the list of all filters; the description() of each one's parameters
/// describes it.
using Filter = std::variant<Bm3dParameters, Vbm4dParameters, BilateralParameters, AdaptiveBilateralParameters,
                            NlmParameters, NlmBilateralParameters, VnlbParameters, RecursiveParameters>;
using FilterType = FilterDescription<Filter>;

/// All filters, in the variant's order.
const std::vector<FilterType>& filter_types();
/// Accepts the full names, too: "V-BM4D", "non-local means", "nlmeans". Throws a UsageError that lists the
/// names, or suggests one.
const FilterType& filter_type(std::string_view name);
const FilterType& type_of(const Filter& filter);

/// Throws a UsageError that names the first illegal parameter and its legal range.
void validate(const Filter& filter);

/// The words for the quality of every filter with profiles, from fastest to best: fast, good, high, best.
const std::vector<std::string>& quality_words();
/// The name among `profiles` for such a word: np for good, and the best profile for a word that has none of
/// its own. Returns other names unchanged. FilterType::make() accepts these words as profiles.
std::string profile_for(const std::vector<std::string>& profiles, const std::string& quality);
/// The word for a profile; lc, which has none, is returned unchanged.
std::string quality_name(const std::string& profile);

/// The name of the default filter: for video, or (`frame_by_frame`) for separate pictures.
std::string_view default_filter(bool frame_by_frame);

/// The neighboring frames that a result depends on; none if frames are filtered independently.
Reach reach_of(const Filter& filter);

/// Throws UsageError for a filter of unbounded reach, because `user`, such as "a job", divides a stream into
/// segments.
void require_bounded_reach(const Filter& filter, std::string_view user);

std::string_view to_string(const Filter& filter);
/// The filter of this name with its default parameters (BM3D: profile np). Throws a UsageError that lists the
/// names.
Filter parse_filter(std::string_view name);

}  // namespace limpid
