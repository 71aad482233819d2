// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// That what goes wrong in a forked process is seen by the test that forked it.
#include "support/processes.hpp"

#include <gtest/gtest-spi.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

namespace tutti_test {
namespace {

using std::chrono::seconds;

TEST(Processes, ShareWhatTheyWriteWithTheTest) {
  Shared<int[3]> seen;
  run_processes({3, seconds(60), {}}, [&](int index) { (*seen)[index] = index + 1; });
  EXPECT_EQ((*seen)[0] + (*seen)[1] + (*seen)[2], 6);
}

TEST(Processes, AFailedExpectationInOneFailsTheTest) {
  // In a thread of its own, where EXPECT_NONFATAL_FAILURE does not catch it inside the process.
  const auto fails = [](int index) {
    std::thread([index] { EXPECT_NE(index, 1) << "so"; }).join();
  };
  EXPECT_NONFATAL_FAILURE(run_processes({2, seconds(60), {}}, fails), "in process 1: ");
}

TEST(Processes, AnExceptionInOneFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      run_processes({1, seconds(60), {}}, [](int) { throw std::runtime_error("no such luck"); }),
      "no such luck");
}

TEST(Processes, AnUnexpectedDeathFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(run_processes({1, seconds(60), {}}, [](int) { kill_myself(); }),
                          "process 0 died of signal Killed");
}

TEST(Processes, AnExpectedDeathDoesNot) {
  run_processes({2, seconds(60), {1}}, [](int index) {
    if (index == 1) kill_myself();
  });
}

TEST(Processes, SurvivingAnExpectedDeathFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(run_processes({1, seconds(60), {0}}, [](int) {}), "was to be killed");
}

TEST(Processes, AHangFailsTheTestAndNamesTheProcess) {
  EXPECT_NONFATAL_FAILURE(run_processes({2, seconds(1), {}},
                                        [](int index) {
                                          if (index == 1) pause();
                                        }),
                          "process 1 was still running after 1 s");
}

}  // namespace
}  // namespace tutti_test
