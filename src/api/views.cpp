// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/views.hpp"

#include <cstring>

#include "api/groups.hpp"
#include "core/sized.hpp"
#include "devices/device.hpp"

namespace tutti {
namespace {

using devices::MemoryKind;
using devices::NativeQueue;

Status check(const tutti_queue& queue) {
  TUTTI_RETURN_IF_ERROR(check_struct(
      {"tutti_queue", "begin with TUTTI_QUEUE_INIT", sizeof queue, sizeof queue}, &queue));
  constexpr uint32_t kKnown = TUTTI_QUEUE_IMMEDIATE | TUTTI_QUEUE_ALL_DEVICE;
  if ((queue.flags & ~kKnown) != 0) {
    return Status::format(Code::kInvalidArgument,
                          "tutti_queue.flags is {:#x}: expected TUTTI_QUEUE_IMMEDIATE, "
                          "TUTTI_QUEUE_ALL_DEVICE, both or 0",
                          queue.flags);
  }
  return {};
}

Result<std::shared_ptr<devices::DeviceContext>> context_of(const tutti_queue& queue) {
  TUTTI_RETURN_IF_ERROR(check(queue));
  const devices::DeviceApi* const api = devices::device_api(static_cast<int>(queue.api));
  if (api == nullptr) {
    return Status::format(Code::kUnsupported,
                          "tutti_queue.api is {}, which this build does not have",
                          static_cast<int>(queue.api));
  }
  if (Status opened = api->open(); !opened.ok()) return opened;
  const NativeQueue native{.context = queue.context,
                           .device = queue.device,
                           .queue = queue.queue,
                           .immediate = (queue.flags & TUTTI_QUEUE_IMMEDIATE) != 0,
                           .all_is_device = (queue.flags & TUTTI_QUEUE_ALL_DEVICE) != 0};
  return api->adopt(native);
}

Status make_view(tutti_comm& whole, const tutti_queue& queue, tutti_comm_t* view) {
  TUTTI_ASSIGN_OR_RETURN(auto context, context_of(queue));
  if (queue.queue == nullptr) return {Code::kInvalidArgument, "tutti_queue.queue is NULL"};
  TUTTI_ASSIGN_OR_RETURN(auto side, DeviceSide::make(std::move(context)));
  auto made = std::make_unique<tutti_comm>();
  if (whole.view_queue == nullptr) whole.view_queue = std::make_shared<ViewQueue>(*whole.inside);
  made->kind = tutti_comm::View{&whole, std::move(side)};
  made->inside = whole.inside;
  made->view_queue = whole.view_queue;
  std::get<tutti_comm::Whole>(whole.kind).views.fetch_add(1, std::memory_order_relaxed);
  groups_and_views.fetch_add(1, std::memory_order_relaxed);
  *view = made.release();
  return {};
}

Status run_on_view(DeviceOperation& operation) {
  TUTTI_RETURN_IF_ERROR(operation.start(StartedFor::kCaller));
  return operation.wait(kNever);
}

// Whether a call on it takes its turn among those on device queues.
bool takes_turn(const tutti_comm& comm) {
  return comm.side() != nullptr || (comm.view_queue != nullptr && !comm.view_queue->idle());
}

}  // namespace

Status run_in_group_or_on_view(tutti_comm_t comm, const Call& call) {
  if (in_group()) {
    const bool plain = comm->view_queue == nullptr || call.collective == Collective::kBarrier;
    if (plain) return record(comm, call);
    return record(comm, std::make_unique<DeviceCollective>(*comm->view_queue, comm->side(), call),
                  nullptr);
  }
  if (!takes_turn(*comm)) return comm->inside->executor().run(call);
  DeviceCollective operation(*comm->view_queue, comm->side(), call);
  return run_on_view(operation);
}

Status run_in_group_or_on_view(tutti_comm_t comm, const MessageArguments& arguments,
                               tutti_recv_info* info) {
  if (in_group()) {
    if (comm->side() == nullptr) return record(comm, arguments, info);
    return record(comm, std::make_unique<DeviceMessage>(*comm->view_queue, comm->side(), arguments),
                  arguments.sends ? nullptr : info);
  }
  if (comm->side() == nullptr) {
    TUTTI_RETURN_IF_ERROR(flush_sends_of_views(comm));
    return comm->inside->messages().run(arguments, info);
  }
  DeviceMessage operation(*comm->view_queue, comm->side(), arguments);
  TUTTI_RETURN_IF_ERROR(run_on_view(operation));
  if (info != nullptr && !arguments.sends) *info = *operation.received();
  return {};
}

Status run_both_in_group_or_on_view(tutti_comm_t comm, std::span<BlockingMessage, 2> both) {
  BlockingMessage& sent = both[0];
  BlockingMessage& received = both[1];
  if (in_group()) {
    TUTTI_RETURN_IF_ERROR(run_in_group_or_on_view(comm, sent.arguments, nullptr));
    return run_in_group_or_on_view(comm, received.arguments, received.info);
  }
  if (comm->side() == nullptr) {
    TUTTI_RETURN_IF_ERROR(flush_sends_of_views(comm));
    comm->inside->messages().run(both);
    return (sent.status().ok() ? received : sent).status();
  }
  DeviceMessage receive(*comm->view_queue, comm->side(), received.arguments);
  TUTTI_RETURN_IF_ERROR(receive.start(StartedFor::kCaller));
  DeviceMessage send(*comm->view_queue, comm->side(), sent.arguments);
  Status started;
  try {
    started = send.start(StartedFor::kCaller);
  } catch (...) {  // the receive is under way, and has to end before it goes
    started = caught_exception();
  }
  const Status of_send = started.ok() ? send.wait(kNever) : started;
  const Status of_receive = receive.wait(kNever);
  if (!of_send.ok()) return of_send;
  if (of_receive.ok() && received.info != nullptr) *received.info = *receive.received();
  return of_receive;
}

void make_on_view(tutti_request& request, Call call) {
  tutti_comm& comm = *request.comm.load(std::memory_order_relaxed);
  auto operation =
      std::make_unique<DeviceCollective>(*comm.view_queue, comm.side(), std::move(call));
  request.inside = operation.get();
  request.what = std::move(operation);
}

void make_on_view(tutti_request& request, const MessageArguments& arguments) {
  tutti_comm& comm = *request.comm.load(std::memory_order_relaxed);
  if (comm.side() == nullptr) {
    request.inside = &request.what.emplace<Message>(comm.inside->messages(), arguments);
  } else {
    auto operation = std::make_unique<DeviceMessage>(*comm.view_queue, comm.side(), arguments);
    request.inside = operation.get();
    request.what = std::move(operation);
  }
}

Status drain_views(tutti_comm_t comm) {
  return comm->view_queue == nullptr ? Status() : comm->view_queue->drain();
}

Status drain_views(const tutti_request& request) {
  tutti_comm* const comm = request.comm.load(std::memory_order_relaxed);
  if (std::holds_alternative<Operation>(request.what)) return drain_views(comm);
  if (std::holds_alternative<Message>(request.what)) return flush_sends_of_views(comm);
  return {};
}

Status flush_sends_of_views(tutti_comm_t comm) {
  return comm->view_queue == nullptr ? Status() : comm->view_queue->flush_sends();
}

Status close_view(tutti_comm& view) {
  Status drained = view.view_queue->drain();
  std::get<tutti_comm::Whole>(view.whole().kind).views.fetch_sub(1, std::memory_order_relaxed);
  groups_and_views.fetch_sub(1, std::memory_order_relaxed);
  return drained;
}

Status allocate_on_device(const DeviceSide& side, size_t bytes, void** memory) {
  if (bytes == 0) return {};
  Result<void*> made = side.context().allocate(MemoryKind::kDevice, bytes);
  if (!made.ok()) return made.status().with_context("tutti_alloc");
  *memory = *made;
  return {};
}

Status free_on_device(DeviceSide& side, void* memory) {
  if (memory == nullptr) return {};
  return side.free(memory).with_context("tutti_free");
}

}  // namespace tutti

using namespace tutti;

extern "C" tutti_status tutti_comm_view(tutti_comm_t comm, const tutti_queue* queue,
                                        tutti_comm_t* view) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(expect_no_group("tutti_comm_view"));
    TUTTI_RETURN_IF_ERROR(expect_alive(comm, "tutti_comm_view"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(queue, "tutti_comm_view", "queue"));
    TUTTI_RETURN_IF_ERROR(expect_not_null(view, "tutti_comm_view", "view"));
    *view = nullptr;
    return make_view(comm->whole(), *queue, view).with_context("tutti_comm_view");
  });
}
