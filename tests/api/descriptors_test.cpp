// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Programs without standard input, output and error, as daemons are: the numbers 0 to 2 stay the
// program's, and what the library would say there harms nobody.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "support/hosts.hpp"

namespace tutti_test {
namespace {

void close_standard_streams() {
  for (const int stream : {0, 1, 2}) close(stream);
}

// Which of the three are open; said once a test has looked, for its own lines go there.
std::string open_streams() {
  std::string open;
  for (const int stream : {0, 1, 2}) {
    if (fcntl(stream, F_GETFD) >= 0) open += std::to_string(stream);
  }
  return open;
}

class WithoutStreams : public testing::TestWithParam<const char*> {};

TEST_P(WithoutStreams, NoDescriptorOfTheLibraryTakesTheirNumbers) {
  const std::string hosts = GetParam();
  Ranks ranks;
  ranks.count = static_cast<int>(hosts.size());
  ranks.before = [&hosts](int rank) {
    setenv("TUTTI_HOST_ID", std::string(1, hosts[static_cast<size_t>(rank)]).c_str(), 1);
    setenv("CCL_LOG_LEVEL", "debug", 1);
    close_standard_streams();
  };
  run_ranks(ranks, [](int rank, tutti_comm_t comm) {
    EXPECT_EQ(open_streams(), "");
    Collectives on(rank, comm);
    for (const size_t count : {size_t{1}, size_t{5000}, size_t{300000}}) {
      for (const int stream : {1, 2}) (void)!write(stream, "a line of a log\n", 16);
      on.allreduce(TUTTI_FLOAT32, Op::kSum, count, {});
    }
    tutti_comm_t half = nullptr;
    ASSERT_OK(tutti_comm_split(comm, 0, -rank, nullptr, &half));
    tutti_comm_t less = nullptr;
    ASSERT_OK(tutti_comm_shrink(half, nullptr, &less));
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_ibarrier(less, &request));
    ASSERT_OK(tutti_request_wait(request));
    EXPECT_EQ(open_streams(), "");
    EXPECT_OK(tutti_request_free(request));
    EXPECT_OK(tutti_comm_destroy(less));
    EXPECT_OK(tutti_comm_destroy(half));
  });
}

INSTANTIATE_TEST_SUITE_P(On, WithoutStreams, testing::Values("aaa", "aab"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Log, ToAPipeThatNobodyReadsEndsNoProgram) {
  Ranks ranks;
  ranks.count = 2;
  ranks.before = [](int) {
    setenv("CCL_LOG_LEVEL", "debug", 1);
    signal(SIGPIPE, SIG_DFL);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
  };
  run_ranks(ranks, [](int, tutti_comm_t comm) {
    EXPECT_OK(tutti_barrier(comm));
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  });
}

}  // namespace
}  // namespace tutti_test
