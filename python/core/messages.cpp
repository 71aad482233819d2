// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "collectives.hpp"
#include "request.hpp"

namespace tutti_core {
namespace {

// A rank, or nobody.
int peer_of(const Call& call, const char* parameter, nb::handle given, bool any_source) {
  const Argument argument{call.operation(), parameter};
  const int peer = int_of(given, argument);
  if ((peer >= 0 && peer < call.comm().size) || peer == kNobody) return peer;
  if (any_source && peer == TUTTI_ANY_SOURCE) return peer;
  raise_value(argument.text() + " is " + std::to_string(peer) + "; expected a rank from 0 to " +
              std::to_string(call.comm().size - 1) + (any_source ? ", ANY_SOURCE" : "") +
              " or PROC_NULL");
}

int tag_of(const Call& call, nb::handle given, bool any_tag) {
  const int tag = int_of(given, {call.operation(), "the tag"});
  if (tag >= 0 || (any_tag && tag == TUTTI_ANY_TAG)) return tag;
  raise_value(std::string(call.operation()) + ": the tag is " + std::to_string(tag) +
              "; expected 0 or more" + (any_tag ? ", or ANY_TAG" : ""));
}

// The outcome of a receive from nobody.
constexpr tutti_recv_info kNothing{kNobody, TUTTI_ANY_TAG, 0};

nb::object told(const tutti_recv_info& info, tutti_type type, nb::handle status) {
  nb::object message = nb::cast(info);
  if (!status.is_none()) status.attr("_take")(message, tutti_type_size(type));
  return message;
}

template <bool kLater>
nb::object send(Communicator& comm, nb::handle buffer, nb::handle dest, nb::handle tag) {
  Call call(comm, kLater ? "Isend" : "Send");
  const int peer = peer_of(call, "dest", dest, false);
  const int label = tag_of(call, tag, false);
  if (peer == kNobody) {
    return kLater ? Request::make_complete(comm, call.operation(), {}) : nb::none();
  }
  const Array& array = call.reads(buffer, "buffer");
  return call.carry_out<kLater>(tutti_send, tutti_isend, array.data(), array.count(), array.type(),
                                peer, label);
}

nb::object irecv(Communicator& comm, nb::handle buffer, nb::handle source, nb::handle tag) {
  Call call(comm, "Irecv");
  const int peer = peer_of(call, "source", source, true);
  const int label = tag_of(call, tag, true);
  if (peer == kNobody) return Request::make_complete(comm, call.operation(), kNothing);
  const Array& array = call.writes(buffer, "buffer");
  return call.carry_out<true>(nullptr, tutti_irecv, array.data(), array.count(), array.type(), peer,
                              label);
}

// Makes the call with room for what is received; None in a group, where nothing is received yet.
template <typename Function>
nb::object receive(Call& call, tutti_type type, nb::handle message_status, Function function) {
  tutti_recv_info info{};
  const bool at_once = !is_in_group();
  const auto status = without_lock([&] { return function(at_once ? &info : nullptr); });
  call.keep_in_group();
  check(status, call.operation(), call.comm().rank);
  return at_once ? told(info, type, message_status) : nb::none();
}

nb::object recv(Communicator& comm, nb::handle buffer, nb::handle source, nb::handle tag,
                nb::handle status) {
  Call call(comm, "Recv");
  const int peer = peer_of(call, "source", source, true);
  const int label = tag_of(call, tag, true);
  if (peer == kNobody) return told(kNothing, TUTTI_UINT8, status);
  const Array& array = call.writes(buffer, "buffer");
  return receive(call, array.type(), status, [&](tutti_recv_info* info) {
    return tutti_recv(array.data(), array.count(), array.type(), peer, label, comm.handle, info);
  });
}

nb::object sendrecv(Communicator& comm, nb::handle send, nb::handle dest, nb::handle recv,
                    nb::handle source, nb::handle send_tag, nb::handle recv_tag,
                    nb::handle status) {
  Call call(comm, "Sendrecv");
  const int to = peer_of(call, "dest", dest, false);
  const int from = peer_of(call, "source", source, true);
  const int sent = tag_of(call, send_tag, false);
  const int received = tag_of(call, recv_tag, true);
  if (to == kNobody && from == kNobody) return told(kNothing, TUTTI_UINT8, status);
  if (from == kNobody) {
    const Array& array = call.reads(send, "send");
    call.carry_out<false>(tutti_send, tutti_isend, array.data(), array.count(), array.type(), to,
                          sent);
    return told(kNothing, TUTTI_UINT8, status);
  }
  if (to == kNobody) {
    const Array& array = call.writes(recv, "recv");
    return receive(call, array.type(), status, [&](tutti_recv_info* info) {
      return tutti_recv(array.data(), array.count(), array.type(), from, received, comm.handle,
                        info);
    });
  }
  const Array& out = call.reads(send, "send");
  const Array& in = call.writes(recv, "recv");
  call.expect_type(out, in);
  return receive(call, in.type(), status, [&](tutti_recv_info* info) {
    return tutti_sendrecv(out.data(), out.count(), to, sent, in.data(), in.count(), from, received,
                          in.type(), comm.handle, info);
  });
}

}  // namespace

void add_messages(CommunicatorClass& type) {
  const auto source = any("source") = int{TUTTI_ANY_SOURCE};
  const auto tag = any("tag") = int{TUTTI_ANY_TAG};
  const auto status = any("status") = nb::none();
  type.def("Send", send<false>, any("buffer"), any("dest"), any("tag") = 0)
      .def("Isend", send<true>, any("buffer"), any("dest"), any("tag") = 0)
      .def("Recv", recv, any("buffer"), source, tag, status)
      .def("Irecv", irecv, any("buffer"), source, tag)
      .def("_Sendrecv", sendrecv, any("send"), any("dest"), any("recv"), any("source"),
           any("send_tag"), any("recv_tag"), any("status"));
}

}  // namespace tutti_core
