// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a job over a network, event by event. After LogGP (Alexandrov et al., SPAA 1995):
//   A message costs its sender and its receiver a quarter of alpha each (o), and half of alpha
//   passes on the way (L). Each link carries one message after the other (G per byte); its head
//   goes on to the next link at once. What is longer than networks carry unasked is asked for and
//   granted first: 2 alpha more.
//   Where times of messages were measured, what they have beyond alpha and their bytes passes
//   before they leave, and nobody is busy with it. Hosts that are one machine share its cores: what
//   a message and its bytes cost sender and receiver waits for one of them. Ranks of a host hand
//   over lines and copy through memory, as the cost model has it.
// Deterministic: the same job gives the same outcome.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/status.hpp"
#include "tools/simulate/cause.hpp"
#include "tools/simulate/job.hpp"
#include "tools/simulate/message_times.hpp"
#include "tools/simulate/network.hpp"

namespace tutti::simulate {

// Hosts that are one machine, as those made of network namespaces are. All ranks take turns on its
// cores.
struct OneMachine {
  int cores = 0;         // 0: each host is a machine of its own
  double message_s = 0;  // core time of a message between hosts, a share of alpha: half at each end
  double byte_s = 0;     // core time of a byte between hosts, at each end
  // The time until a core lets a rank go on after a wait for another host, if ranks outnumber
  // cores. Within a host it is the cost model's.
  double turn_s = 0;
};

// Disturbances, and repetitions.
struct Circumstances {
  // Factors by rank: whatever it does itself takes so many times as long.
  std::map<int, double> stragglers = {};
  double skew_s = 0;  // ranks begin at random within so long
  uint64_t seed = 1;
  int calls = 1;  // one after the other, without a pause
  OneMachine machine = {};
  MessageTimes times = {};
  // Called from time to time with how much of all steps is done, 0 to 1.
  std::function<void(double)> watch = {};
};

struct LinkUse {
  double free_s = 0;  // when it is next
  double busy_s = 0;
  double waited_s = 0;  // wait of all messages together
  uint64_t bytes = 0;
  uint64_t messages = 0;
};

struct RankOutcome {
  double begin_s = 0;
  double end_s = 0;
  double work_s = 0;    // itself
  double waited_s = 0;  // wait for others, of the stream that waited most
  double longest_wait_s = 0;
  int waited_for = -1;  // rank that it waited for then; -1: nobody in particular
  Cause cause;          // of that wait
};

struct Outcome {
  double seconds = 0;  // time of a call, until the last rank ends it
  std::vector<RankOutcome> ranks;
  std::vector<LinkUse> links;
  uint64_t messages = 0;
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  uint64_t bytes_between_hosts = 0;
  uint64_t events = 0;
};

// The links for which the network figures hold between two machines of one switch.
LinkFigures links_of(const NetworkFigures& network, double hop_latency_s, double oversubscription);

// An error names who waits for whom if a message finds no way.
Result<Outcome> run(const Job& job, Network& network, const NetworkFigures& figures,
                    const Circumstances& circumstances);

}  // namespace tutti::simulate
