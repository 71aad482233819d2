// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ranks that are made to believe that they share no last-level cache with some of the others
// (TUTTI_DOMAIN), and what is done in two levels then.
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "support/collectives.hpp"

namespace tutti_test {
namespace {

// "01001": in which domain each rank is.
Ranks in_domains(const std::string& domains) {
  Ranks ranks;
  ranks.count = static_cast<int>(domains.size());
  ranks.before = [domains](int rank) {
    setenv("TUTTI_DOMAIN", std::string(1, domains[static_cast<size_t>(rank)]).c_str(), 1);
    for (const char* variable : {"CCL_ALLREDUCE", "CCL_BROADCAST", "CCL_REDUCE", "CCL_BARRIER"}) {
      setenv(variable, "leaders", 1);
    }
  };
  return ranks;
}

class CacheDomains : public testing::TestWithParam<const char*> {};

TEST_P(CacheDomains, GiveTheReference) {
  run_ranks(in_domains(GetParam()), [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    int turn = 0;
    for (const tutti_type type : {TUTTI_UINT8, TUTTI_BFLOAT16, TUTTI_FLOAT64}) {
      for (const size_t count : {0UL, 1UL, 3UL, 7UL, 12UL, 56UL, 500UL, 8191UL, 40000UL}) {
        const Variant variant{kForms[turn++ % 3], turn % 2 == 0, turn % 5 == 0};
        const int root = turn % on.ranks();
        for (const Op op : {Op::kSum, Op::kAvg, Op::kMax}) {
          on.allreduce(type, op, count, variant);
          on.reduce(type, op, count, root, variant);
        }
        on.broadcast(type, count, root, variant);
        ASSERT_OK(tutti_barrier(comm));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, CacheDomains,
                         testing::Values("001", "010", "0101", "00011", "01222", "30330"));

// Over 16 ranks make groups without being told; calls follow one another while some ranks are late,
// and what a leader passes on must stay until its last member has read it.
TEST(Leaders, PassOnNothingThatIsOverwrittenBeforeItIsRead) {
  constexpr int kRanks = 18;
  constexpr int kCalls = kSanitized ? 60 : 400;
  Ranks ranks = in_domains(std::string(kRanks, '0'));
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    std::mt19937 same(7);                               // what is called, on all ranks
    std::mt19937 own(static_cast<unsigned>(rank) + 1);  // how late this rank is
    for (int call = 0; call < kCalls; ++call) {
      constexpr size_t kCounts[] = {1, 6, 7, 14, 15, 50, 256, 1250};
      const size_t count = kCounts[same() % std::size(kCounts)];
      const int root = static_cast<int>(same() % kRanks);
      const auto kind = same() % 4;
      for (auto late = own() % 32 == 0 ? own() % 10 : 0; late > 0; --late) {
        std::this_thread::yield();
      }
      std::vector<int32_t> send(count, rank + call);
      std::vector<int32_t> recv(count, -1);
      const int32_t sum = kRanks * call + kRanks * (kRanks - 1) / 2;
      int32_t expected = sum;
      if (kind == 0) {
        ASSERT_OK(tutti_allreduce(send.data(), recv.data(), count, TUTTI_INT32, TUTTI_SUM, comm));
      } else if (kind == 1) {
        ASSERT_OK(
            tutti_reduce(send.data(), recv.data(), count, TUTTI_INT32, TUTTI_SUM, root, comm));
        if (rank != root) expected = -1;
      } else if (kind == 2) {
        recv = send;
        ASSERT_OK(tutti_broadcast(recv.data(), count, TUTTI_INT32, root, comm));
        expected = root + call;
      } else {
        ASSERT_OK(tutti_barrier(comm));
        expected = -1;
      }
      ASSERT_EQ(recv, std::vector<int32_t>(count, expected)) << "call " << call;
    }
  });
}

// Ranks 0 and 3 never look at one another's entries, but somebody looks at each of them.
TEST(Leaders, FindCallsThatDiffer) {
  Ranks ranks = in_domains("0011");
  ranks.breaks = true;
  const Meeting all_through(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    std::vector<int32_t> data(rank == 3 ? 5 : 4);
    ASSERT_OK(tutti_barrier(comm));
    all_through.wait();
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_allreduce(data.data(), data.data(), data.size(),
                                                      TUTTI_INT32, TUTTI_SUM, comm));
    EXPECT_ERROR_SAYS("rank 3");
  });
}

// One that does not say where it is, and all that is known is worth nothing.
TEST(CacheDomains, AreUnknownIfThatOfOneRankIs) {
  Ranks ranks = in_domains("001");
  const auto before = ranks.before;
  ranks.before = [before](int rank) {
    before(rank);
    if (rank == 1) setenv("TUTTI_DOMAIN", "none", 1);
  };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    Collectives on(rank, comm);
    on.allreduce(TUTTI_FLOAT32, Op::kSum, 100, {Form::kBlocking, false, false});
    ASSERT_OK(tutti_barrier(comm));
  });
}

}  // namespace
}  // namespace tutti_test
