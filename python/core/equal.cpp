// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives with blocks of one size and without a root.
#include "collectives.hpp"

namespace tutti_core {
namespace {

template <bool kLater>
nb::object barrier(Communicator& comm) {
  Call call(comm, kLater ? "Ibarrier" : "Barrier");
  return call.carry_out<kLater>(tutti_barrier, tutti_ibarrier);
}

template <bool kLater>
nb::object allreduce(Communicator& comm, nb::handle send, nb::handle recv, nb::handle op) {
  Call call(comm, kLater ? "Iallreduce" : "Allreduce");
  const Array& to = call.writes(recv, "recv");
  const Array& from = is_in_place(send) ? to : call.reads(send, "send");
  call.expect_type(from, to);
  call.expect_count(to, "recv", from.count(), "as many as send");
  const int reduction = call.op(op, to);
  return call.carry_out<kLater>(tutti_allreduce, tutti_iallreduce, from.data(), to.data(),
                                to.count(), to.type(), reduction);
}

template <bool kLater>
nb::object allgather(Communicator& comm, nb::handle send, nb::handle recv) {
  Call call(comm, kLater ? "Iallgather" : "Allgather");
  const Array& to = call.writes_blocks(recv, "recv");
  const auto [data, count] = call.own_block(send, to);
  return call.carry_out<kLater>(tutti_allgather, tutti_iallgather, data, to.data(), count,
                                to.type());
}

template <bool kLater>
nb::object reduce_scatter_block(Communicator& comm, nb::handle send, nb::handle recv,
                                nb::handle op) {
  Call call(comm, kLater ? "Ireduce_scatter_block" : "Reduce_scatter_block");
  if (is_in_place(send)) call.refuse_in_place("this rank's block of send as recv, for that");
  const Array& to = call.writes(recv, "recv");
  const Array& from = call.reads_blocks(send, "send");
  call.expect_type(from, to);
  call.expect_count(from, "send", to.count() * call.size(), "those of recv for each rank");
  const int reduction = call.op(op, to);
  return call.carry_out<kLater>(tutti_reduce_scatter, tutti_ireduce_scatter, from.data(), to.data(),
                                to.count(), to.type(), reduction);
}

template <bool kLater>
nb::object alltoall(Communicator& comm, nb::handle send, nb::handle recv) {
  Call call(comm, kLater ? "Ialltoall" : "Alltoall");
  const Array& to = call.writes_blocks(recv, "recv");
  const Array& from = is_in_place(send) ? to : call.reads_blocks(send, "send");
  call.expect_type(from, to);
  call.expect_count(to, "recv", from.count(), "as many as send");
  call.expect_blocks(to, "recv");
  return call.carry_out<kLater>(tutti_alltoall, tutti_ialltoall, from.data(), to.data(),
                                to.count() / call.size(), to.type());
}

}  // namespace

void add_equal_collectives(CommunicatorClass& type) {
  type.def("Barrier", barrier<false>)
      .def("Ibarrier", barrier<true>)
      .def("Allreduce", allreduce<false>, any("send"), any("recv"), any("op") = int{TUTTI_SUM})
      .def("Iallreduce", allreduce<true>, any("send"), any("recv"), any("op") = int{TUTTI_SUM})
      .def("Allgather", allgather<false>, any("send"), any("recv"))
      .def("Iallgather", allgather<true>, any("send"), any("recv"))
      .def("Reduce_scatter_block", reduce_scatter_block<false>, any("send"), any("recv"),
           any("op") = int{TUTTI_SUM})
      .def("Ireduce_scatter_block", reduce_scatter_block<true>, any("send"), any("recv"),
           any("op") = int{TUTTI_SUM})
      .def("Alltoall", alltoall<false>, any("send"), any("recv"))
      .def("Ialltoall", alltoall<true>, any("send"), any("recv"));
}

}  // namespace tutti_core
