// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tests in several ranks: forked processes that have joined one communicator.
#pragma once

#include <tutti/tutti.h>

#include <functional>
#include <string>

#include "support/processes.hpp"

namespace tutti_test {

// Hands a unique id from the process that makes it to others: make the pipe before forking.
class IdPipe {
 public:
  IdPipe();
  ~IdPipe();
  IdPipe(const IdPipe&) = delete;
  IdPipe& operator=(const IdPipe&) = delete;
  // Makes an id for this process and `others` more.
  tutti_unique_id make(int others) const;
  tutti_unique_id receive() const;

 private:
  int ends_[2];
};

struct Ranks {
  int count = 2;
  std::vector<int> killed;               // as in Processes
  std::chrono::seconds limit{240};       // as in Processes
  std::function<void(int rank)> before;  // in each process, before it joins: setenv, unshare
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  // The communicator is expected to be broken in the end; destroying it then gives the cause.
  bool breaks = false;
  std::function<void(tutti_status end)> after;  // looks at what destroying it gave
};

// Runs body(rank, comm) in so many processes, and destroys the communicator afterwards.
using RankBody = std::function<void(int rank, tutti_comm_t comm)>;
void run_ranks(const Ranks& ranks, const RankBody& body);
void run_ranks(int count, const RankBody& body);

// EXPECT_OK(call), with the status and the error's text in the message.
testing::AssertionResult is_ok(const char* expression, tutti_status status);
// EXPECT_STATUS(TUTTI_ERR_X, call)
testing::AssertionResult has_status(const char* expected_expression, const char* expression,
                                    tutti_status expected, tutti_status status);
// EXPECT_ERROR_SAYS("rank 3"): the last error's text contains it.
testing::AssertionResult error_says(const char* expression, const std::string& part);

}  // namespace tutti_test

#define EXPECT_OK(call) EXPECT_PRED_FORMAT1(::tutti_test::is_ok, call)
#define ASSERT_OK(call) ASSERT_PRED_FORMAT1(::tutti_test::is_ok, call)
#define EXPECT_STATUS(expected, call) EXPECT_PRED_FORMAT2(::tutti_test::has_status, expected, call)
#define EXPECT_ERROR_SAYS(part) EXPECT_PRED_FORMAT1(::tutti_test::error_says, part)
