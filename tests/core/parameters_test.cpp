#include "core/parameters.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "core/error.h"

namespace limpid {
namespace {

constexpr Profile kAllProfiles[] = {Profile::kFast, Profile::kLc, Profile::kNp, Profile::kHigh, Profile::kVn};

// The sentence of the UsageError that `call` throws.
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

TEST(Profiles, HaveTheirPublishedValues) {
  constexpr Row kTable[] = {
      {Profile::kFast, 8, 8, 8, 19, 3000, 2.7F, 2, 8, 7, 8, 19, 400, 2},
      {Profile::kLc, 8, 6, 16, 25, 3000, 2.7F, 2, 8, 5, 16, 25, 400, 2},
      {Profile::kNp, 8, 3, 16, 39, 3000, 2.7F, 2, 8, 3, 32, 39, 400, 2},
      {Profile::kHigh, 8, 2, 16, 39, 3000, 2.5F, 2.5F, 8, 2, 32, 39, 400, 1.5F},
      {Profile::kVn, 8, 4, 32, 39, 25000, 2.8F, 2, 0, 6, 32, 39, 3500, 2},
  };
  for (const Row& row : kTable) {
    SCOPED_TRACE(to_string(row.profile));
    const Bm3dParameters parameters = bm3d_profile(row.profile);
    const Bm3dStep& first = parameters.hard_threshold;
    EXPECT_EQ(first.patch_size, row.k1);
    EXPECT_EQ(first.step, row.p1);
    EXPECT_EQ(first.max_group_size, row.n1);
    EXPECT_EQ(first.search_window, row.window1);
    EXPECT_EQ(first.max_distance, row.tau1);
    EXPECT_EQ(first.kaiser_beta, row.beta1);
    EXPECT_EQ(parameters.lambda, row.lambda);
    ASSERT_TRUE(parameters.wiener.has_value());
    const Bm3dStep& second = *parameters.wiener;
    if (row.profile == Profile::kVn) {
      EXPECT_TRUE(second.patch_size == 8 || second.patch_size == 11) << second.patch_size;
    } else {
      EXPECT_EQ(second.patch_size, row.k2);
    }
    EXPECT_EQ(second.step, row.p2);
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

TEST(Profiles, StrongNoiseTakesVn) {
  EXPECT_EQ(default_profile({{25, 10, 10}}), Profile::kNp);
  EXPECT_EQ(default_profile({{40, 40, 40}}), Profile::kNp);
  EXPECT_EQ(default_profile({{40.5F, 0, 0}}), Profile::kVn);
  EXPECT_EQ(default_profile({{10, 10, 50}}), Profile::kVn);
}

TEST(Bm3dParameters, EveryRangeIsChecked) {
  struct Case {
    const char* named;
    std::function<void(Bm3dStep&)> spoil;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Case cases[] = {
      {"patch size", [](Bm3dStep& step) { step.patch_size = 1; }},
      {"patch size", [](Bm3dStep& step) { step.patch_size = 17; }},
      {"patch size",
       [](Bm3dStep& step) {
         step.patch_size = 7;
         step.transform_2d = Transform2d::kHaar;
       }},
      {"patch size",
       [](Bm3dStep& step) {
         step.patch_size = 12;
         step.transform_2d = Transform2d::kBior15;
       }},
      {"step", [](Bm3dStep& step) { step.step = 0; }},
      {"step", [](Bm3dStep& step) { step.step = step.patch_size + 1; }},
      {"group size", [](Bm3dStep& step) { step.max_group_size = 0; }},
      {"group size", [](Bm3dStep& step) { step.max_group_size = 65; }},
      {"search window", [](Bm3dStep& step) { step.search_window = 20; }},
      {"search window", [](Bm3dStep& step) { step.search_window = -1; }},
      {"search window", [](Bm3dStep& step) { step.search_window = 131; }},
      {"tau", [](Bm3dStep& step) { step.max_distance = -1; }},
      {"tau", [=](Bm3dStep& step) { step.max_distance = nan; }},
      {"beta", [](Bm3dStep& step) { step.kaiser_beta = -0.5F; }},
      {"beta", [](Bm3dStep& step) { step.kaiser_beta = 21; }},
      {"beta", [=](Bm3dStep& step) { step.kaiser_beta = nan; }},
  };
  for (const Case& spoilt : cases) {
    Bm3dParameters parameters = bm3d_profile(Profile::kNp);
    spoilt.spoil(parameters.hard_threshold);
    EXPECT_NE(complaint_of([&] { parameters.validate(); }).find(spoilt.named), std::string::npos)
        << spoilt.named << ": " << complaint_of([&] { parameters.validate(); });
    parameters = bm3d_profile(Profile::kNp);
    spoilt.spoil(*parameters.wiener);
    EXPECT_NE(complaint_of([&] { parameters.validate(); }).find(spoilt.named), std::string::npos)
        << "second step, " << spoilt.named;
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

TEST(Bm3dParameters, LambdaIsChecked) {
  for (const float lambda : {0.0F, -1.0F, 101.0F, std::numeric_limits<float>::quiet_NaN()}) {
    Bm3dParameters parameters = bm3d_profile(Profile::kNp);
    parameters.lambda = lambda;
    EXPECT_NE(complaint_of([&] { parameters.validate(); }).find("lambda"), std::string::npos) << lambda;
  }
}

TEST(Bm3dParameters, TheEndsOfEveryRangeAreLegal) {
  Bm3dParameters parameters;
  parameters.hard_threshold = {.patch_size = 2,
                               .step = 1,
                               .max_group_size = 1,
                               .search_window = 1,
                               .max_distance = 0,
                               .kaiser_beta = 0,
                               .transform_2d = Transform2d::kHaar,
                               .transform_1d = Transform1d::kHaar};
  parameters.wiener = Bm3dStep{.patch_size = 16,
                               .step = 16,
                               .max_group_size = 64,
                               .search_window = 129,
                               .max_distance = 65025,
                               .kaiser_beta = 8,
                               .transform_2d = Transform2d::kBior15};
  parameters.lambda = 100;
  EXPECT_NO_THROW(parameters.validate());
}

TEST(EdgePreservingParameters, IllegalValuesAreNamedWithTheirRange) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto complaint = [](const auto& parameters) { return complaint_of([&] { parameters.validate(); }); };
  EXPECT_EQ(complaint(BilateralParameters{.radius = 0}),
            "bilateral: a radius of 0 is not possible (1 to 64)");
  EXPECT_NE(complaint(BilateralParameters{.radius = 65}).find("radius"), std::string::npos);
  EXPECT_NE(complaint(BilateralParameters{.spatial_sigma = 0.0F}).find("spatial"), std::string::npos);
  EXPECT_NE(complaint(BilateralParameters{.range_sigma = kNan}).find("range"), std::string::npos);
  EXPECT_NE(complaint(AdaptiveBilateralParameters{.radius = -1}).find("radius"), std::string::npos);
  EXPECT_NE(complaint(AdaptiveBilateralParameters{.kappa = 0.0F}).find("kappa"), std::string::npos);
  EXPECT_NE(complaint(AdaptiveBilateralParameters{.epsilon = 0}).find("epsilon"), std::string::npos);
  EXPECT_NE(complaint(NlmParameters{.patch_size = 4}).find("odd, 1 to 21"), std::string::npos);
  EXPECT_NE(complaint(NlmParameters{.search_window = 0}).find("search window"), std::string::npos);
  EXPECT_NE(complaint(NlmParameters{.h = -1.0F}).find("h of -1"), std::string::npos);
  EXPECT_NE(complaint(NlmBilateralParameters{.patch_size = 23}).find("patch size"), std::string::npos);
  EXPECT_NE(complaint(NlmBilateralParameters{.search_window = 2}).find("whole"), std::string::npos);
  EXPECT_NE(complaint(NlmBilateralParameters{.patch_sigma = kNan}).find("patch sigma"), std::string::npos);
}

TEST(EdgePreservingParameters, WhatIsLeftOpenFollowsFromSigmaAndIsLegal) {
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

TEST(EdgePreservingParameters, WhatIsGivenStays) {
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
  for (const std::string_view name : kFilterNames) {
    EXPECT_EQ(to_string(parse_filter(name)), name);
  }
  EXPECT_NE(complaint_of([] { parse_filter("median"); }).find("nlm-bilateral"), std::string::npos);
  for (const Profile profile : kAllProfiles) {
    EXPECT_EQ(parse_profile(to_string(profile)), profile);
  }
  for (const auto transform :
       {Transform2d::kDct, Transform2d::kBior15, Transform2d::kWalshHadamard, Transform2d::kHaar}) {
    EXPECT_EQ(parse_transform_2d(to_string(transform)), transform);
  }
  for (const auto transform : {Transform1d::kWalshHadamard, Transform1d::kHaar}) {
    EXPECT_EQ(parse_transform_1d(to_string(transform)), transform);
  }
  EXPECT_EQ(parse_profile("np"), Profile::kNp);
  EXPECT_EQ(parse_transform_2d("bior1.5"), Transform2d::kBior15);
}

TEST(Names, AnUnknownNameIsAnsweredWithTheLegalOnes) {
  const std::string profile = complaint_of([] { parse_profile("best"); });
  EXPECT_NE(profile.find("best"), std::string::npos) << profile;
  for (const Profile legal : kAllProfiles) {
    EXPECT_NE(profile.find(to_string(legal)), std::string::npos) << profile;
  }
  const std::string transform = complaint_of([] { parse_transform_2d("fft"); });
  EXPECT_NE(transform.find("bior1.5"), std::string::npos) << transform;
  EXPECT_NE(complaint_of([] { parse_transform_1d(""); }).find("haar"), std::string::npos);
  EXPECT_NE(complaint_of([] { parse_profile("NP"); }).find("np"), std::string::npos);
}

}  // namespace
}  // namespace limpid
