// SPDX-License-Identifier: MIT
#include "core/frame/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace limpid {
namespace {

// The definition of IEEE 754, 3.4.
double value_of(int bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? fraction == 0 ? HUGE_VAL : std::nan("")
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

Half of_bits(int bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

TEST(HalfTest, EachHasItsValueAndComesBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = of_bits(bits);
    if (std::isnan(value_of(bits))) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(value)))) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(value), value_of(bits)) << bits;
      EXPECT_EQ(Half(value).bits, bits);
    }
  }
}

TEST(HalfTest, FloatsBetweenTwoAreRoundedToTheNearerAndTiesToTheEvenOne) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int bits = 0; bits < 0x7BFF; ++bits) {
    const auto middle = static_cast<float>((value_of(bits) + value_of(bits + 1)) / 2);
    EXPECT_EQ(Half(middle).bits, bits + bits % 2) << bits;
    EXPECT_EQ(Half(std::nextafter(middle, -kInfinity)).bits, bits) << bits;
    EXPECT_EQ(Half(std::nextafter(middle, kInfinity)).bits, bits + 1) << bits;
    EXPECT_EQ(Half(-middle).bits, 0x8000 | (bits + bits % 2)) << bits;
  }
  EXPECT_EQ(Half(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(Half(65520.0F).bits, 0x7C00);
  EXPECT_EQ(Half(-std::numeric_limits<float>::max()).bits, 0xFC00);
}

}  // namespace
}  // namespace limpid
