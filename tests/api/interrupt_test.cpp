// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Threads that are interrupted while they wait: whatever they wait for, the call ends, and the
// peers learn who left.
#include <tutti/tutti.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

int always(void* context) {
  ++*static_cast<int*>(context);
  return 1;
}
int never(void* context) {
  ++*static_cast<int*>(context);
  return 0;
}

struct Wait {
  const char* name;
  std::function<tutti_status(tutti_comm_t)> call;  // of rank 0, while rank 1 does nothing
};

template <typename Start>
tutti_status start_and_wait(Start&& start) {
  tutti_request_t request = nullptr;
  EXPECT_OK(start(&request));
  const tutti_status status = tutti_request_wait(request);
  const std::string text = tutti_last_error();
  int done = 0;
  EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_request_test(request, &done));
  EXPECT_EQ(done, 1);
  EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_request_wait_for(request, 0));
  EXPECT_OK(tutti_request_free(request));
  return status;
}

float here[4096];
float there[2 * 4096];

const Wait kWaits[] = {
    {"allreduce",
     [](tutti_comm_t comm) {
       return tutti_allreduce(here, there, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
     }},
    {"long_allreduce",
     [](tutti_comm_t comm) {
       return tutti_allreduce(here, there, 4096, TUTTI_FLOAT32, TUTTI_SUM, comm);
     }},
    {"barrier", [](tutti_comm_t comm) { return tutti_barrier(comm); }},
    {"recv",
     [](tutti_comm_t comm) { return tutti_recv(here, 1, TUTTI_FLOAT32, 1, 0, comm, nullptr); }},
    {"iallreduce",
     [](tutti_comm_t comm) {
       return start_and_wait([&](tutti_request_t* request) {
         return tutti_iallreduce(here, there, 4096, TUTTI_FLOAT32, TUTTI_SUM, comm, request);
       });
     }},
    {"irecv",
     [](tutti_comm_t comm) {
       return start_and_wait([&](tutti_request_t* request) {
         return tutti_irecv(here, 1, TUTTI_FLOAT32, 1, 0, comm, request);
       });
     }},
    {"wait_for",
     [](tutti_comm_t comm) {
       tutti_request_t request = nullptr;
       EXPECT_OK(tutti_irecv(here, 1, TUTTI_FLOAT32, 1, 0, comm, &request));
       const tutti_status status = tutti_request_wait_for(request, 60'000);
       EXPECT_OK(tutti_request_free(request));
       return status;
     }},
    {"blocking_group",
     [](tutti_comm_t comm) {
       EXPECT_OK(tutti_group_start());
       EXPECT_OK(tutti_allreduce(here, there, 1, TUTTI_FLOAT32, TUTTI_SUM, comm));
       EXPECT_OK(tutti_recv(here, 1, TUTTI_FLOAT32, 1, 0, comm, nullptr));
       return tutti_group_end();
     }},
    {"split",
     [](tutti_comm_t comm) {
       tutti_comm_t part = nullptr;
       return tutti_comm_split(comm, 0, 0, nullptr, &part);
     }},
    {"shrink",
     [](tutti_comm_t comm) {
       tutti_comm_t rest = nullptr;
       return tutti_comm_shrink(comm, nullptr, &rest);
     }},
};

class Interrupt : public testing::TestWithParam<Wait> {};

TEST_P(Interrupt, EndsTheWaitAndIsToldToThePeers) {
  Meeting interrupted(2);
  Ranks ranks;
  ranks.breaks = true;
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    if (rank == 0) {
      int asked = 0;
      ASSERT_OK(tutti_set_interrupt_check(always, &asked));
      EXPECT_STATUS(TUTTI_ERR_INTERRUPTED, GetParam().call(comm));
      EXPECT_NE(std::string(tutti_last_error()).find("interrupted"), std::string::npos)
          << tutti_last_error();
      EXPECT_EQ(asked, 1);
    }
    interrupted.wait();
    EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_comm_state(comm));
    EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_barrier(comm));
    EXPECT_ERROR_SAYS("rank 0 (pid ");
    EXPECT_ERROR_SAYS("interrupted in");
  });
}

INSTANTIATE_TEST_SUITE_P(Waits, Interrupt, testing::ValuesIn(kWaits),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(InterruptCheck, IsCalledAllAlongAndLeavesTheCallAloneWhileItSaysNo) {
  Meeting asked_often(2);
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    int asked = 0;
    if (rank == 0) {
      const auto twice = [](void* context) {
        // Rank 1 comes once this has been asked twice.
        const auto& [count, meeting] = *static_cast<std::pair<int*, Meeting*>*>(context);
        if (++*count == 2) meeting->wait();
        return 0;
      };
      std::pair<int*, Meeting*> context(&asked, &asked_often);
      ASSERT_OK(tutti_set_interrupt_check(twice, &context));
      EXPECT_OK(tutti_barrier(comm));
      EXPECT_GE(asked, 2);
      ASSERT_OK(tutti_set_interrupt_check(nullptr, nullptr));
    } else {
      asked_often.wait();
      EXPECT_OK(tutti_barrier(comm));
    }
  });
}

TEST(InterruptCheck, IsOfItsThreadAlone) {
  run_ranks(2, [&](int rank, tutti_comm_t comm) {
    int asked = 0;
    if (rank == 0) {
      std::thread([&] { EXPECT_OK(tutti_set_interrupt_check(always, &asked)); }).join();
    }
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_OK(tutti_barrier(comm));
    EXPECT_EQ(asked, 0);
  });
}

TEST(InterruptCheck, EndsTheMakingOfACommunicator) {
  run_processes({.count = 1, .killed = {}}, [](int) {
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    int asked = 0;
    ASSERT_OK(tutti_set_interrupt_check(always, &asked));
    tutti_comm_t comm = nullptr;
    EXPECT_STATUS(TUTTI_ERR_INTERRUPTED, tutti_comm_create(&id, 0, 2, nullptr, &comm));
    EXPECT_ERROR_SAYS("interrupted while it waited: tutti_comm_create");
    EXPECT_EQ(comm, nullptr);
    EXPECT_GE(asked, 1);
    // Another one is not in the way of it.
    ASSERT_OK(tutti_set_interrupt_check(never, &asked));
    ASSERT_OK(tutti_get_unique_id(&id));
    EXPECT_OK(tutti_comm_create(&id, 0, 1, nullptr, &comm));
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

TEST(InterruptCheck, EndsADestructionThatWaits) {
  Meeting interrupted(2);
  IdPipe ids;
  run_processes({.count = 2, .killed = {}}, [&](int rank) {
    const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&id, rank, 2, nullptr, &comm));
    if (rank == 0) {
      int asked = 0;
      tutti_request_t request = nullptr;
      ASSERT_OK(tutti_irecv(here, 1, TUTTI_FLOAT32, 1, 0, comm, &request));
      ASSERT_OK(tutti_set_interrupt_check(always, &asked));
      EXPECT_STATUS(TUTTI_ERR_INTERRUPTED, tutti_comm_destroy(comm));
      EXPECT_OK(tutti_request_free(request));
    }
    interrupted.wait();
    if (rank == 1) {
      EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_barrier(comm));
      EXPECT_ERROR_SAYS("rank 0");
      EXPECT_STATUS(TUTTI_ERR_ABORTED, tutti_comm_destroy(comm));
    }
  });
}

}  // namespace
}  // namespace tutti_test
