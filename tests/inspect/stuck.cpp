// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// stuck SCENARIO: ranks that get stuck on purpose, or do not, for the tests of what is told of
// them. Started by a launcher; they stay so until they are killed.
#include <sys/wait.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

int rank_here = 0;
int ranks = 1;
tutti_comm_t world = nullptr;

void check(tutti_status status) {
  if (status == TUTTI_OK) return;
  std::fprintf(stderr, "rank %d: %s\n", rank_here, tutti_last_error());
  std::exit(1);
}

bool is_last() { return rank_here == ranks - 1; }

void sum(tutti_comm_t comm, size_t count = 2) {
  static float data[1 << 16];
  check(tutti_allreduce(data, data, count, TUTTI_FLOAT32, TUTTI_MAX, comm));
}

void give(tutti_comm_t comm) {
  float data[4] = {};
  check(tutti_broadcast(data, 4, TUTTI_FLOAT32, 0, comm));
}

void stay() {
  for (;;) pause();
}

tutti_comm_t copy_of(const char* name) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = name;
  tutti_comm_t copy = nullptr;
  check(tutti_comm_split(world, 0, rank_here, &config, &copy));
  return copy;
}

// ---- scenarios ---------------------------------------------------------------------------------

void sleeps() {
  if (is_last()) stay();
  sum(world);
}

void stops() {
  if (is_last()) raise(SIGSTOP);
  sum(world);
}

void splits() {
  if (is_last()) raise(SIGSTOP);
  (void)copy_of("part");
}

void computes() {
  if (is_last()) {
    for (volatile unsigned long n = 0;;) n = n + 1;
  }
  sum(world);
}

void tell_of_failure() {
  float data = 0;
  (void)tutti_allreduce(&data, &data, 1, TUTTI_FLOAT32, TUTTI_MAX, world);
  std::printf("told\n");
  std::fflush(stdout);
}

void replaced() {
  if (is_last()) execlp("sleep", "sleep", "1000", nullptr);
  tell_of_failure();
}

// Once all are ready, the test kills the last; the others learn of it, and stay.
void dies() {
  if (is_last()) stay();
  tell_of_failure();
}

void ends() { check(tutti_comm_destroy(world)); }

void started() {
  if (is_last()) stay();
  float data = 1;
  tutti_request_t request = nullptr;
  check(tutti_iallreduce(&data, &data, 1, TUTTI_FLOAT32, TUTTI_SUM, world, &request));
  check(tutti_request_wait(request));
}

// Each waits in another communicator for the other.
void crossed() {
  tutti_comm_t const one = copy_of("one");
  tutti_comm_t const two = copy_of("two");
  sum(rank_here == 0 ? one : two);
}

void both_receive() {
  float data = 0;
  check(tutti_recv(&data, 1, TUTTI_FLOAT32, (rank_here + 1) % ranks, 7, world, nullptr));
}

// The message that the first waits for has another tag.
void other_tag() {
  float data = 0;
  if (rank_here == 0) check(tutti_recv(&data, 1, TUTTI_FLOAT32, 1, 7, world, nullptr));
  if (rank_here == 1) check(tutti_send(&data, 1, TUTTI_FLOAT32, 0, 8, world));
  sum(world);
}

// All but the last, which is the root, run ahead of it.
void ahead() {
  if (is_last()) stay();
  static float data[16 * 64];
  for (int i = 0; i < 1000; ++i) {
    check(tutti_gather(data, data, 16, TUTTI_FLOAT32, ranks - 1, world));
  }
}

// What the first sends is received, late; what it receives is never sent.
void half_received() {
  static float data[1 << 20];
  if (rank_here == 0) {
    check(tutti_sendrecv(data, 1 << 19, 1, 1, data + (1 << 19), 4, 1, 2, TUTTI_FLOAT32, world,
                         nullptr));
  }
  if (rank_here == 1) {
    usleep(300'000);
    check(tutti_recv(data, 1 << 19, TUTTI_FLOAT32, 0, 1, world, nullptr));
  }
}

void shrinks() {
  if (is_last()) stay();
  tutti_comm_t rest = nullptr;
  check(tutti_comm_shrink(world, nullptr, &rest));
}

// A message that has come has another tag, and its sender goes its way.
void meant_otherwise() {
  float data = 0;
  if (rank_here == 0) check(tutti_recv(&data, 1, TUTTI_FLOAT32, 1, 7, world, nullptr));
  if (rank_here == 1) check(tutti_send(&data, 1, TUTTI_FLOAT32, 0, 8, world));
  stay();
}

// The first and the last rank wait here until the others are out of their last call.
void await_those_between() {
  float ready = 0;
  for (int rank = 1; rank < ranks - 1; ++rank) {
    for (const int end : {0, ranks - 1}) {
      if (rank_here == rank) check(tutti_send(&ready, 1, TUTTI_FLOAT32, end, 2, world));
      if (rank_here == end) {
        check(tutti_recv(&ready, 1, TUTTI_FLOAT32, rank, 2, world, nullptr));
      }
    }
  }
}

// The last makes another call than the first. The others make theirs when that has failed.
void differs() {
  await_those_between();
  while (rank_here != 0 && !is_last() && tutti_comm_state(world) == TUTTI_OK) usleep(1000);
  float data = 0;
  if (is_last()) (void)tutti_broadcast(&data, 1, TUTTI_FLOAT32, 0, world);
  tell_of_failure();
}

// Of the first and the last one the calls differ. The others answer the failure of what they are in
// by a call that is like the last one's.
void cleans_up() {
  await_those_between();
  float data = 0;
  if (is_last()) (void)tutti_broadcast(&data, 1, TUTTI_FLOAT32, 0, world);
  if (rank_here != 0 && !is_last()) {
    (void)tutti_recv(&data, 1, TUTTI_FLOAT32, 0, 1, world, nullptr);
    (void)tutti_broadcast(&data, 1, TUTTI_FLOAT32, 0, world);
  }
  tell_of_failure();
}

void goes_on() {
  for (;;) {
    sum(world);
    usleep(1000);
  }
}

void makes_long_calls() {
  for (;;) sum(world, 1 << 16);
}

// The last rank costs the others much of their time.
void comes_late() {
  for (;;) {
    if (is_last()) usleep(20'000);
    sum(world);
  }
}

void stops_and_ends() {
  stops();
  ends();
  std::printf("ended\n");
  std::fflush(stdout);
}

void names_twice() { (void)copy_of("world"); }

// Half of the ranks are stuck, in a group of their own.
void in_group() {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = "half";
  tutti_comm_t half = nullptr;
  check(tutti_comm_split(world, rank_here % 2, rank_here, &config, &half));
  if (rank_here % 2 == 0) stay();
  if (!is_last()) sum(half);
}

// What it has started never comes.
void destroys() {
  if (is_last()) stay();
  float data = 0;
  tutti_request_t request = nullptr;
  check(tutti_irecv(&data, 1, TUTTI_FLOAT32, ranks - 1, 7, world, &request));
  check(tutti_comm_destroy(world));
}

void never_returns(const void*, void*, size_t, tutti_type, void*) { stay(); }

void reduces() {
  tutti_op op = 0;
  check(tutti_op_create_user(never_returns, nullptr, &op));
  float data = 0;
  check(tutti_allreduce(&data, &data, 1, TUTTI_FLOAT32, op, world));
}

const std::map<std::string, std::function<void()>> kScenarios = {
    {"sleeps", sleeps},
    {"stops", stops},
    {"splits", splits},
    {"computes", computes},
    {"started", started},
    {"crossed", crossed},
    {"both-receive", both_receive},
    {"other-tag", other_tag},
    {"ahead", ahead},
    {"replaced", replaced},
    {"meant-otherwise", meant_otherwise},
    {"half-received", half_received},
    {"shrinks", shrinks},
    {"destroys", destroys},
    {"reduces", reduces},
    {"goes-on", goes_on},
    {"differs", differs},
    {"cleans-up", cleans_up},
    {"long-calls", makes_long_calls},
    {"late", comes_late},
    {"idle", stay},
    {"in-group", in_group},
    {"dies", dies},
    {"ends", ends},
    {"stops-and-ends", stops_and_ends},
    {"two-of-one-name", names_twice},
    {"never-arrives", stay}};

// In which a rank is lost on its way to the others.
bool is_lost(const std::string& scenario) {
  const char* const rank = std::getenv("RANK");
  return scenario == "never-arrives" && rank != nullptr && std::string(rank) != "0";
}

// STUCK_HOSTS has one character for each rank: the name of its host.
void take_host() {
  const char* const hosts = std::getenv("STUCK_HOSTS");
  const char* const rank = std::getenv("RANK");
  if (hosts == nullptr || rank == nullptr) return;
  const std::string name(1, hosts[std::atoi(rank)]);
  setenv("TUTTI_HOST_ID", name.c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const auto scenario = kScenarios.find(argc == 2 ? argv[1] : "");
  if (scenario == kScenarios.end()) return 2;
  take_host();
  if (scenario->first == "never-arrives") std::printf("ready\n");
  std::fflush(stdout);
  if (is_lost(scenario->first)) raise(SIGSTOP);
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = "world";
  check(tutti_comm_create_from_env(&config, &world));
  check(tutti_comm_rank(world, &rank_here));
  check(tutti_comm_size(world, &ranks));
  // What the library has started is no child of the program.
  if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return 3;
  for (int i = 0; i < 3; ++i) sum(world);
  give(world);
  std::printf("ready\n");
  std::fflush(stdout);
  scenario->second();
  stay();
}
