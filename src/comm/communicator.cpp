// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What a communicator is called, and how it ends.
#include "comm/communicator.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/caught.hpp"
#include "transports/names.hpp"

namespace tutti {

std::string Communicator::making(const CommunicatorConfig& config, int rank, int ranks) {
  return fmt::format("making {} (rank {} of {})", name_of_group(config.name, config.global_ranks),
                     rank, ranks);
}

std::string Communicator::name() const {
  return name_of_group(parts_.config.name, parts_.config.global_ranks);
}

std::string Communicator::name_of(int rank) const { return tutti::name_of(rank, process(rank)); }

void Communicator::help() {
  parts_.executor->help();
  parts_.messages->help();
}

bool Communicator::idle() const { return parts_.executor->idle() && parts_.messages->idle(); }

bool Communicator::in_completion_function() const {
  return Completion::in_function_of(*parts_.executor) ||
         Completion::in_function_of(*parts_.messages);
}

// Figures for a communicator of some of the ranks, which all have the same.
std::optional<NetworkFigures> Communicator::network_to_inherit() const {
  constexpr std::string_view kInherited = ", inherited";
  std::optional<NetworkFigures> network = parts_.network;
  if (network && !network->origin.ends_with(kInherited)) network->origin += kInherited;
  return network;
}

Status Communicator::close() {
  if (closed_) return {};
  closed_ = true;
  Status outcome = parts_.executor->drain();
  if (outcome.ok()) outcome = parts_.messages->drain();
  if (!outcome.ok()) {
    // Operations that are left must not touch buffers any more: breaking the communicator ends them
    // all.
    parts_.health->fail(outcome.with_context("destroying " + name()));
    (void)parts_.executor->drain();
    (void)parts_.messages->drain();
  }
  if (parts_.health->cause().ok()) {
    parts_.executor->leave();  // first, for it has last words
    parts_.messages->leave();
    if (const Status last = parts_.executor->compare_last_calls(); !last.ok())
      parts_.health->fail(last);
  }
  // The monitor goes first. It may have found a failure this moment, and tells the others before it
  // is done; once this rank has left nobody listens to it.
  parts_.peers->stop();
  const Status cause = parts_.health->cause();
  parts_.report->trace();
  if (Regroup* const regroup = parts_.peers->regroup(); regroup != nullptr) regroup->give_up();
  // A peer that ended when no call needed it any more is no error.
  if (cause.code() == Code::kPeerFailed && !parts_.executor->has_failed()) return {};
  return cause;
}

Communicator::~Communicator() {
  try_to([this] { (void)close(); });
  parts_.peers->stop();
}

}  // namespace tutti
