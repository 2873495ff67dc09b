// SPDX-License-Identifier: MIT
// Templates for many machines.
#include <gtest/gtest.h>

#include "tests/plugins/host_script.h"

namespace limpid {
namespace {

TEST(Cluster, TemplatesTakePathsWithAnyCharactersAndEndAfterAFailedWorker) {
  test::expect_host_to_work(LIMPID_CLUSTER_SCRIPT, LIMPID_BIN_DIR);
}

}  // namespace
}  // namespace limpid
