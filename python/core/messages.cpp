// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "collectives.hpp"

namespace tutti_core {
namespace {

using namespace nb::literals;

void expect_peer(const Call& call, const char* parameter, int peer, bool any) {
  if ((peer >= 0 && peer < call.comm().size) || (any && peer == TUTTI_ANY_SOURCE)) return;
  raise_value(Place{call.operation(), parameter}.text() + " is " + std::to_string(peer) +
              "; expected a rank from 0 to " + std::to_string(call.comm().size - 1) +
              (any ? " or ANY_SOURCE" : ""));
}

void expect_tag(const Call& call, int tag, bool any) {
  if (tag >= 0 || (any && tag == TUTTI_ANY_TAG)) return;
  raise_value(std::string(call.operation()) + ": the tag is " + std::to_string(tag) +
              "; expected 0 or more" + (any ? ", or ANY_TAG" : ""));
}

template <bool kLater>
nb::object send(Communicator& comm, nb::handle buffer, int dest, int tag) {
  Call call(comm, kLater ? "Isend" : "Send");
  expect_peer(call, "dest", dest, false);
  expect_tag(call, tag, false);
  const Array& array = call.reads(buffer, "buffer");
  return call.carry_out<kLater>(tutti_send, tutti_isend, array.data(), array.count(), array.type(),
                                dest, tag);
}

nb::object irecv(Communicator& comm, nb::handle buffer, int source, int tag) {
  Call call(comm, "Irecv");
  expect_peer(call, "source", source, true);
  expect_tag(call, tag, true);
  const Array& array = call.writes(buffer, "buffer");
  return call.carry_out<true>(nullptr, tutti_irecv, array.data(), array.count(), array.type(),
                              source, tag);
}

// Makes the call with room for what is received; None in a group, where nothing is received yet.
template <typename Function>
nb::object receive(Call& call, Function function) {
  tutti_recv_info info{};
  const bool at_once = !is_in_group();
  const auto status = without_lock([&] { return function(at_once ? &info : nullptr); });
  call.keep_in_group();
  check(status, call.operation(), call.comm().rank);
  return at_once ? nb::cast(info) : nb::none();
}

nb::object recv(Communicator& comm, nb::handle buffer, int source, int tag) {
  Call call(comm, "Recv");
  expect_peer(call, "source", source, true);
  expect_tag(call, tag, true);
  const Array& array = call.writes(buffer, "buffer");
  return receive(call, [&](tutti_recv_info* info) {
    return tutti_recv(array.data(), array.count(), array.type(), source, tag, comm.handle, info);
  });
}

nb::object sendrecv(Communicator& comm, nb::handle send, int dest, nb::handle recv, int source,
                    int send_tag, int recv_tag) {
  Call call(comm, "Sendrecv");
  expect_peer(call, "dest", dest, false);
  expect_peer(call, "source", source, true);
  expect_tag(call, send_tag, false);
  expect_tag(call, recv_tag, true);
  const Array& from = call.reads(send, "send");
  const Array& to = call.writes(recv, "recv");
  call.expect_type(from, to);
  return receive(call, [&](tutti_recv_info* info) {
    return tutti_sendrecv(from.data(), from.count(), dest, send_tag, to.data(), to.count(), source,
                          recv_tag, to.type(), comm.handle, info);
  });
}

}  // namespace

void add_messages(CommunicatorClass& type) {
  type.def("Send", send<false>, "buffer"_a, "dest"_a, "tag"_a = 0)
      .def("Isend", send<true>, "buffer"_a, "dest"_a, "tag"_a = 0)
      .def("Recv", recv, "buffer"_a, "source"_a = TUTTI_ANY_SOURCE, "tag"_a = TUTTI_ANY_TAG)
      .def("Irecv", irecv, "buffer"_a, "source"_a = TUTTI_ANY_SOURCE, "tag"_a = TUTTI_ANY_TAG)
      .def("Sendrecv", sendrecv, "send"_a, "dest"_a, "recv"_a, "source"_a = TUTTI_ANY_SOURCE,
           "send_tag"_a = 0, "recv_tag"_a = TUTTI_ANY_TAG);
}

}  // namespace tutti_core
