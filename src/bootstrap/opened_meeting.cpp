// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/opened_meeting.hpp"

#include <cstring>
#include <string_view>
#include <type_traits>

#include "bootstrap/service.hpp"
#include "core/wait.hpp"
#include "env/env.hpp"

namespace tutti {
namespace {

// Why there is no id, in its place.
template <typename Place>
auto* text_of(Place& place) {
  using Char = std::conditional_t<std::is_const_v<Place>, const char, char>;
  return reinterpret_cast<Char*>(place.id.bytes);
}

}  // namespace

OpenedMeeting open_meeting(const Result<UniqueId>& id, int64_t deadline_ms) {
  const Status status = id.ok() ? start_service(*id, deadline_ms) : id.status();
  OpenedMeeting place{.code = static_cast<int32_t>(status.code()), .id = {}};
  if (status.ok()) {
    place.id = encode(*id);
  } else {
    status.message().copy(text_of(place), sizeof place.id.bytes - 1);
  }
  return place;
}

Result<tutti_unique_id> open_meeting() {
  TUTTI_RETURN_IF_ERROR(read_environment(process_environment()).status());
  TUTTI_ASSIGN_OR_RETURN(UniqueId id, make_unique_id());
  TUTTI_RETURN_IF_ERROR(start_service(id, kNever));
  return encode(id);
}

Result<UniqueId> id_of(const OpenedMeeting& place, int opener) {
  if (place.code == 0) return decode(place.id);
  const char* const text = text_of(place);
  return Status::format(static_cast<Code>(place.code),
                        "rank {} could not open a place for the others to meet: {}", opener,
                        std::string_view(text, strnlen(text, sizeof place.id.bytes)));
}

}  // namespace tutti
