// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "api/groups.hpp"
#include "api/views.hpp"

namespace tutti {

// Hands a request to the caller as *request, after it has been started unless it is persistent.
Status hand_out(std::unique_ptr<tutti_request> made, tutti_request_t* request);
// Hands out a request that may be part of a group.
Status hand_out_in_group_or_on_view(std::unique_ptr<tutti_request> made, tutti_request_t* request);

// The communicator is about to go: its persistent requests may be asked and freed, but not started.
// Waits for starts that are under way in other threads.
void detach_requests(tutti_comm& comm);

// Makes a request in a group or on a communicator with views, which decide what the request runs.
template <typename Inside, typename Of, typename Arguments>
[[gnu::noinline]] Status make_request_in_group_or_on_view(std::unique_ptr<tutti_request> made,
                                                          Of& of, Arguments&& arguments,
                                                          tutti_request_t* request) {
  if (made->comm.load(std::memory_order_relaxed)->view_queue != nullptr) {
    make_on_view(*made, std::forward<Arguments>(arguments));
  } else {
    made->inside = &made->what.emplace<Inside>(of, std::forward<Arguments>(arguments));
  }
  return hand_out_in_group_or_on_view(std::move(made), request);
}

// Makes a request for an Operation or Message, which `of` runs.
template <typename Inside, typename Of, typename Arguments>
Status make_request(tutti_comm_t comm, Of& of, Arguments&& arguments, bool persistent,
                    tutti_request_t* request) {
  auto made = std::make_unique<tutti_request>();
  made->comm.store(comm, std::memory_order_relaxed);
  if (persistent) made->kind = tutti_request::Kind::kPersistent;
  if (groups_or_views_exist()) [[unlikely]] {
    return make_request_in_group_or_on_view<Inside>(std::move(made), of,
                                                    std::forward<Arguments>(arguments), request);
  }
  made->inside = &made->what.emplace<Inside>(of, std::forward<Arguments>(arguments));
  return hand_out(std::move(made), request);
}

}  // namespace tutti
