// SPDX-License-Identifier: MIT
#include "core/filter/filter.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/settings/filter_settings.h"
#include "tests/core/engine/illegal_filters.h"

namespace limpid {
namespace {

constexpr Profile kAllProfiles[] = {Profile::kFast, Profile::kLc, Profile::kNp, Profile::kHigh};

// The message of the UsageError that `call` throws.
std::string complaint_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

struct Row {
  Profile profile;
  int k1, p1, n1, window1;
  float tau1, lambda, beta1;
  int k2, p2, n2, window2;
  float tau2, beta2;
};

TEST(Profiles, HaveTheirValues) {
  constexpr Row kTable[] = {
      {Profile::kFast, 8, 8, 8, 19, 20000, 2.8F, 2, 8, 7, 8, 19, 1500, 2},
      {Profile::kLc, 8, 6, 16, 25, 20000, 2.7F, 2, 8, 5, 16, 25, 1500, 2},
      {Profile::kNp, 8, 3, 16, 39, 10000, 2.65F, 2, 8, 3, 32, 39, 800, 2},
      {Profile::kHigh, 8, 2, 16, 39, 10000, 2.57F, 2, 8, 2, 32, 39, 800, 2},
  };
  for (const Row& row : kTable) {
    SCOPED_TRACE(to_string(row.profile));
    const Bm3dParameters parameters = bm3d_profile(row.profile);
    const Bm3dStep& first = parameters.hard_threshold;
    EXPECT_EQ(first.patch_size, row.k1);
    EXPECT_EQ(first.spacing, row.p1);
    EXPECT_EQ(first.max_group_size, row.n1);
    EXPECT_EQ(first.search_window, row.window1);
    EXPECT_EQ(first.max_distance, row.tau1);
    EXPECT_EQ(first.kaiser_beta, row.beta1);
    EXPECT_EQ(parameters.lambda, row.lambda);
    ASSERT_TRUE(parameters.wiener.has_value());
    const Bm3dStep& second = *parameters.wiener;
    EXPECT_EQ(second.patch_size, row.k2);
    EXPECT_EQ(second.spacing, row.p2);
    EXPECT_EQ(second.max_group_size, row.n2);
    EXPECT_EQ(second.search_window, row.window2);
    EXPECT_EQ(second.max_distance, row.tau2);
    EXPECT_EQ(second.kaiser_beta, row.beta2);
  }
}

TEST(Profiles, AreLegal) {
  for (const Profile profile : kAllProfiles) {
    EXPECT_NO_THROW(bm3d_profile(profile).validate()) << to_string(profile);
  }
}

TEST(Parameters, EveryRangeIsChecked) {
  for (const auto& [named, filter] : illegal_filters()) {
    const std::string complaint = complaint_of([&, &illegal = filter] { validate(illegal); });
    EXPECT_NE(complaint.find(named), std::string::npos)
        << to_string(filter) << ", " << named << ": " << complaint;
  }
}

TEST(Bm3dParameters, TheComplaintSaysWhatIsLegal) {
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  parameters.wiener->search_window = 20;
  const std::string complaint = complaint_of([&] { parameters.validate(); });
  EXPECT_NE(complaint.find("20"), std::string::npos) << complaint;
  EXPECT_NE(complaint.find("odd, 1 to 129"), std::string::npos) << complaint;
  EXPECT_NE(complaint.find("second"), std::string::npos) << complaint;
}

TEST(Bm3dParameters, TheEndsOfEveryRangeAreLegal) {
  Bm3dParameters parameters;
  parameters.hard_threshold = {.patch_size = 2,
                               .spacing = 1,
                               .max_group_size = 1,
                               .search_window = 1,
                               .max_distance = 0,
                               .kaiser_beta = 0,
                               .transform_2d = Transform2d::kHaar,
                               .transform_1d = Transform1d::kHaar};
  parameters.wiener = Bm3dStep{.patch_size = 16,
                               .spacing = 16,
                               .max_group_size = 64,
                               .search_window = 129,
                               .max_distance = 65025,
                               .kaiser_beta = 8,
                               .transform_2d = Transform2d::kBior15};
  parameters.lambda = 100;
  EXPECT_NO_THROW(parameters.validate());
}

TEST(EdgePreservingParameters, IllegalValuesAreNamedWithTheirRange) {
  EXPECT_EQ(complaint_of([] { BilateralParameters{.radius = 0}.validate(); }),
            "bilateral: a radius of 0 is not possible (1 to 64)");
  EXPECT_EQ(complaint_of([] { NlmParameters{.patch_size = 4}.validate(); }),
            "nlm: a patch size of 4 is not possible (odd, 1 to 21)");
}

TEST(EdgePreservingParameters, MissingValuesFollowFromSigmaAndAreLegal) {
  for (const float sigma : {0.001F, 1.0F, 15.0F, 25.0F, 50.0F, 255.0F}) {
    const BilateralParameters bilateral = resolve(BilateralParameters(), sigma);
    EXPECT_TRUE(bilateral.radius && bilateral.spatial_sigma && bilateral.range_sigma);
    EXPECT_NO_THROW(bilateral.validate());
    const AdaptiveBilateralParameters adaptive = resolve(AdaptiveBilateralParameters(), sigma);
    EXPECT_TRUE(adaptive.radius && adaptive.spatial_sigma && adaptive.range_sigma && adaptive.kappa);
    EXPECT_NO_THROW(adaptive.validate());
    const NlmParameters nlm = resolve(NlmParameters(), sigma);
    EXPECT_TRUE(nlm.patch_size && nlm.search_window && nlm.h);
    EXPECT_NO_THROW(nlm.validate());
    const NlmBilateralParameters both = resolve(NlmBilateralParameters(), sigma);
    EXPECT_TRUE(both.patch_size && both.search_window && both.patch_sigma && both.range_sigma);
    EXPECT_NO_THROW(both.validate());
  }
  EXPECT_EQ(resolve(BilateralParameters{.radius = 10}, 5).spatial_sigma, 4);
  EXPECT_EQ(resolve(BilateralParameters{.spatial_sigma = 4.0F}, 5).radius, 10);
  EXPECT_LT(resolve(BilateralParameters(), 5).range_sigma, resolve(BilateralParameters(), 50).range_sigma);
}

TEST(EdgePreservingParameters, GivenValuesStay) {
  const BilateralParameters bilateral{3, 1.5F, 40.0F};
  EXPECT_EQ(resolve(bilateral, 20), bilateral);
  const AdaptiveBilateralParameters adaptive{3, 1.5F, 40.0F, 0.7F, 2};
  EXPECT_EQ(resolve(adaptive, 20), adaptive);
  const NlmParameters nlm{5, 11, 9.0F};
  EXPECT_EQ(resolve(nlm, 20), nlm);
  EXPECT_EQ(resolve(NlmParameters{.h = 0.01F}, 64).h, 1);
  const NlmBilateralParameters both{5, 0, 9.0F, 8.0F, 7.0F};
  EXPECT_EQ(resolve(both, 20), both);
}

TEST(Names, EveryNameIsParsedBack) {
  for (const FilterType& type : filter_types()) {
    EXPECT_EQ(to_string(parse_filter(type.name)), type.name);
  }
  EXPECT_NE(complaint_of([] { parse_filter("median"); }).find("nlm-bilateral"), std::string::npos);
  for (const Profile profile : kAllProfiles) {
    EXPECT_EQ(parse_profile(to_string(profile)), profile);
  }
  EXPECT_EQ(parse_profile("np"), Profile::kNp);
}

TEST(Names, AnUnknownNameIsAnsweredWithTheLegalOnes) {
  const std::string profile = complaint_of([] { parse_profile("best"); });
  EXPECT_NE(profile.find("best"), std::string::npos) << profile;
  for (const Profile legal : kAllProfiles) {
    EXPECT_NE(profile.find(to_string(legal)), std::string::npos) << profile;
  }
  const std::string transform = complaint_of([] { parse_filter_settings("bm3d:transform-2d=dft"); });
  EXPECT_NE(transform.find("bior1.5"), std::string::npos) << transform;
  EXPECT_NE(complaint_of([] { parse_profile("NP"); }).find("np"), std::string::npos);
}

TEST(Filter, RefusalOfUnboundedReachNamesAnAlternative) {
  for (const FilterType& type : filter_types()) {
    const Filter filter = parse_filter(type.name);
    if (!reach_of(filter).unbounded) {
      EXPECT_NO_THROW(require_bounded_reach(filter, "a job")) << type.name;
    }
  }
  EXPECT_EQ(complaint_of([] { require_bounded_reach(parse_filter("recursive"), "a job"); }),
            "a job cannot use the filter recursive, whose results depend on all earlier frames; use "
            "vbm4d:delay=0");
}

TEST(Filter, EachHasAReach) {
  for (const FilterType& type : filter_types()) {
    const Reach reach = reach_of(parse_filter(type.name));
    EXPECT_EQ(reach != Reach{}, type.name == "vbm4d" || type.name == "vnlb" || type.name == "recursive")
        << type.name;
    EXPECT_EQ(reach.unbounded, type.name == "recursive") << type.name;
  }
}

std::string refused(const std::string& name) {
  return complaint_of([&] { filter_type(name); });
}

TEST(FilterTypes, AreFoundByTheNamesThatPapersAndProgramsGiveThem) {
  for (const auto& [name, filter] : {std::pair{"V-BM4D", "vbm4d"},
                                     {"non-local means", "nlm"},
                                     {"nlmeans", "nlm"},
                                     {"Adaptive Bilateral", "adaptive-bilateral"},
                                     {"NLM_bilateral", "nlm-bilateral"}}) {
    EXPECT_EQ(filter_type(name).name, filter);
  }
  EXPECT_EQ(
      refused("hqdn3d"),
      "there is no filter \"hqdn3d\"; the default, vbm4d, replaces it, and strength (light, strong or a "
      "factor) adjusts it");
  EXPECT_EQ(refused("bm4d"), refused("hqdn3d").replace(20, 6, "bm4d"));
  EXPECT_EQ(refused("best"), "there is no filter \"best\", but a quality of this name: vbm4d:quality=best");
  EXPECT_EQ(refused("vbm5d"), "there is no filter \"vbm5d\"; did you mean 'vbm4d'?");
  EXPECT_NE(refused("mean").find("there are bm3d, vbm4d, "), std::string::npos);
}

TEST(Quality, HasAProfileOfEveryFilterThatHasProfiles) {
  const auto profiles_of = [](const char* filter) {
    std::string profiles;
    for (const std::string& word : quality_words()) {
      profiles += profile_for(filter_type(filter).profiles, word) + " ";
    }
    return profiles;
  };
  EXPECT_EQ(profiles_of("vbm4d"), "fast np high best ");
  EXPECT_EQ(profiles_of("vnlb"), "fast np high best ");
  EXPECT_EQ(profiles_of("bm3d"), "fast np high high ");
  EXPECT_EQ(profiles_of("recursive"), "fast np np np ");
  EXPECT_EQ(quality_name("np"), "good");
  EXPECT_EQ(quality_name("lc"), "lc");
  EXPECT_EQ(filter_type("vbm4d").make("good"), filter_type("vbm4d").make("np"));
}

}  // namespace
}  // namespace limpid
