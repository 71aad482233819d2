// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Handles of communicators that were destroyed: kept empty for a while, so that they can be told
// from others.
#include <deque>
#include <memory>
#include <mutex>

#include "api/guard.hpp"

namespace tutti {
namespace {

constexpr size_t kMostRetired = 512;

}  // namespace

Status refuse_comm(const tutti_comm* comm, std::string_view function) {
  if (comm == nullptr) return expect_not_null(comm, function, "comm");
  return Status::format(Code::kInvalidUsage,
                        "{}: comm was destroyed (tutti_comm_destroy); its handle is good for "
                        "nothing any more",
                        function);
}

void retire(std::unique_ptr<tutti_comm> comm) {
  static auto& lock = *new std::mutex;  // programs may destroy communicators as they end
  static auto& retired = *new std::deque<std::unique_ptr<tutti_comm>>;
  // In place: the handle that the program has stays where it is.
  std::destroy_at(comm.get());
  std::construct_at(comm.get());
  const std::lock_guard guard(lock);
  retired.push_back(std::move(comm));
  if (retired.size() > kMostRetired) retired.pop_front();
}

}  // namespace tutti
