// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A meeting that one of some ranks has opened, in the fixed-length value by which it tells the
// others.
#pragma once

#include <tutti/tutti.h>

#include <cstdint>

#include "bootstrap/unique_id.hpp"

namespace tutti {

struct OpenedMeeting {
  int32_t code = 0;      // error code of opening it
  tutti_unique_id id{};  // if it is not 0, the begin of a text that says why
};

// Starts the service of `id`, if there is one, in this process; `deadline_ms` as for
// start_service().
OpenedMeeting open_meeting(const Result<UniqueId>& id, int64_t deadline_ms);
// Makes an id and starts the service at which its ranks meet, in this process, for the user.
Result<tutti_unique_id> open_meeting();
// The id of a place that rank `opener` has told of, or why there is none.
Result<UniqueId> id_of(const OpenedMeeting& place, int opener);

}  // namespace tutti
