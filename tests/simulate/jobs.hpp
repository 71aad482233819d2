// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Simulated calls, as tests ask for them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/simulate/loop.hpp"
#include "tools/simulate/report.hpp"

namespace tutti_test {

using namespace tutti::simulate;  // NOLINT(google-build-using-namespace)
using tutti::Collective;

inline constexpr double kAlpha = 20e-6;
inline constexpr double kBeta = 1e-9;
inline constexpr double kGamma = 1e-10;  // per byte of each source

// A machine on which nothing but messages and reductions takes time.
inline tutti::Machine plain_machine() {
  tutti::Machine machine;
  for (double* cost :
       {&machine.line_s, &machine.line_next_s, &machine.step_s, &machine.copy_cached_s,
        &machine.copy_memory_s, &machine.handover_s, &machine.takeover_s, &machine.message_s,
        &machine.message_byte_s, &machine.pull_s, &machine.pull_cached_s, &machine.pull_shared_s,
        &machine.pull_memory_s}) {
    *cost = 0;
  }
  machine.reduce_s = kGamma;
  return machine;
}

inline Question question(Collective collective, int ranks, int hosts, uint64_t bytes,
                         std::string algorithm = "") {
  return {.collective = collective,
          .count = collective == Collective::kBarrier ? 0 : bytes / 4,
          .ranks = ranks,
          .hosts = hosts,
          .algorithm = std::move(algorithm),
          .network = {.message_s = kAlpha, .line_byte_s = kBeta},
          .machine = plain_machine(),
          .environment = {},
          .most_steps = 100'000'000};
}

struct Simulated {
  std::unique_ptr<Job> job;
  std::unique_ptr<Network> network;
  Outcome outcome;
  tutti::Status status;  // why there is no outcome
};

inline Simulated simulate(const Question& question, const Circumstances& circumstances = {},
                          const std::string& topology = "single-switch",
                          const std::vector<std::string>& failed = {}, uint64_t burst = 0) {
  Simulated made;
  auto job = make_job(question);
  if (!job.ok()) {
    made.status = job.status();
    return made;
  }
  made.job = *std::move(job);
  LinkFigures links = links_of(question.network, 0, 1);
  if (circumstances.machine.cores > 0) {
    links.host_latency_s = (kAlpha - circumstances.machine.message_s) / 2;
  }
  auto network = make_network(topology, question.hosts, links);
  if (!network.ok()) {
    made.status = network.status();
    return made;
  }
  made.network = std::make_unique<Network>(*std::move(network));
  made.network->let_pass(burst);
  for (const std::string& pair : failed) {
    made.status = made.network->fail(pair);
    if (!made.status.ok()) return made;
  }
  made.status = made.network->complete();
  if (!made.status.ok()) return made;
  auto outcome = run(*made.job, *made.network, question.network, circumstances);
  if (outcome.ok()) {
    made.outcome = *std::move(outcome);
  } else {
    made.status = outcome.status();
  }
  return made;
}

// Of a job that must end.
inline Outcome outcome_of(const Question& question, const Circumstances& circumstances = {}) {
  Simulated made = simulate(question, circumstances);
  EXPECT_TRUE(made.status.ok()) << made.status.message();
  made.outcome.ranks.resize(static_cast<size_t>(question.ranks));
  return std::move(made.outcome);
}

}  // namespace tutti_test
