// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Where the figures of the network come from by which a communicator's algorithms are chosen.
#include <string_view>

#include "comm/communicator.hpp"
#include "comm/measure_network.hpp"
#include "core/log.hpp"

namespace tutti {
namespace {

struct KnownNetwork {
  int64_t known = 0;
  double message_s = 0;
  double line_byte_s = 0;
  double group_byte_s = 0;
};

}  // namespace

template <>
inline constexpr bool kUnpadded<KnownNetwork> = sizeof(KnownNetwork) == 4 * sizeof(double);

// What the first rank knows of the network is for all: newcomers know nothing.
Status Communicator::share_known_network(Exchange& exchange) {
  KnownNetwork mine;
  if (network_) {
    mine = {1, network_->message_s, network_->line_byte_s, network_->group_byte_s};
  }
  const auto all = gather_values(exchange, mine);
  if (!all.ok()) return all.status();
  const KnownNetwork& first = all->front();
  if (first.known == 0) {
    network_.reset();
  } else if (!network_) {
    network_ = NetworkFigures{first.message_s, first.line_byte_s, first.group_byte_s, "inherited"};
  }
  return {};
}

// The first that there is of: what a tuning file says, what is known already, what is measured now,
// over the endpoint of the users' messages, which nobody uses yet; else the defaults.
Status Communicator::learn_network(Exchange& exchange, const FoundTuning& tuning,
                                   const SpinBudget& budget, int64_t deadline_ms) {
  if (connection_.joined == nullptr) {
    network_.reset();
    return {};
  }
  const int64_t begun = now_ms();
  TUTTI_RETURN_IF_ERROR(share_known_network(exchange));
  if (tuning.tuning.network) {
    network_ = tuning.tuning.network;
    network_->origin = "tuning file " + tuning.path;
  } else if (!network_ && runtime_->environment().measure_network) {
    const SpinBudget polls = polling(budget);
    // Half of the time that is left: the rest is there to tell how it went.
    const Waiter waiter{
        .bell = connection_.transport->bell(rank_),
        .sleepers = connection_.transport->sleepers(),
        .budget = &polls,
        .deadline_ms = deadline_ms == kNever ? kNever : begun + (deadline_ms - begun) / 2,
        .polls = true};
    auto measured =
        measure_network(exchange, connection_.joined->hosts(), *messages_endpoint_, waiter);
    if (!measured.ok()) return measured.status();
    network_ = *std::move(measured);
  } else if (!network_) {
    network_.emplace();
  }
  if (rank_ == 0) {
    log::info("{}: network: {}, known after {} ms", config_.name, to_string(*network_),
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
