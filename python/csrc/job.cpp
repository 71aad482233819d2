// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <vector>

#include "convert.hpp"
#include "error.hpp"

namespace tutti_torch {
namespace {

constexpr const char* kWhere = "tutti://";

}  // namespace

Job::Job(std::chrono::milliseconds timeout) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.timeout_ms = as_int_ms(timeout, 1);
  config.init_timeout_ms = config.timeout_ms;
  config.name = kWhere;
  tutti_comm_t comm = nullptr;
  check(tutti_comm_create_from_env(&config, &comm), kWhere);
  comm_.reset(comm);
  check(tutti_comm_rank(comm, &rank_), kWhere);
  check(tutti_comm_size(comm, &size_), kWhere);
}

std::string Job::share(const std::string& text) {
  int64_t bytes = static_cast<int64_t>(text.size());
  check(tutti_broadcast(&bytes, 1, TUTTI_INT64, 0, comm_.get()), kWhere);
  std::string shared = text;
  shared.resize(static_cast<size_t>(bytes));
  check(tutti_broadcast(shared.data(), shared.size(), TUTTI_UINT8, 0, comm_.get()), kWhere);
  // Rank 0 does not leave before all have it.
  check(tutti_barrier(comm_.get()), kWhere);
  return shared;
}

}  // namespace tutti_torch
