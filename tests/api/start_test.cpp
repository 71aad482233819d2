// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Where one rank cannot start, in any phase of making a communicator, all others are told its own
// text, with its number.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <tuple>

#include "support/forbidden.hpp"
#include "support/ranks.hpp"

namespace tutti_test {
namespace {

// From now on this process has no descriptor to spare but `more`.
void allow_descriptors(int more) {
  const int next = fcntl(0, F_DUPFD, 3);
  close(next);
  const auto most = static_cast<rlim_t>(next + more);
  const rlimit limit{most, most};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

void forbid_threads() { ASSERT_TRUE(forbid({{SYS_clone3, EAGAIN}})); }

// A check that lacks descriptors takes sound memory for damaged.
#ifdef TUTTI_SANITIZED
constexpr bool kChecksNeedDescriptors = true;
#else
constexpr bool kChecksNeedDescriptors = false;
#endif

struct Trouble {
  const char* name;
  std::function<void()> make;
  const char* said;  // in the text of the rank that has it
  bool threads = false;
};

void PrintTo(const Trouble& trouble, std::ostream* out) { *out << trouble.name; }

const Trouble kVariable = {"variable", [] { setenv("CCL_WORKER_COUNT", "many", 1); },
                           "CCL_WORKER_COUNT"};
const Trouble kAffinity = {"affinity", [] { setenv("CCL_WORKER_AFFINITY", "99999", 1); },
                           "CCL_WORKER_AFFINITY"};
const Trouble kThreads = {"threads", forbid_threads, "Resource temporarily unavailable", true};
const Trouble kDescriptors = {"descriptors", [] { allow_descriptors(1); }, "Too many open files"};

// How a rank comes to a communicator.
struct Way {
  const char* name;
  bool by_id;
  const char* hosts;  // a character for each rank
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

const Way kWays[] = {{"id", true, "aaa"},
                     {"id_hosts", true, "abb"},
                     {"job", false, "aaa"},
                     {"job_hosts", false, "abb"}};

constexpr size_t kText = 1024;

// What the failing rank said; the others compare.
struct Told {
  char text[kText];
};

void expect_its_text(int failing, const Told& told, tutti_status status, const char* said) {
  ASSERT_NE(status, TUTTI_OK) << "not told that rank " << failing << " cannot start";
  EXPECT_ERROR_SAYS("rank " + std::to_string(failing) + " (pid ");
  EXPECT_ERROR_SAYS(said);
  // What it says last is the cause; what comes before is where that happened, on either rank.
  const std::string text = told.text;
  const size_t at = text.find(said);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_ERROR_SAYS(text.substr(at));
}

using Case = std::tuple<Way, Trouble, int>;

class Starting : public testing::TestWithParam<Case> {
 protected:
  static void set_place(int rank, const Way& way, const std::string& job) {
    const std::string hosts = way.hosts;
    const char host = hosts[static_cast<size_t>(rank)];
    const auto set = [](const char* name, const std::string& value) {
      setenv(name, value.c_str(), 1);
    };
    const auto here = std::count(hosts.begin(), hosts.end(), host);
    set("TUTTI_HOST_ID", std::string(1, host));
    set("RANK", std::to_string(rank));
    set("WORLD_SIZE", std::to_string(hosts.size()));
    set("LOCAL_RANK", std::to_string(rank - static_cast<int>(hosts.find(host))));
    set("LOCAL_WORLD_SIZE", std::to_string(here));
    set("TUTTI_JOB", job);
    set("MASTER_ADDR", "127.0.0.1");
    set("MASTER_PORT", std::to_string(20000 + getppid() % 10000));
  }
};

TEST_P(Starting, OfOneRankThatFailsTellsAllItsOwnText) {
  const auto& [way, trouble, failing] = GetParam();
  if (trouble.threads && !can_forbid()) GTEST_SKIP() << "no filters of system calls";
  const std::string job = "start " + std::to_string(getpid());
  IdPipe ids;
  Shared<Told> told;
  Shared<std::atomic<int>> failed;
  Processes processes;
  processes.count = 3;
  run_processes(processes, [&, &way = way, &trouble = trouble, failing = failing](int rank) {
    set_place(rank, way, job);
    tutti_unique_id id{};
    if (way.by_id) id = rank == 0 ? ids.make(2) : ids.receive();
    if (rank == failing) trouble.make();
    tutti_comm_t comm = nullptr;
    const tutti_status status = way.by_id ? tutti_comm_create(&id, rank, 3, nullptr, &comm)
                                          : tutti_comm_create_from_env(nullptr, &comm);
    if (rank == failing) {
      ASSERT_NE(status, TUTTI_OK);
      std::strncpy(told->text, tutti_last_error(), kText - 1);
      ++*failed;
      return;  // and ends, with the service where that runs here
    }
    while (*failed == 0) usleep(1000);
    expect_its_text(failing, *told, status, trouble.said);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Starting,
                         testing::Combine(testing::ValuesIn(kWays),
                                          testing::Values(kVariable, kAffinity, kThreads),
                                          testing::Values(0, 1)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name + "_of_rank_" +
                                  std::to_string(std::get<2>(info.param));
                         });

// One that has descriptors to meet the others, and none for what follows.
TEST(Start, WithoutDescriptorsIsToldToAll) {
  if (kChecksNeedDescriptors)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at memory by a pipe";
  IdPipe ids;
  Shared<Told> told;
  Shared<std::atomic<int>> failed;
  Processes processes;
  processes.count = 2;
  run_processes(processes, [&](int rank) {
    const tutti_unique_id id = rank == 0 ? ids.make(1) : ids.receive();
    if (rank == 1) kDescriptors.make();
    tutti_comm_t comm = nullptr;
    const tutti_status status = tutti_comm_create(&id, rank, 2, nullptr, &comm);
    if (rank == 1) {
      EXPECT_STATUS(TUTTI_ERR_SYSTEM, status);
      std::strncpy(told->text, tutti_last_error(), kText - 1);
      ++*failed;
      return;
    }
    while (*failed == 0) usleep(1000);
    expect_its_text(1, *told, status, kDescriptors.said);
  });
}

// One that has none at all, be it the one that is to run the service; the hard limit leaves some.
TEST(Start, WithoutAnyDescriptorIsToldToAll) {
  if (kChecksNeedDescriptors)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at memory by a pipe";
  const std::string job = "descriptors " + std::to_string(getpid());
  for (const int failing : {0, 1}) {
    Shared<Told> told;
    Shared<std::atomic<int>> failed;
    Processes processes;
    processes.count = 3;
    run_processes(processes, [&](int rank) {
      setenv("TUTTI_JOB", job.c_str(), 1);
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("WORLD_SIZE", "3", 1);
      rlimit limit{};
      ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
      const int next = fcntl(0, F_DUPFD, 3);
      close(next);
      if (rank == failing) {
        limit.rlim_cur = static_cast<rlim_t>(next);
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
      }
      tutti_comm_t comm = nullptr;
      const tutti_status status = tutti_comm_create_from_env(nullptr, &comm);
      if (rank == failing) {
        EXPECT_STATUS(TUTTI_ERR_SYSTEM, status);
        std::strncpy(told->text, tutti_last_error(), kText - 1);
        ++*failed;
        rlimit after{};
        ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
        EXPECT_EQ(after.rlim_cur, limit.rlim_cur) << "the limit is as before";
        return;
      }
      while (*failed == 0) usleep(1000);
      expect_its_text(failing, *told, status, kDescriptors.said);
    });
  }
}

struct Descent {
  const char* name;
  std::function<tutti_status(int rank, tutti_comm_t comm, tutti_comm_t* made)> make;
};

void PrintTo(const Descent& descent, std::ostream* out) { *out << descent.name; }

class Descending : public testing::TestWithParam<Descent> {};

// The descriptors that there are suffice for the meeting, not for what the ranks share.
TEST_P(Descending, OfOneRankThatFailsTellsAllItsOwnText) {
  if (kChecksNeedDescriptors)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at memory by a pipe";
  Shared<Told> told;
  Shared<std::atomic<int>> failed;
  run_ranks(3, [&](int rank, tutti_comm_t comm) {
    if (rank == 1) kDescriptors.make();
    tutti_comm_t made = nullptr;
    const tutti_status status = GetParam().make(rank, comm, &made);
    if (rank == 1) {
      EXPECT_NE(status, TUTTI_OK);
      std::strncpy(told->text, tutti_last_error(), kText - 1);
      ++*failed;
    } else {
      while (*failed == 0) usleep(1000);
      expect_its_text(1, *told, status, kDescriptors.said);
    }
    EXPECT_OK(tutti_comm_state(comm)) << "it stays as it is";
    EXPECT_OK(tutti_barrier(comm));
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Descending,
                         testing::Values(Descent{"split",
                                                 [](int, tutti_comm_t comm, tutti_comm_t* made) {
                                                   return tutti_comm_split(comm, 0, 0, nullptr,
                                                                           made);
                                                 }},
                                         Descent{"shrink",
                                                 [](int, tutti_comm_t comm, tutti_comm_t* made) {
                                                   return tutti_comm_shrink(comm, nullptr, made);
                                                 }}),
                         testing::PrintToStringParamName());

TEST(Start, OfThePlaceWhereRanksOfASplitMeetSaysWhyItFails) {
  if (!can_forbid()) GTEST_SKIP() << "no filters of system calls";
  run_ranks(3, [&](int rank, tutti_comm_t comm) {
    if (rank == 0) forbid_threads();
    tutti_comm_t made = nullptr;
    EXPECT_STATUS(TUTTI_ERR_SYSTEM, tutti_comm_split(comm, 0, 0, nullptr, &made));
    EXPECT_ERROR_SAYS("rank 0 could not open a place for the others to meet: starting the service");
    EXPECT_OK(tutti_barrier(comm));
  });
}

TEST(Start, OfANewcomerThatFailsIsToldToTheRanksThatGrow) {
  IdPipe old_ids;
  IdPipe ids;
  Shared<Told> told;
  Shared<std::atomic<int>> failed;
  Processes processes;
  processes.count = 3;
  run_processes(processes, [&](int process) {
    tutti_comm_t grown = nullptr;
    if (process == 2) {
      const tutti_unique_id id = ids.receive();
      setenv("CCL_WORKER_COUNT", "many", 1);
      EXPECT_STATUS(TUTTI_ERR_INVALID_ARGUMENT, tutti_comm_join(&id, 0, 1, nullptr, &grown));
      std::strncpy(told->text, tutti_last_error(), kText - 1);
      ++*failed;
      return;
    }
    const tutti_unique_id old_id = process == 0 ? old_ids.make(1) : old_ids.receive();
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&old_id, process, 2, nullptr, &comm));
    tutti_unique_id id{};
    if (process == 0) id = ids.make(1);
    const tutti_status status =
        tutti_comm_grow(comm, process == 0 ? &id : nullptr, 1, nullptr, &grown);
    while (*failed == 0) usleep(1000);
    ASSERT_NE(status, TUTTI_OK);
    const std::string error = tutti_last_error();
    const std::string cause = told->text + std::strlen("tutti_comm_join: ");
    // It has no rank yet if it came before these did.
    const bool names_it = error.find("rank 2 (pid ") != std::string::npos ||
                          error.find("newcomer 0 (pid ") != std::string::npos;
    EXPECT_TRUE(names_it && error.ends_with(cause)) << error;
    EXPECT_OK(tutti_barrier(comm));
    EXPECT_OK(tutti_comm_destroy(comm));
  });
}

}  // namespace
}  // namespace tutti_test
