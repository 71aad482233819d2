// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives with a root and blocks of one size. Arguments that only the root uses may be None
// elsewhere.
#include "collectives.hpp"

namespace tutti_core {
namespace {

template <bool kLater>
nb::object bcast(Communicator& comm, nb::handle buffer, nb::handle root) {
  Call call(comm, kLater ? "Ibcast" : "Bcast");
  const int root_rank = call.root(root);
  const Array& array =
      root_rank == comm.rank ? call.reads(buffer, "buffer") : call.writes(buffer, "buffer");
  return call.carry_out<kLater>(tutti_broadcast, tutti_ibroadcast, array.data(), array.count(),
                                array.type(), root_rank);
}

template <bool kLater>
nb::object reduce(Communicator& comm, nb::handle send, nb::handle recv, nb::handle op,
                  nb::handle root) {
  Call call(comm, kLater ? "Ireduce" : "Reduce");
  const int root_rank = call.root(root);
  const Array* to = nullptr;
  if (root_rank == comm.rank) to = &call.writes(recv, "recv");
  if (is_in_place(send) && to == nullptr) call.refuse_in_place("a send buffer, as not the root");
  const Array& from = is_in_place(send) ? *to : call.reads(send, "send");
  if (to != nullptr) {
    call.expect_type(from, *to);
    call.expect_count(*to, "recv", from.count(), "as many as send");
  }
  const int reduction = call.op(op, from);
  return call.carry_out<kLater>(tutti_reduce, tutti_ireduce, from.data(),
                                to == nullptr ? nullptr : to->data(), from.count(), from.type(),
                                reduction, root_rank);
}

template <bool kLater>
nb::object gather(Communicator& comm, nb::handle send, nb::handle recv, nb::handle root) {
  Call call(comm, kLater ? "Igather" : "Gather");
  const int root_rank = call.root(root);
  if (root_rank != comm.rank) {
    if (is_in_place(send)) call.refuse_in_place("a send buffer, as not the root");
    const Array& from = call.reads(send, "send");
    return call.carry_out<kLater>(tutti_gather, tutti_igather, from.data(), nullptr, from.count(),
                                  from.type(), root_rank);
  }
  const Array& to = call.writes_blocks(recv, "recv");
  const auto [data, count] = call.own_block(send, to);
  return call.carry_out<kLater>(tutti_gather, tutti_igather, data, to.data(), count, to.type(),
                                root_rank);
}

template <bool kLater>
nb::object scatter(Communicator& comm, nb::handle send, nb::handle recv, nb::handle root) {
  Call call(comm, kLater ? "Iscatter" : "Scatter");
  const int root_rank = call.root(root);
  if (root_rank != comm.rank) {
    if (is_in_place(recv)) call.refuse_in_place("a recv buffer, as not the root");
    const Array& to = call.writes(recv, "recv");
    return call.carry_out<kLater>(tutti_scatter, tutti_iscatter, nullptr, to.data(), to.count(),
                                  to.type(), root_rank);
  }
  const Array& from = call.reads_blocks(send, "send");
  call.expect_blocks(from, "send");
  const size_t count = from.count() / call.size();
  void* data = from.at(call.rank() * count);
  if (!is_in_place(recv)) {
    const Array& to = call.writes(recv, "recv");
    call.expect_type(from, to);
    call.expect_count(from, "send", to.count() * call.size(), "those of recv for each rank");
    data = to.data();
  }
  return call.carry_out<kLater>(tutti_scatter, tutti_iscatter, from.data(), data, count,
                                from.type(), root_rank);
}

}  // namespace

void add_rooted_collectives(CommunicatorClass& type) {
  type.def("Bcast", bcast<false>, any("buffer"), any("root") = 0)
      .def("Ibcast", bcast<true>, any("buffer"), any("root") = 0)
      .def("Reduce", reduce<false>, any("send"), any("recv"), any("op") = int{TUTTI_SUM},
           any("root") = 0)
      .def("Ireduce", reduce<true>, any("send"), any("recv"), any("op") = int{TUTTI_SUM},
           any("root") = 0)
      .def("Gather", gather<false>, any("send"), any("recv"), any("root") = 0)
      .def("Igather", gather<true>, any("send"), any("recv"), any("root") = 0)
      .def("Scatter", scatter<false>, any("send"), any("recv"), any("root") = 0)
      .def("Iscatter", scatter<true>, any("send"), any("recv"), any("root") = 0);
}

}  // namespace tutti_core
