// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The offers of libfabric on this host. The ranks' choice among them is in nics/choice.hpp.
#pragma once

#include <memory>
#include <vector>

#include "transports/nics/offer.hpp"
#include "transports/ofi/library.hpp"

namespace tutti::ofi {

using nics::Offer;

// The info of an offer of libfabric's.
inline std::shared_ptr<fi_info> info_of(const Offer& offer) {
  return std::static_pointer_cast<fi_info>(offer.own);
}

// The offers that can carry the endpoints and that the user wants (nics::keep_usable).
Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone);

// Whether what it is of is a network of its own, not TCP once more.
bool is_fast(const Offer& offer);

}  // namespace tutti::ofi
