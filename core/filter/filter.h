#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/frame/reach.h"
#include "core/parameters/filter_description.h"
#include "core/recursive/recursive_parameters.h"
#include "core/vbm3d/vbm3d_parameters.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vnlb/vnlb_parameters.h"

namespace limpid {

/// A filter with its parameters. This is the list of all filters: each is what the description() of its
/// parameters says.
using Filter =
    std::variant<Bm3dParameters, Vbm4dParameters, BilateralParameters, AdaptiveBilateralParameters,
                 NlmParameters, NlmBilateralParameters, VnlbParameters, Vbm3dParameters, RecursiveParameters>;
using FilterType = FilterDescription<Filter>;

/// All of them, in the variant's order.
const std::vector<FilterType>& filter_types();
/// Throws UsageError listing the names.
const FilterType& filter_type(std::string_view name);
const FilterType& type_of(const Filter& filter);

/// Throws UsageError unless all parameters are legal, naming the first that is not and its legal range.
void validate(const Filter& filter);

/// The name of the filter for those who ask for none: along motion, or frame by frame.
std::string_view default_filter(bool frame_by_frame);

/// The frames around its own that a result depends on; none where each frame is filtered by itself.
Reach reach_of(const Filter& filter);

/// Throws UsageError for a filter whose reach is unbounded: `user`, such as "a job", cuts a stream into
/// segments.
void require_bounded_reach(const Filter& filter, std::string_view user);

std::string_view to_string(const Filter& filter);
/// The filter of that name, with the parameters that it has unless told otherwise (BM3D: profile np). Throws
/// UsageError listing the names.
Filter parse_filter(std::string_view name);

}  // namespace limpid
