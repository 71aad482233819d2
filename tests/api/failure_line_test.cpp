// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a failure that ends a communicator leaves on standard error, where those who start a job
// look first: launchers may end the survivors before these say anything.
#include <tutti/tutti.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/hosts.hpp"

namespace tutti_test {
namespace {

// The standard error of all processes that write_to_it() in one file.
class StandardError {
 public:
  StandardError() : file_(std::tmpfile(), std::fclose) {}
  void write_to_it() const { ASSERT_EQ(dup2(fileno(file_.get()), STDERR_FILENO), STDERR_FILENO); }
  // Lines with that part.
  std::vector<std::string> lines(const std::string& part) const {
    std::string text(1 << 16, '\0');
    const ssize_t got = pread(fileno(file_.get()), text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    std::vector<std::string> found;
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
  }

 private:
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

struct Failure {
  const char* name;
  const char* says;                             // of the cause
  std::vector<int> killed;                      // ranks
  std::function<void(int, tutti_comm_t)> body;  // of a rank until the communicator has failed
};

void PrintTo(const Failure& failure, std::ostream* out) { *out << failure.name; }

void call_until_it_fails(tutti_comm_t comm) {
  tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK) status = tutti_barrier(comm);
}

const Failure kFailures[] = {
    {"death",
     "rank 1 (pid ",
     {1},
     [](int rank, tutti_comm_t comm) {
       if (rank == 1) kill_myself();
       call_until_it_fails(comm);
     }},
    {"timeout",
     "rank 1 (pid ",
     {},
     [](int rank, tutti_comm_t comm) {
       if (rank != 1) {
         ASSERT_OK(tutti_comm_set_timeout(comm, 100));
         return call_until_it_fails(comm);
       }
       while (tutti_comm_state(comm) == TUTTI_OK) usleep(1000);
     }},
    {"mismatch",
     "allreduce #2 (1 float32, sum)",
     {},
     [](int rank, tutti_comm_t comm) {
       float x = 0;
       if (rank == 1) (void)tutti_allreduce(&x, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, comm);
       call_until_it_fails(comm);
     }},
    {"abort",
     "aborted by rank 1 (pid ",
     {},
     [](int rank, tutti_comm_t comm) {
       if (rank == 1) {
         ASSERT_OK(tutti_comm_abort(comm, "enough"));
       }
       call_until_it_fails(comm);
     }},
};

class FailureLine : public testing::TestWithParam<Failure> {};

void fail(const Failure& failure, const StandardError& error, const char* level, size_t lines) {
  Ranks ranks;
  ranks.count = 3;
  ranks.killed = failure.killed;
  ranks.breaks = true;
  ranks.before = [&](int) {
    setenv("CCL_LOG_LEVEL", level, 1);
    error.write_to_it();
  };
  const Meeting met(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    ASSERT_OK(tutti_barrier(comm));
    met.wait();
    ASSERT_NO_FATAL_FAILURE(failure.body(rank, comm));
    EXPECT_EQ(error.lines("has failed").size(), lines) << "though it may end at once";
  });
}

TEST_P(FailureLine, IsOneOfAHostAndThereBeforeAnybodyLearnsOfTheFailure) {
  const StandardError error;
  fail(GetParam(), error, "warn", 1);
  const std::vector<std::string> lines = error.lines("has failed");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(GetParam().says), std::string::npos) << lines[0];
}

TEST_P(FailureLine, IsOffWhereErrorsAloneAreLogged) {
  const StandardError error;
  fail(GetParam(), error, "error", 0);
}

INSTANTIATE_TEST_SUITE_P(Of, FailureLine, testing::ValuesIn(kFailures),
                         testing::PrintToStringParamName());

using FailureLineOnHosts = HostsOfTwo;

// A rank that is alone on its host has nobody there who could say that it has died.
TEST_F(FailureLineOnHosts, IsThereThoughNobodyIsLeftOfTheHostThatFailed) {
  const StandardError error;
  Ranks ranks = ranks_on("aab");
  ranks.killed = {2};
  ranks.breaks = true;
  const auto place = ranks.before;
  ranks.before = [&](int rank) {
    place(rank);
    error.write_to_it();
  };
  const Meeting met(ranks.count);
  run_ranks(ranks, [&](int rank, tutti_comm_t comm) {
    ASSERT_OK(tutti_barrier(comm));
    met.wait();
    if (rank == 2) kill_myself();
    call_until_it_fails(comm);
    const std::vector<std::string> lines = error.lines("has failed");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("rank 2 (pid "), std::string::npos) << lines[0];
  });
}

}  // namespace
}  // namespace tutti_test
