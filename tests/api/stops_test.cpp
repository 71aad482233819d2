// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Jobs that do not run for longer than their calls may wait: all ranks are stopped, and go on one
// after the other, as after a suspended machine, a frozen container, or a debugger.
#include <signal.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

constexpr int kRanks = 2;
constexpr int kLimitMs = 2000;
constexpr useconds_t kStopUs = (kLimitMs + 500) * 1000;
constexpr useconds_t kApartUs = 100'000;
constexpr int kStops = 3;

struct State {
  std::atomic<pid_t> pids[kRanks];
  std::atomic<int> stops;  // so many have been
};

bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t state = line.rfind(") ");
  return state != std::string::npos && line[state + 2] == 'T';
}

void stop_all(State& state) {
  for (const auto& pid : state.pids) kill(pid, SIGSTOP);
  for (const auto& pid : state.pids) {
    while (!is_stopped(pid)) usleep(1000);
  }
}

// Each time another rank goes on first.
void let_go_on(State& state, int first) {
  for (int i = 0; i < kRanks; ++i) {
    if (i > 0) usleep(kApartUs);
    kill(state.pids[(first + i) % kRanks], SIGCONT);
  }
}

struct Way {
  const char* name;
  const char* hosts;  // of each rank
  std::function<void(tutti_comm_t)> call;
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

float here[4096];
float there[4096];

void call_blocking(tutti_comm_t comm) {
  ASSERT_OK(tutti_allreduce(here, there, 4096, TUTTI_FLOAT32, TUTTI_SUM, comm));
}

void call_started(tutti_comm_t comm) {
  tutti_request_t request = nullptr;
  ASSERT_OK(tutti_iallreduce(here, there, 4096, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
  ASSERT_OK(tutti_request_wait(request));
  ASSERT_OK(tutti_request_free(request));
}

void call_by_messages(tutti_comm_t comm) {
  int rank = 0;
  ASSERT_OK(tutti_comm_rank(comm, &rank));
  ASSERT_OK(
      tutti_sendrecv(here, 16, 1 - rank, 1, there, 16, 1 - rank, 1, TUTTI_FLOAT32, comm, nullptr));
}

class StoppedJobs : public testing::TestWithParam<Way> {};

TEST_P(StoppedJobs, LoseNoRankThoughAllStoodStillForLongerThanACallMayWait) {
  const Shared<State> state;
  Processes processes;
  processes.count = kRanks + 1;  // the last one stops the others
  const IdPipe pipe;
  const Meeting met(processes.count);
  run_processes(processes, [&](int index) {
    if (index == kRanks) {
      met.wait();
      for (int stop = 0; stop < kStops; ++stop) {
        usleep(50'000);
        stop_all(*state);
        usleep(kStopUs);
        let_go_on(*state, stop);
        // So that every rank has its time after one.
        usleep(kApartUs);
        ++state->stops;
      }
      return;
    }
    setenv("TUTTI_HOST_ID", std::string(1, GetParam().hosts[index]).c_str(), 1);
    state->pids[index] = getpid();
    const tutti_unique_id id = index == 0 ? pipe.make(kRanks - 1) : pipe.receive();
    tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
    config.timeout_ms = kLimitMs;
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&id, index, kRanks, &config, &comm));
    met.wait();
    // They agree on the last one.
    for (int over = 0; over == 0;) {
      for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(GetParam().call(comm));
      int own = state->stops == kStops ? 1 : 0;
      ASSERT_OK(tutti_allreduce(&own, &over, 1, TUTTI_INT32, TUTTI_MIN, comm));
    }
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

INSTANTIATE_TEST_SUITE_P(In, StoppedJobs,
                         testing::Values(Way{"calls", "aa", call_blocking},
                                         Way{"started_calls", "aa", call_started},
                                         Way{"messages", "aa", call_by_messages},
                                         Way{"calls_between_hosts", "ab", call_blocking}),
                         testing::PrintToStringParamName());

// While it waits for the others at the meeting, which it keeps.
TEST(StoppedRank, DoesNotGiveUpThoseThatCameWhileItStood) {
  constexpr int kInitMs = 2000;
  const Shared<State> state;
  Processes processes;
  processes.count = 2;
  const IdPipe pipe;
  run_processes(processes, [&](int rank) {
    state->pids[rank] = getpid();
    const tutti_unique_id id = rank == 0 ? pipe.make(1) : pipe.receive();
    if (rank == 1) {
      usleep(200'000);
      kill(state->pids[0], SIGSTOP);
      usleep((kInitMs + 500) * 1000);
      kill(state->pids[0], SIGCONT);
      usleep(300'000);
    }
    tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
    config.init_timeout_ms = kInitMs;
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&id, rank, 2, &config, &comm));
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

}  // namespace
}  // namespace tutti_test
