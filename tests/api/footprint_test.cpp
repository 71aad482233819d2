// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a small blocking call does besides its work: it allocates nothing, makes no system call and
// reads no clock, unless it has to wait for a peer.
//
// Allocations and looks at the clock are counted by functions that stand before those of the C
// library, for the library under test as well. System calls are counted by a tracer, between two
// calls of getppid that mark the beginning and the end.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/ranks.hpp"

#if !defined(TUTTI_SANITIZED)  // they do the same

namespace {

// Of this thread, since it set `counting`.
thread_local bool counting = false;
thread_local size_t allocations = 0;
thread_local size_t clock_reads = 0;

}  // namespace

// Or the library would not find them: the build hides what is not marked.
#pragma GCC visibility push(default)
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  allocations += counting ? 1 : 0;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  allocations += counting ? 1 : 0;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) noexcept {
  allocations += counting ? 1 : 0;
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  allocations += counting ? 1 : 0;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  allocations += counting ? 1 : 0;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
int clock_gettime(clockid_t clock, timespec* time) noexcept {
  clock_reads += counting ? 1 : 0;
  return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

}  // extern "C"
#pragma GCC visibility pop

namespace tutti_test {
namespace {

constexpr int kCalls = 1000;
constexpr int kWarmUps = 20;

struct SmallCall {
  std::string name;
  std::function<tutti_status(tutti_comm_t)> make;
};

std::vector<SmallCall> small_collectives() {
  static float data[256];
  std::vector<SmallCall> calls;
  for (const size_t count : {size_t{2}, size_t{256}}) {
    const std::string bytes = std::to_string(4 * count) + " B";
    calls.push_back({"allreduce of " + bytes, [count](tutti_comm_t comm) {
                       return tutti_allreduce(data, data, count, TUTTI_FLOAT32, TUTTI_MAX, comm);
                     }});
    calls.push_back({"broadcast of " + bytes, [count](tutti_comm_t comm) {
                       return tutti_broadcast(data, count, TUTTI_FLOAT32, 0, comm);
                     }});
  }
  calls.push_back({"alltoallv of 8 B", [](tutti_comm_t comm) {
                     static const size_t counts[] = {2, 2};
                     return tutti_alltoallv(data, counts, nullptr, data + 128, counts, nullptr,
                                            TUTTI_FLOAT32, comm);
                   }});
  calls.push_back({"barrier", tutti_barrier});
  return calls;
}

// Rank 0 sends `burst` messages of 8 bytes to rank 1, which sends one back.
void exchange(int rank, int burst, tutti_comm_t comm) {
  double value = 0;
  const auto send = [&](int peer) {
    ASSERT_OK(tutti_send(&value, 1, TUTTI_FLOAT64, peer, 0, comm));
  };
  const auto recv = [&](int peer) {
    ASSERT_OK(tutti_recv(&value, 1, TUTTI_FLOAT64, peer, 0, comm, nullptr));
  };
  for (int i = 0; i < burst; ++i) rank == 0 ? send(1) : recv(0);
  rank == 0 ? recv(1) : send(0);
}

// Both ranks send and receive at once.
void shift(int rank, tutti_comm_t comm) {
  const double given = rank;
  double taken = -1;
  ASSERT_OK(tutti_group_start());
  ASSERT_OK(tutti_send(&given, 1, TUTTI_FLOAT64, 1 - rank, 0, comm));
  ASSERT_OK(tutti_recv(&taken, 1, TUTTI_FLOAT64, 1 - rank, 0, comm, nullptr));
  ASSERT_OK(tutti_group_end());
  ASSERT_EQ(taken, 1 - rank);
}

// ---- memory and clock --------------------------------------------------------------------------

struct Count {
  size_t allocations;
  size_t clock_reads;
};

Count count(const std::function<void()>& body) {
  allocations = 0;
  clock_reads = 0;
  counting = true;
  body();
  counting = false;
  return {allocations, clock_reads};
}

TEST(Footprint, TheCountersSeeWhatTheLibraryDoes) {
  run_ranks(1, [](int /*rank*/, tutti_comm_t comm) {
    const Count seen = count([comm] {
      tutti_comm_t copy = nullptr;
      ASSERT_OK(tutti_comm_split(comm, 0, 0, nullptr, &copy));
      ASSERT_OK(tutti_comm_destroy(copy));
    });
    EXPECT_GT(seen.allocations, 0u);
    EXPECT_GT(seen.clock_reads, 0u);
  });
}

TEST(Footprint, OfSmallCollectivesHasNoAllocation) {
  for (const int ranks : {1, 2}) {
    run_ranks(ranks, [ranks](int /*rank*/, tutti_comm_t comm) {
      for (const SmallCall& call : small_collectives()) {
        for (int i = 0; i < kWarmUps; ++i) ASSERT_OK(call.make(comm));
        const Count seen = count([&] {
          for (int i = 0; i < kCalls; ++i) ASSERT_EQ(call.make(comm), TUTTI_OK);
        });
        EXPECT_EQ(seen.allocations, 0u) << call.name << ", " << ranks << " ranks";
        // A wait that takes long has to look at the clock.
        if (ranks == 1) {
          EXPECT_EQ(seen.clock_reads, 0u) << call.name;
        }
      }
    });
  }
}

TEST(Footprint, OfSmallMessagesHasNoAllocation) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (const int burst : {1, 100}) {
      for (int i = 0; i < kWarmUps; ++i) exchange(rank, burst, comm);
      const Count seen = count([&] {
        for (int i = 0; i < kCalls / burst; ++i) exchange(rank, burst, comm);
      });
      EXPECT_EQ(seen.allocations, 0u) << "bursts of " << burst << ", rank " << rank;
    }
  });
}

TEST(Footprint, OfSmallMessagesInAGroupHasNoAllocation) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    for (int i = 0; i < kWarmUps; ++i) shift(rank, comm);
    const Count seen = count([&] {
      for (int i = 0; i < kCalls; ++i) shift(rank, comm);
    });
    EXPECT_EQ(seen.allocations, 0u) << "rank " << rank;
  });
}

// ---- system calls ------------------------------------------------------------------------------

constexpr int kCannotTrace = 77;
constexpr int kFailed = 1;

void mark() { syscall(SYS_getppid); }

void pin(int rank) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0, left = rank; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// What a traced rank does; it does not return.
[[noreturn]] void be_traced(int rank, int ranks, const IdPipe& ids, const RankBody& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kCannotTrace);
  raise(SIGSTOP);
  pin(rank);
  const tutti_unique_id id = rank == 0 ? ids.make(ranks - 1) : ids.receive();
  tutti_comm_t comm = nullptr;
  if (tutti_comm_create(&id, rank, ranks, nullptr, &comm) != TUTTI_OK) _exit(kFailed);
  body(rank, comm);
  tutti_comm_destroy(comm);
  std::fflush(stdout);
  _exit(testing::Test::HasFailure() ? kFailed : 0);
}

struct Traces {
  std::string impossible;     // why there are none
  bool failed = false;        // a rank has
  std::multiset<long> calls;  // made between the marks, by all ranks
};

// Lets a stopped rank go on to its next system call, which it notes.
bool note(pid_t pid, std::set<pid_t>& inside, Traces& traces) {
  __ptrace_syscall_info info{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, reinterpret_cast<void*>(sizeof info), &info) <= 0) {
    return false;
  }
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return true;
  const auto number = static_cast<long>(info.entry.nr);
  if (number == SYS_getppid) {
    if (inside.erase(pid) == 0) inside.insert(pid);
  } else if (inside.count(pid) != 0) {
    traces.calls.insert(number);
  }
  return true;
}

// Only the thread that makes the calls is traced, not those that the library starts.
Traces trace(int ranks, const RankBody& body) {
  const IdPipe ids;
  Traces traces;
  std::set<pid_t> alive;
  std::set<pid_t> inside;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) be_traced(rank, ranks, ids, body);
    alive.insert(pid);
  }
  std::set<pid_t> begun;
  while (!alive.empty()) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0) break;
    if (!WIFSTOPPED(status)) {
      alive.erase(pid);
      if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotTrace) {
        traces.impossible = "this process may not be traced";
      } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        traces.failed = true;
      }
      continue;
    }
    const int signal = WSTOPSIG(status);
    const bool first = begun.insert(pid).second;
    const auto options = static_cast<uintptr_t>(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    if (first) ptrace(PTRACE_SETOPTIONS, pid, nullptr, reinterpret_cast<void*>(options));
    const bool at_call = signal == (SIGTRAP | 0x80);
    if (at_call && !note(pid, inside, traces)) {
      traces.impossible = "the kernel does not tell which system call was made";
    }
    const auto deliver = static_cast<uintptr_t>(first || at_call ? 0 : signal);
    ptrace(PTRACE_SYSCALL, pid, nullptr, reinterpret_cast<void*>(deliver));
  }
  return traces;
}

#define SKIP_OR_EXPECT_TRACED(traces)                                    \
  if (!(traces).impossible.empty()) GTEST_SKIP() << (traces).impossible; \
  ASSERT_FALSE((traces).failed) << "a traced rank has failed"

TEST(Footprint, TheTracerSeesSystemCalls) {
  const Traces traces = trace(1, [](int /*rank*/, tutti_comm_t /*comm*/) {
    sched_yield();
    mark();
    sched_yield();
    mark();
    sched_yield();
  });
  SKIP_OR_EXPECT_TRACED(traces);
  EXPECT_EQ(traces.calls, std::multiset<long>{SYS_sched_yield});
}

TEST(Footprint, OfSmallCollectivesHasNoSystemCall) {
  const Traces traces = trace(1, [](int /*rank*/, tutti_comm_t comm) {
    for (const SmallCall& call : small_collectives()) {
      for (int i = 0; i < kWarmUps; ++i) ASSERT_OK(call.make(comm));
      mark();
      for (int i = 0; i < kCalls; ++i) ASSERT_EQ(call.make(comm), TUTTI_OK);
      mark();
    }
  });
  SKIP_OR_EXPECT_TRACED(traces);
  EXPECT_EQ(traces.calls, std::multiset<long>{});
}

// A peer that is late is waited for with these, see wait_until(). A thread asks once who it is, for
// `tutti why`.
void expect_waits_only(const Traces& traces) {
  for (const long number : traces.calls) {
    const auto allowed = {SYS_sched_yield, SYS_futex, SYS_membarrier, SYS_clock_gettime,
                          SYS_gettid};
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), number), allowed.end())
        << "system call " << number << " (see asm/unistd.h)";
  }
}

TEST(Footprint, OfTwoRanksHasNoSystemCallsButThoseOfWaiting) {
  const Traces traces = trace(2, [](int rank, tutti_comm_t comm) {
    for (const SmallCall& call : small_collectives()) {
      for (int i = 0; i < kWarmUps; ++i) ASSERT_OK(call.make(comm));
      mark();
      for (int i = 0; i < 100; ++i) ASSERT_EQ(call.make(comm), TUTTI_OK);
      mark();
    }
    for (int i = 0; i < kWarmUps; ++i) exchange(rank, 1, comm);
    mark();
    for (int i = 0; i < 100; ++i) exchange(rank, 1, comm);
    mark();
  });
  SKIP_OR_EXPECT_TRACED(traces);
  expect_waits_only(traces);
}

}  // namespace
}  // namespace tutti_test

#endif
