// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which provider of a transport the ranks use, and over which interface each of them, or over which
// several: its rails.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/exchange.hpp"
#include "transports/nics/offer.hpp"

namespace tutti::nics {

// How near to this process's cores devices of these names are: more is nearer, and equal where
// nothing is known. Takes milliseconds, so it is asked only where it makes a difference.
using Nearness = std::function<std::vector<int>(std::span<const std::string> names)>;
// By hwloc.
std::vector<int> nearness_here(std::span<const std::string> names);

// What a rank brings to the choice.
struct Candidates {
  std::vector<Offer> offers;  // best first
  std::vector<bool> rails;    // of these, those that may be one of several rails
  uint32_t most = 1;          // rails
};

// Puts the nearest of equally good offers first, and finds out which may be rails: one offer of
// each interface, made by no container engine or named by the user; for kLocal only the nearest.
Candidates candidates(std::vector<Offer> offers, const NicSet& nics, const Nearness& nearness);

// What other ranks must know of them.
std::string shown(const Candidates& candidates);

// This rank's rails, in the order of its peers'; at least one. The provider and the kind of address
// are the best of rank 0 that all ranks have. Rails are on networks that all ranks are on: as many
// on each as the rank that has the fewest, in all no more than any rank wants. If no network is
// common to all, routers have to do, and rails are paired in the order of their names. Where this
// leaves one, it is on the first common network, if there is one. `texts`: what all ranks have
// shown, in rank order.
Result<std::vector<Offer>> agree(const std::vector<std::string>& texts, Candidates own);

// Collective: the same, or the first error of a rank.
Result<std::vector<Offer>> choose(Exchange& exchange, Result<std::vector<Offer>> offers,
                                  const NicSet& nics, const Nearness& nearness = nearness_here);

}  // namespace tutti::nics
