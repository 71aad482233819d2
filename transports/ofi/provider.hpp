// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What libfabric offers on this host. What the ranks make of it is in nics/choice.hpp.
#pragma once

#include <memory>
#include <vector>

#include "transports/nics/offer.hpp"
#include "transports/ofi/library.hpp"

namespace tutti::ofi {

using nics::Offer;

// Of an offer of libfabric's.
inline std::shared_ptr<fi_info> info_of(const Offer& offer) {
  return std::static_pointer_cast<fi_info>(offer.own);
}

// Those that can carry the endpoints and that the user wants (nics::keep_usable).
Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone);

// Whether what it is of is a network of its own, not TCP once more.
bool is_fast(const Offer& offer);

}  // namespace tutti::ofi
