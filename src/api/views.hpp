// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls on views of communicators (tutti_comm_view), and those on a communicator that has views,
// which wait for those on its views. In a process without views none of this is looked at
// (groups_or_views_exist()).
#pragma once

#include <span>

#include "api/guard.hpp"

namespace tutti {

// A blocking call that may be one of a group, or of a communicator with views.
Status run_in_group_or_on_view(tutti_comm_t comm, const Call& call);
Status run_in_group_or_on_view(tutti_comm_t comm, const MessageArguments& arguments,
                               tutti_recv_info* info);
// A send and a receive at once.
Status run_both_in_group_or_on_view(tutti_comm_t comm, std::span<BlockingMessage, 2> both);

// Sets the operation of a request on a communicator with views, or on a view.
void make_on_view(tutti_request& request, Call call);
void make_on_view(tutti_request& request, const MessageArguments& arguments);

// Waits for all that is under way on a communicator's views: before the communicator itself is
// used.
Status drain_views(tutti_comm_t comm);
// Waits for what a persistent request has to follow. It may have been made when there were no
// views.
Status drain_views(const tutti_request& request);
// Waits until sends on a communicator's views are handed over: before a message on itself.
Status flush_sends_of_views(tutti_comm_t comm);

// Waits for what is under way on a view, of which nothing may be used any more.
Status close_view(tutti_comm& view);
Status allocate_on_device(const DeviceSide& side, size_t bytes, void** memory);
Status free_on_device(DeviceSide& side, void* memory);

}  // namespace tutti
