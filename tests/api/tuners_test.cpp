// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tuners that do not answer alike on all ranks.
#include <functional>
#include <string>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr int kRanks = 3;
constexpr size_t kCount = 1000;

int own_rank = 0;

// On rank 1 another algorithm than on the others: the slowest of those that apply.
const char* choose_by_rank(void*, const tutti_tuner_query* query) {
  return query->algorithms[own_rank == 1 ? query->candidates - 1 : 0];
}

void expect_told(const std::function<tutti_status(tutti_comm_t)>& call) {
  const tutti_tuner tuner = {sizeof tuner, choose_by_rank, nullptr};
  Ranks ranks;
  ranks.count = kRanks;
  ranks.config.tuner = &tuner;
  ranks.breaks = true;
  ranks.before = [](int rank) { own_rank = rank; };
  run_ranks(ranks, [&call](int, tutti_comm_t comm) {
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, call(comm));
    EXPECT_ERROR_SAYS("tuners chose different algorithms");
  });
}

TEST(Tuners, ThatAnswerDifferentlyEndTheCallOnAllRanks) {
  std::vector<float> send(kRanks * kCount, 1);
  std::vector<float> recv(kRanks * kCount);
  expect_told([&](tutti_comm_t comm) {
    return tutti_allreduce(send.data(), recv.data(), kCount, TUTTI_FLOAT32, TUTTI_SUM, comm);
  });
  expect_told([&](tutti_comm_t comm) {
    return tutti_allgather(send.data(), recv.data(), kCount, TUTTI_FLOAT32, comm);
  });
  expect_told([&](tutti_comm_t comm) {
    return tutti_alltoall(send.data(), recv.data(), kCount, TUTTI_FLOAT32, comm);
  });
}

TEST(Tuners, OfSomeRanksOnlyAreRefusedWhenTheCommunicatorIsMade) {
  const IdPipe pipe;
  Processes processes;
  processes.count = 2;
  run_processes(processes, [&pipe](int rank) {
    const tutti_unique_id id = rank == 0 ? pipe.make(1) : pipe.receive();
    const tutti_tuner tuner = {sizeof tuner, choose_by_rank, nullptr};
    tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
    if (rank == 1) config.tuner = &tuner;
    tutti_comm_t comm = nullptr;
    EXPECT_STATUS(TUTTI_ERR_MISMATCH, tutti_comm_create(&id, rank, 2, &config, &comm));
    EXPECT_ERROR_SAYS("tutti_comm_config.tuner differs between ranks");
  });
}

}  // namespace
}  // namespace tutti_test
