// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The sources of the network's figures, by which a communicator's algorithms are chosen.
#include <string_view>

#include "comm/communicator.hpp"
#include "comm/measure_network.hpp"
#include "core/log.hpp"

namespace tutti {

// The figures come from the first of these that has some: a tuning file, what rank 0 knows already,
// a measurement now. It uses the endpoint of the users' messages, which nobody uses yet. Else the
// defaults count.
Status Communicator::learn_network(Exchange& exchange, PlanInputs& inputs, int64_t deadline_ms) {
  std::optional<NetworkFigures>& network = inputs.network;
  if (connection_.joined == nullptr) {
    network.reset();
    return {};
  }
  const int64_t begun = now_ms();
  if (inputs.tuning.tuning.network) {
    network = inputs.tuning.tuning.network;
    network->origin = "tuning file " + inputs.tuning.path;
  } else if (!network && inputs.variables.measure_network) {
    const SpinBudget polls = polling(spin_budget_for(inputs.local_ranks, inputs.cores));
    // Half of the time that is left: the rest is there to tell how it went.
    const Waiter waiter{
        .bell = connection_.transport->bell(rank_),
        .sleepers = connection_.transport->sleepers(),
        .budget = &polls,
        .deadline_ms = deadline_ms == kNever ? kNever : begun + (deadline_ms - begun) / 2,
        .polls = true};
    TUTTI_ASSIGN_OR_RETURN(network,
                           measure_network(exchange, inputs.hosts, *messages_endpoint_, waiter));
  } else if (!network) {
    network.emplace();
  }
  if (rank_ == 0) {
    log::info("{}: network: {}, known after {} ms", config_.name, to_string(*network),
              now_ms() - begun);
  }
  return {};
}

// For a communicator of some of the ranks, which all have the same figures.
std::optional<NetworkFigures> Communicator::network_to_inherit() const {
  constexpr std::string_view kInherited = ", inherited";
  std::optional<NetworkFigures> network = network_;
  if (network && !network->origin.ends_with(kInherited)) network->origin += kInherited;
  return network;
}

}  // namespace tutti
