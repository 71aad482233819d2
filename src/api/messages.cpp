// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The messages of tutti.h: sends, receives and probes.
#include "api/calls.hpp"
#include "api/groups.hpp"
#include "comm/message_tag.hpp"

namespace tutti {
namespace {

// The names that a function gives its arguments, for texts.
struct Names {
  std::string_view function;
  std::string_view buffer = "buffer";
  std::string_view count = "count";
  std::string_view peer = "peer";
  std::string_view tag = "tag";
};
constexpr Names kSend{"tutti_send"};
constexpr Names kIsend{"tutti_isend"};
constexpr Names kIssend{"tutti_issend"};
constexpr Names kSendInit{"tutti_send_init"};
constexpr Names kRecv{"tutti_recv"};
constexpr Names kIrecv{"tutti_irecv"};
constexpr Names kRecvInit{"tutti_recv_init"};
constexpr Names kIprobe{"tutti_iprobe"};
constexpr Names kSendOfBoth{"tutti_sendrecv", "send", "send_count", "dest", "send_tag"};
constexpr Names kRecvOfBoth{"tutti_sendrecv", "recv", "recv_count", "source", "recv_tag"};

uint64_t bytes_of(const MessageArguments& arguments) {
  return arguments.count * type_size(arguments.type);
}

// Checks a message with any arguments. check() handles the usual ones inline, because small
// messages are made of little else.
Status check_thoroughly(const Names& names, const MessageArguments& arguments, tutti_type type,
                        tutti_comm_t comm) {
  const std::string_view function = names.function;
  TUTTI_RETURN_IF_ERROR(expect_alive(comm, function));
  const auto bad = [&](std::string_view what, long long given, std::string_view expected) {
    return Status::format(Code::kInvalidArgument, "{}: {} {}: expected {}", function, what, given,
                          expected);
  };
  if (static_cast<unsigned>(type) >= kDataTypes) [[unlikely]]
    return bad("type", type, "one of tutti_type");
  if (!fits_in_memory(arguments.count, arguments.type)) [[unlikely]] {
    return Status::format(Code::kInvalidArgument, "{}: {} {} does not fit into an address space",
                          function, names.count, arguments.count);
  }
  if (arguments.buffer == nullptr && arguments.count > 0) [[unlikely]]
    return expect_not_null(arguments.buffer, function, names.buffer);
  const int ranks = comm->inside->ranks();
  const bool any_source = !arguments.sends && arguments.peer == TUTTI_ANY_SOURCE;
  if (!any_source && (arguments.peer < 0 || arguments.peer >= ranks)) [[unlikely]] {
    return bad(names.peer, arguments.peer,
               fmt::format("a rank of the communicator, 0 to {}{}", ranks - 1,
                           arguments.sends ? "" : ", or TUTTI_ANY_SOURCE"));
  }
  const bool any_tag = !arguments.sends && arguments.tag == TUTTI_ANY_TAG;
  if (!any_tag && arguments.tag < 0) [[unlikely]]
    return bad(names.tag, arguments.tag,
               arguments.sends ? "0 or more" : "0 or more, or TUTTI_ANY_TAG");
  return check_end(function, names.buffer, arguments.buffer, bytes_of(arguments));
}

inline Status check(const Names& names, const MessageArguments& arguments, tutti_type type,
                    tutti_comm_t comm) {
  if (is_alive(comm) && static_cast<unsigned>(type) < kDataTypes && is_usual(arguments.buffer) &&
      arguments.count <= kFewElements && arguments.peer >= 0 &&
      arguments.peer < comm->inside->ranks() && arguments.tag >= 0) [[likely]] {
    return {};
  }
  return check_thoroughly(names, arguments, type, comm);
}

MessageArguments arguments_of(bool sends, const void* buffer, size_t count, tutti_type type,
                              int peer, int tag) {
  const auto index = static_cast<unsigned>(type);
  return {.sends = sends,
          .type = index < kDataTypes ? static_cast<DataType>(index) : DataType::kUint8,
          .peer = peer,
          .tag = tag,
          .buffer = const_cast<void*>(buffer),
          .count = count};
}

tutti_status run(const Names& names, const MessageArguments& arguments, tutti_type type,
                 tutti_comm_t comm, tutti_recv_info* info) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(check(names, arguments, type, comm));
    if (groups_or_views_exist()) [[unlikely]]
      return run_in_group_or_on_view(comm, arguments, info);
    return comm->inside->messages().run(arguments, info);
  });
}

tutti_status make(const Names& names, const MessageArguments& arguments, tutti_type type,
                  tutti_comm_t comm, bool persistent, tutti_request_t* request) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(check(names, arguments, type, comm));
    return make_request<Message>(comm, comm->inside->messages(), arguments, persistent, request);
  });
}

Status probe(int peer, int tag, tutti_comm_t comm, int* found, tutti_recv_info* info) {
  const MessageArguments receive = arguments_of(false, nullptr, 0, TUTTI_UINT8, peer, tag);
  TUTTI_RETURN_IF_ERROR(check(kIprobe, receive, TUTTI_UINT8, comm));
  TUTTI_RETURN_IF_ERROR(expect_not_null(found, kIprobe.function, "found"));
  const Result<std::optional<MessageEnvelope>> looked = comm->inside->messages().probe(receive);
  if (!looked.ok()) return looked.status().with_context(kIprobe.function);
  *found = looked->has_value() ? 1 : 0;
  if (!looked->has_value() || info == nullptr) return {};
  const MessageEnvelope& message = **looked;
  const auto type = static_cast<DataType>(message.tag >> kTypeShift & kTypeMask);
  if (message.tag >> kAnnouncedShift != 0) {
    return {Code::kUnsupported,
            "tutti_iprobe: the message lies in memory of a device: its count is not known"};
  }
  *info = {.source = message.source,
           .tag = static_cast<int>(message.tag & kUserTag),
           .count = message.bytes / type_size(type)};
  return {};
}

}  // namespace
}  // namespace tutti

extern "C" {

tutti_status tutti_send(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                        tutti_comm_t comm) {
  return tutti::run(tutti::kSend, tutti::arguments_of(true, buffer, count, type, peer, tag), type,
                    comm, nullptr);
}
tutti_status tutti_isend(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                         tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make(tutti::kIsend, tutti::arguments_of(true, buffer, count, type, peer, tag), type,
                     comm, false, request);
}
tutti_status tutti_issend(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                          tutti_comm_t comm, tutti_request_t* request) {
  tutti::MessageArguments arguments = tutti::arguments_of(true, buffer, count, type, peer, tag);
  arguments.synchronous = true;
  if (comm != nullptr && tutti::is_alive(comm) && comm->view_queue != nullptr) {
    return tutti::guard([]() -> tutti::Status {
      return {tutti::Code::kUnsupported, "tutti_issend: not on a view"};
    });
  }
  return tutti::make(tutti::kIssend, arguments, type, comm, false, request);
}
tutti_status tutti_send_init(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                             tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make(tutti::kSendInit, tutti::arguments_of(true, buffer, count, type, peer, tag),
                     type, comm, true, request);
}

tutti_status tutti_recv(void* buffer, size_t count, tutti_type type, int peer, int tag,
                        tutti_comm_t comm, tutti_recv_info* info) {
  return tutti::run(tutti::kRecv, tutti::arguments_of(false, buffer, count, type, peer, tag), type,
                    comm, info);
}
tutti_status tutti_irecv(void* buffer, size_t count, tutti_type type, int peer, int tag,
                         tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make(tutti::kIrecv, tutti::arguments_of(false, buffer, count, type, peer, tag),
                     type, comm, false, request);
}
tutti_status tutti_recv_init(void* buffer, size_t count, tutti_type type, int peer, int tag,
                             tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make(tutti::kRecvInit, tutti::arguments_of(false, buffer, count, type, peer, tag),
                     type, comm, true, request);
}

tutti_status tutti_iprobe(int peer, int tag, tutti_comm_t comm, int* found, tutti_recv_info* info) {
  return tutti::guard([&] { return tutti::probe(peer, tag, comm, found, info); });
}

tutti_status tutti_sendrecv(const void* send, size_t send_count, int dest, int send_tag, void* recv,
                            size_t recv_count, int source, int recv_tag, tutti_type type,
                            tutti_comm_t comm, tutti_recv_info* info) {
  using namespace tutti;
  return guard([&]() __attribute__((always_inline))->Status {
    BlockingMessage both[] = {
        BlockingMessage(arguments_of(true, send, send_count, type, dest, send_tag)),
        BlockingMessage(arguments_of(false, recv, recv_count, type, source, recv_tag), info)};
    auto& [sent, received] = both;
    TUTTI_RETURN_IF_ERROR(check(kSendOfBoth, sent.arguments, type, comm));
    TUTTI_RETURN_IF_ERROR(check(kRecvOfBoth, received.arguments, type, comm));
    const uint64_t send_bytes = bytes_of(sent.arguments);
    const uint64_t recv_bytes = bytes_of(received.arguments);
    if (may_overlap(send, send_bytes, recv, recv_bytes)) [[unlikely]] {
      TUTTI_RETURN_IF_ERROR(check_apart("tutti_sendrecv", send, send_bytes, recv, recv_bytes));
    }
    if (groups_or_views_exist()) [[unlikely]]
      return run_both_in_group_or_on_view(comm, both);
    comm->inside->messages().run(both);
    return std::move((sent.status().ok() ? received : sent).transfer.status);
  });
}

}  // extern "C"
