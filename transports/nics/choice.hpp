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

// How locality to this process's cores devices of these names are: more is nearer, and equal where
// nothing is known. Takes milliseconds, so it is asked only where it makes a difference.
using Locality = std::function<std::vector<int>(std::span<const std::string> names)>;
// Locality on this host, as hwloc tells it.
std::vector<int> locality_here(std::span<const std::string> names);

// The offers that a rank brings to the choice.
struct Candidates {
  std::vector<Offer> offers;  // best first
  std::vector<bool> rails;    // marks the offers that may be one of several rails
  uint32_t most = 1;          // limit on the number of rails
};

// Puts the nearest of equally good offers first, and finds out which may be rails. These are one
// offer of each interface that no container engine made, or that the user named; for kLocal only
// the nearest.
Candidates candidates(std::vector<Offer> offers, const NicSet& nics, const Locality& locality);

// The text about them that other ranks need.
std::string shown(const Candidates& candidates);

// This rank's rails, in the order of its peers'; at least one. The provider and the kind of address
// are the best of rank 0 that all ranks have. Rails are on networks that all ranks are on. Each has
// as many as the rank with the fewest there, and there are no more in all than any rank wants. If
// no network is common to all, routers have to do, and rails are paired in the order of their
// names. If one rail is left, it is on the first common network, if there is one. `texts`: those of
// all ranks, in rank order.
Result<std::vector<Offer>> agree(const std::vector<std::string>& texts, Candidates own);

// Collective: the same, or the first error of a rank.
Result<std::vector<Offer>> choose(Exchange& exchange, Result<std::vector<Offer>> offers,
                                  const NicSet& nics, const Locality& locality = locality_here);

}  // namespace tutti::nics
