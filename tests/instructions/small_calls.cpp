// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// small_calls SHARED_FILE CALLS: the two ranks whose instructions instructions.py counts. Rank 1 is
// the one that runs under callgrind. It enters every call last, so that it finds everything there
// and never polls: the count is then the same on an idle and on a busy machine.
#include <fcntl.h>
#include <sys/mman.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>

// Where callgrind is told to write down what it has counted since the last time.
extern "C" [[gnu::noinline]] void small_calls_after_call() { asm volatile(""); }

namespace {

constexpr int kCounted = 1;
constexpr int kTag = 0;

// What has compiled this, and so the library.
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#if defined(__clang__)
constexpr const char* kCompiler = "clang " TEXT(__clang_major__);
#else
constexpr const char* kCompiler = "GCC " TEXT(__GNUC__);
#endif

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "small_calls: %s: %s\n", what, tutti_last_error());
  std::exit(1);
}

void expect_ok(tutti_status status, const char* what) { expect(status == TUTTI_OK, what); }

// How many calls rank 0 has begun, in a file that both ranks have mapped.
using Begun = std::atomic<uint32_t>;

Begun& map_begun(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  expect(file >= 0, "opening the shared file");
  void* memory = mmap(nullptr, sizeof(Begun), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  expect(memory != MAP_FAILED, "mapping the shared file");
  close(file);
  return *static_cast<Begun*>(memory);
}

struct Turns {
  int rank;
  uint32_t calls;
  Begun& begun;
  uint32_t next = 1;

  using Make = std::function<tutti_status()>;
  // Rank 0 says that it is about to call, and is given the time to do so. Where that was not enough
  // the other call polls, and is one of those that instructions.py leaves aside.
  void take(const char* what, const Make& of_rank_0, const Make& counted) {
    if (rank == kCounted) std::puts(what);
    for (uint32_t call = 0; call < calls; ++call, ++next) {
      if (rank != kCounted) {
        begun.store(next, std::memory_order_release);
        expect_ok(of_rank_0(), what);
        continue;
      }
      while (begun.load(std::memory_order_acquire) < next) usleep(50);
      usleep(500);
      expect_ok(counted(), what);
      small_calls_after_call();
    }
  }
  void take(const char* what, const Make& both) { take(what, both, both); }
};

}  // namespace

int main(int argc, char** argv) {
  expect(argc == 3, "expected a file and the number of calls");
  tutti_comm_t comm = nullptr;
  expect_ok(tutti_comm_create_from_env(nullptr, &comm), "making the communicator");
  int rank = 0;
  expect_ok(tutti_comm_rank(comm, &rank), "asking for the rank");
  if (rank == kCounted) std::puts(kCompiler);
  Turns turns{rank, static_cast<uint32_t>(std::atoi(argv[2])), map_begun(argv[1])};

  double value = 1;
  double sum = 0;
  turns.take("allreduce of 8 B",
             [&] { return tutti_allreduce(&value, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM, comm); });
  expect(sum == 2, "the sum");
  turns.take("broadcast of 8 B to a rank that is not the root",
             [&] { return tutti_broadcast(&value, 1, TUTTI_FLOAT64, 1 - kCounted, comm); });
  turns.take("barrier", [&] { return tutti_barrier(comm); });
  const auto send = [&] { return tutti_send(&value, 1, TUTTI_FLOAT64, 1 - rank, kTag, comm); };
  const auto recv = [&] {
    return tutti_recv(&value, 1, TUTTI_FLOAT64, 1 - rank, kTag, comm, nullptr);
  };
  turns.take("send of 8 B", recv, send);
  turns.take("recv of 8 B", send, recv);
  turns.take("send and recv of 8 B in a group", [&] {
    tutti_status status = tutti_group_start();
    if (status == TUTTI_OK) status = send();
    if (status == TUTTI_OK) status = recv();
    const tutti_status end = tutti_group_end();
    return status == TUTTI_OK ? end : status;
  });
  double got = 0;
  turns.take("sendrecv of 8 B", [&] {
    return tutti_sendrecv(&value, 1, 1 - rank, kTag, &got, 1, 1 - rank, kTag, TUTTI_FLOAT64, comm,
                          nullptr);
  });
  const size_t counts[] = {1, 1};
  double of_all[2] = {};
  turns.take("gatherv of 8 B by a rank that is not the root", [&] {
    return tutti_gatherv(&value, 1, of_all, counts, nullptr, TUTTI_FLOAT64, 1 - kCounted, comm);
  });
  const auto finish = [](tutti_request_t request) {
    const tutti_status status = tutti_request_wait(request);
    const tutti_status freed = tutti_request_free(request);
    return status == TUTTI_OK ? freed : status;
  };
  turns.take("allreduce of 8 B, started and waited for", [&] {
    tutti_request_t request = nullptr;
    const tutti_status status =
        tutti_iallreduce(&value, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM, comm, &request);
    return status == TUTTI_OK ? finish(request) : status;
  });
  // Not a receive: a worker may be faster than the thread that waits for it.
  turns.take("send of 8 B, started and waited for", recv, [&] {
    tutti_request_t request = nullptr;
    const tutti_status status =
        tutti_isend(&value, 1, TUTTI_FLOAT64, 1 - rank, kTag, comm, &request);
    return status == TUTTI_OK ? finish(request) : status;
  });
  expect_ok(tutti_comm_destroy(comm), "destroying the communicator");
}
