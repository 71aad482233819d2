// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ids of places that all ranks know beforehand.
#pragma once

#include <string>

#include "bootstrap/unique_id.hpp"
#include "env/env.hpp"

namespace tutti {

// The id of a meeting at `place`, "HOST:PORT" or "HOST_PORT", where rank 0 serves. It is derived
// from the place and from the secret that TUTTI_MEETING_SECRET gives.
Result<UniqueId> id_at(const std::string& place, const Getter& getter);

// Whether rank 0 starts the service of this id, when it joins.
bool served_by_rank_0(const UniqueId& id);

}  // namespace tutti
