// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/ranks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <stdexcept>

namespace tutti_test {

IdPipe::IdPipe() {
  if (pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the unique id");
}

IdPipe::~IdPipe() {
  close(ends_[0]);
  close(ends_[1]);
}

tutti_unique_id IdPipe::make(int others) const {
  tutti_unique_id id{};
  if (tutti_get_unique_id(&id) != TUTTI_OK) throw std::runtime_error(tutti_last_error());
  // Shorter than PIPE_BUF, so each reader gets one whole id.
  for (int i = 0; i < others; ++i) {
    if (write(ends_[1], &id, sizeof(id)) != sizeof(id)) throw std::runtime_error("write of an id");
  }
  return id;
}

tutti_unique_id IdPipe::receive() const {
  constexpr int kLimitMs = 60000;  // for when the maker has died
  pollfd readable = {ends_[0], POLLIN, 0};
  tutti_unique_id id{};
  if (poll(&readable, 1, kLimitMs) != 1 || read(ends_[0], &id, sizeof(id)) != sizeof(id))
    throw std::runtime_error("no id came");
  return id;
}

void run_ranks(const Ranks& ranks, const RankBody& body) {
  IdPipe ids;
  const auto run_rank = [&](int rank) {
    if (ranks.before) ranks.before(rank);
    const tutti_unique_id id = rank == 0 ? ids.make(ranks.count - 1) : ids.receive();
    tutti_comm_t comm = nullptr;
    ASSERT_OK(tutti_comm_create(&id, rank, ranks.count, &ranks.config, &comm));
    body(rank, comm);
    const tutti_status end = tutti_comm_destroy(comm);
    if (ranks.after) ranks.after(end);
    if (!ranks.breaks) {
      EXPECT_OK(end);
    }
  };
  run_processes({ranks.count, ranks.limit, ranks.killed}, run_rank);
}

void run_ranks(int count, const RankBody& body) {
  Ranks ranks;
  ranks.count = count;
  run_ranks(ranks, body);
}

testing::AssertionResult is_ok(const char* expression, tutti_status status) {
  if (status == TUTTI_OK) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << expression << " gave " << tutti_status_name(status) << ": " << tutti_last_error();
}

testing::AssertionResult has_status(const char* /*expected_expression*/, const char* expression,
                                    tutti_status expected, tutti_status status) {
  if (status == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << expression << " gave " << tutti_status_name(status) << ", not "
         << tutti_status_name(expected) << ": " << (status == TUTTI_OK ? "" : tutti_last_error());
}

testing::AssertionResult error_says(const char* /*expression*/, const std::string& part) {
  const std::string text = tutti_last_error();
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in the error: " << text;
}

}  // namespace tutti_test
