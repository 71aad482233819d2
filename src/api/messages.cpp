// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "api/groups.hpp"
#include "api/requests.hpp"

namespace tutti {
namespace {

Status check(std::string_view function, const MessageArguments& arguments, tutti_type type,
             tutti_comm_t comm) {
  if (comm == nullptr) [[unlikely]]
    return expect_not_null(comm, function, "comm");
  const auto bad = [&](std::string_view what, long long given, std::string_view expected) {
    return Status::format(Code::kInvalidArgument, "{}: {} {}: expected {}", function, what, given,
                          expected);
  };
  if (static_cast<unsigned>(type) >= kDataTypes) [[unlikely]]
    return bad("type", type, "one of tutti_type");
  if (!fits_in_memory(arguments.count, arguments.type)) [[unlikely]] {
    return Status::format(Code::kInvalidArgument, "{}: count {} does not fit into an address space",
                          function, arguments.count);
  }
  if (arguments.buffer == nullptr && arguments.count > 0) [[unlikely]]
    return expect_not_null(arguments.buffer, function, "buffer");
  const int ranks = comm->inside->ranks();
  const bool any_source = !arguments.sends && arguments.peer == TUTTI_ANY_SOURCE;
  if (!any_source && (arguments.peer < 0 || arguments.peer >= ranks)) [[unlikely]] {
    return bad("peer", arguments.peer,
               fmt::format("a rank of the communicator, 0 to {}", ranks - 1));
  }
  const bool any_tag = !arguments.sends && arguments.tag == TUTTI_ANY_TAG;
  if (!any_tag && arguments.tag < 0) [[unlikely]]
    return bad("tag", arguments.tag, "0 or more");
  return {};
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

tutti_status run(std::string_view function, const MessageArguments& arguments, tutti_type type,
                 tutti_comm_t comm, tutti_recv_info* info) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(check(function, arguments, type, comm));
    if (in_group()) return record(comm, arguments, info);
    return comm->inside->messages().run(arguments, info);
  });
}

tutti_status make(std::string_view function, const MessageArguments& arguments, tutti_type type,
                  tutti_comm_t comm, bool persistent, tutti_request_t* request) {
  return guard([&]() -> Status {
    TUTTI_RETURN_IF_ERROR(check(function, arguments, type, comm));
    auto message = std::make_unique<Message>(comm->inside->messages(), arguments);
    const Message* const pointer = arguments.sends ? nullptr : message.get();
    return make_request(comm, std::move(message), pointer, persistent, request);
  });
}

}  // namespace
}  // namespace tutti

extern "C" {

tutti_status tutti_send(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                        tutti_comm_t comm) {
  return tutti::run("tutti_send", tutti::arguments_of(true, buffer, count, type, peer, tag), type,
                    comm, nullptr);
}
tutti_status tutti_isend(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                         tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make("tutti_isend", tutti::arguments_of(true, buffer, count, type, peer, tag), type,
                     comm, false, request);
}
tutti_status tutti_send_init(const void* buffer, size_t count, tutti_type type, int peer, int tag,
                             tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make("tutti_send_init", tutti::arguments_of(true, buffer, count, type, peer, tag),
                     type, comm, true, request);
}

tutti_status tutti_recv(void* buffer, size_t count, tutti_type type, int peer, int tag,
                        tutti_comm_t comm, tutti_recv_info* info) {
  return tutti::run("tutti_recv", tutti::arguments_of(false, buffer, count, type, peer, tag), type,
                    comm, info);
}
tutti_status tutti_irecv(void* buffer, size_t count, tutti_type type, int peer, int tag,
                         tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make("tutti_irecv", tutti::arguments_of(false, buffer, count, type, peer, tag),
                     type, comm, false, request);
}
tutti_status tutti_recv_init(void* buffer, size_t count, tutti_type type, int peer, int tag,
                             tutti_comm_t comm, tutti_request_t* request) {
  return tutti::make("tutti_recv_init", tutti::arguments_of(false, buffer, count, type, peer, tag),
                     type, comm, true, request);
}

}  // extern "C"
