// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/meeting_place.hpp"

#include "bootstrap/service.hpp"

namespace tutti {

MeetingPlace open_place(const Result<UniqueId>& id, int64_t deadline_ms) {
  const Status status = id.ok() ? start_service(*id, deadline_ms) : id.status();
  MeetingPlace place{.code = static_cast<int32_t>(status.code()), .id = {}};
  if (status.ok()) place.id = encode(*id);
  return place;
}

Result<UniqueId> id_of(const MeetingPlace& place, int opener) {
  if (place.code == 0) return decode(place.id);
  return Status::format(static_cast<Code>(place.code),
                        "rank {} could not open a place for the others to meet", opener);
}

}  // namespace tutti
