// SPDX-License-Identifier: MIT
// A sample of tests/failing_calls.sh, with a seed.
#include <gtest/gtest.h>

#include "tests/app/program/program_test.h"

namespace limpid::test {
namespace {

using FailingCallsTest = ProgramTest;

TEST_F(FailingCallsTest, LeaveAWholeOutputOrNone) {
  const Outcome outcome = run({LIMPID_FAILING_CALLS_TEST, LIMPID_BUILD_DIR, "12", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace limpid::test
