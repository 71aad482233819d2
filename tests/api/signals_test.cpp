// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Signals are for the threads of the program: those of the library block all of them.
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>

#include "support/ranks.hpp"

namespace tutti_test {
namespace {

std::string field_of_thread(const std::string& thread, const std::string& field) {
  std::ifstream status("/proc/self/task/" + thread + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":"))
      return line.substr(line.find_first_not_of(" \t", field.size() + 1));
  }
  return "";
}

// Names of the library's threads in this process, each of which is to take no signal.
std::set<std::string> threads_that_block_signals() {
  std::set<std::string> names;
  DIR* const folder = opendir("/proc/self/task");
  while (const dirent* const entry = readdir(folder)) {
    const std::string thread = entry->d_name;
    const std::string name = field_of_thread(thread, "Name");
    if (!name.starts_with("tutti-")) continue;
    const uint64_t blocked = std::stoull(field_of_thread(thread, "SigBlk"), nullptr, 16);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM, SIGRTMAX}) {
      EXPECT_NE(blocked >> (signal - 1) & 1, 0u) << name << " takes signal " << signal;
    }
    names.insert(name);
  }
  closedir(folder);
  return names;
}

// With a worker, which an operation that somebody listens to starts, unless its last rank completes
// it at once. So ranks are the first in turn.
void start_worker(int rank, tutti_comm_t comm) {
  std::atomic<int> ended{-1};
  const auto note = [](tutti_status status, const char*, void* context) {
    static_cast<std::atomic<int>*>(context)->store(status);
  };
  tutti_request_t request = nullptr;
  ASSERT_OK(tutti_barrier_init(comm, &request));
  ASSERT_OK(tutti_request_on_complete(request, note, &ended));
  for (int round = 0; round < 20; ++round) {
    ended = -1;
    if (round % 2 == rank) usleep(2000);
    ASSERT_OK(tutti_request_start(request));
    while (ended.load() < 0) usleep(100);
    ASSERT_OK(tutti_request_wait(request));
  }
  ASSERT_OK(tutti_request_free(request));
}

TEST(Signals, AreBlockedInAllThreadsOfTheLibrary) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    tutti_unique_id id;
    ASSERT_OK(tutti_get_unique_id(&id));
    start_worker(rank, comm);
    const std::set<std::string> names = threads_that_block_signals();
    EXPECT_TRUE(names.contains("tutti-0"));
    EXPECT_TRUE(names.contains("tutti-monitor"));
    EXPECT_TRUE(names.contains("tutti-meeting"));
    ASSERT_OK(tutti_barrier(comm));
  });
}

TEST(Signals, ThatTheProgramBlocksLaterWaitForItToTakeThem) {
  run_ranks(2, [](int rank, tutti_comm_t comm) {
    start_worker(rank, comm);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
    ASSERT_EQ(kill(getpid(), SIGUSR1), 0);
    int taken = 0;
    ASSERT_EQ(sigwait(&set, &taken), 0);
    EXPECT_EQ(taken, SIGUSR1);
    ASSERT_OK(tutti_barrier(comm));
  });
}

}  // namespace
}  // namespace tutti_test
