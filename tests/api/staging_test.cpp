// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// TUTTI_SHM_STAGING: results do not depend on how staging is written, nor on whether all ranks
// write it alike.
#include <gtest/gtest.h>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

struct Setting {
  int ranks;
  const char* even;  // of ranks 0, 2, ...
  const char* odd;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.ranks << "_ranks_" << setting.even << "_" << setting.odd;
}

void call_all(Collectives& on, size_t count, const Variant& variant) {
  const Variant separate{variant.form, false, variant.skewed};
  on.allreduce(TUTTI_FLOAT32, Op::kSum, count, variant);
  on.allreduce(TUTTI_BFLOAT16, Op::kAvg, count, variant);
  on.allgather(TUTTI_INT8, count, variant);
  on.reduce_scatter(TUTTI_FLOAT32, Op::kMax, count, variant);
  on.alltoall(TUTTI_INT32, count, separate);
  on.broadcast(TUTTI_INT8, count, 1, separate);
  on.reduce(TUTTI_INT32, Op::kSum, count, 1, variant);
  on.scatter(TUTTI_FLOAT32, count, 1, variant);
  on.gather(TUTTI_FLOAT32, count, 0, variant);
}

class Staging : public testing::TestWithParam<Setting> {};

TEST_P(Staging, OfEitherKindGivesTheReference) {
  Ranks ranks;
  ranks.count = GetParam().ranks;
  ranks.before = [](int rank) {
    setenv("TUTTI_SHM_STAGING", rank % 2 == 0 ? GetParam().even : GetParam().odd, 1);
    setenv("TUTTI_SHM_PULL", "0", 1);
  };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    int variant = 0;
    for (const size_t count : {255u, 1024u, 5001u, 40'000u, 150'001u}) {
      for (int i = 0; i < 3; ++i, ++variant) {
        call_all(on, count, {kForms[variant % 3], variant % 2 == 1, variant % 4 == 3});
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Collectives, Staging,
                         testing::Values(Setting{2, "memory", "memory"},
                                         Setting{2, "cache", "memory"}, Setting{2, "auto", "auto"},
                                         Setting{3, "memory", "cache"}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tutti_test
