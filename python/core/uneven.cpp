// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Collectives with blocks of different sizes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "collectives.hpp"

namespace tutti_core {
namespace {

using namespace nb::literals;
using Counts = std::vector<size_t>;
using Displs = std::optional<std::vector<size_t>>;

void expect_entries(const Call& call, const char* parameter, const Counts& given) {
  if (given.size() == call.size()) return;
  raise_value(Argument{call.operation(), parameter}.text() + " has " +
              std::to_string(given.size()) + " entries; expected one for each of the " +
              std::to_string(call.size()) + " ranks");
}

// The blocks of one buffer.
struct Blocks {
  Blocks(const Call& call, const char* parameter, const Counts& counts, const Displs& displs)
      : counts_(counts), displs_(displs) {
    expect_entries(call, parameter, counts);
    if (displs) expect_entries(call, "the displacements", *displs);
  }
  const size_t* counts() const { return counts_.data(); }
  const size_t* displs() const { return displs_ ? displs_->data() : nullptr; }
  size_t start(size_t rank) const {
    if (displs_) return (*displs_)[rank];
    size_t sum = 0;
    for (size_t r = 0; r < rank; ++r) sum += counts_[r];
    return sum;
  }
  void expect_inside(const Call& call, const char* parameter, const Array& array) const {
    size_t need = 0;
    size_t next = 0;
    for (size_t r = 0; r < counts_.size(); ++r) {
      const size_t end = (displs_ ? (*displs_)[r] : next) + counts_[r];
      if (counts_[r] != 0) need = std::max(need, end);
      next = end;
    }
    if (need <= array.count()) return;
    raise_value(Argument{call.operation(), parameter}.text() + " is " + array.text() +
                "; expected at least the " + std::to_string(need) +
                " elements that the counts and displacements say");
  }

 private:
  const Counts& counts_;
  const Displs& displs_;
};

// The block that this rank gives to an allgatherv or gatherv; if `send` is IN_PLACE, it lies in
// `to`.
const void* own_block(Call& call, nb::handle send, const Array& to, const Blocks& blocks) {
  blocks.expect_inside(call, "recv", to);
  if (is_in_place(send)) return to.at(blocks.start(call.rank()));
  const Array& from = call.reads(send, "send");
  call.expect_type(from, to);
  call.expect_count(from, "send", blocks.counts()[call.rank()], "recv_counts of this rank");
  return from.data();
}

template <bool kLater>
nb::object allgatherv(Communicator& comm, nb::handle send, nb::handle recv,
                      const Counts& recv_counts, const Displs& recv_displs) {
  Call call(comm, kLater ? "Iallgatherv" : "Allgatherv");
  const Blocks blocks(call, "recv_counts", recv_counts, recv_displs);
  const Array& to = call.writes(recv, "recv");
  const void* data = own_block(call, send, to, blocks);
  return call.carry_out<kLater>(tutti_allgatherv, tutti_iallgatherv, data, to.data(),
                                blocks.counts(), blocks.displs(), to.type());
}

template <bool kLater>
nb::object reduce_scatter(Communicator& comm, nb::handle send, nb::handle recv,
                          const Counts& recv_counts, nb::handle op) {
  Call call(comm, kLater ? "Ireduce_scatter" : "Reduce_scatter");
  if (is_in_place(send)) call.refuse_in_place("this rank's block of send as recv, for that");
  const Displs none;
  const Blocks blocks(call, "recv_counts", recv_counts, none);
  const Array& to = call.writes(recv, "recv");
  const Array& from = call.reads(send, "send");
  call.expect_type(from, to);
  call.expect_count(to, "recv", recv_counts[call.rank()], "recv_counts of this rank");
  call.expect_count(from, "send", blocks.start(call.size()), "the sum of recv_counts");
  const int reduction = call.op(op, to);
  return call.carry_out<kLater>(tutti_reduce_scatterv, tutti_ireduce_scatterv, from.data(),
                                to.data(), blocks.counts(), to.type(), reduction);
}

template <bool kLater>
nb::object alltoallv(Communicator& comm, nb::handle send, const std::optional<Counts>& send_counts,
                     nb::handle recv, const Counts& recv_counts, const Displs& send_displs,
                     const Displs& recv_displs) {
  Call call(comm, kLater ? "Ialltoallv" : "Alltoallv");
  const Blocks in(call, "recv_counts", recv_counts, recv_displs);
  const Array& to = call.writes(recv, "recv");
  in.expect_inside(call, "recv", to);
  // In place the blocks of recv are sent, whatever is said of send.
  if (is_in_place(send)) {
    return call.carry_out<kLater>(tutti_alltoallv, tutti_ialltoallv, to.data(), in.counts(),
                                  in.displs(), to.data(), in.counts(), in.displs(), to.type());
  }
  const Counts counts = send_counts.value_or(Counts{});
  const Blocks out(call, "send_counts", counts, send_displs);
  const Array& from = call.reads(send, "send");
  call.expect_type(from, to);
  out.expect_inside(call, "send", from);
  return call.carry_out<kLater>(tutti_alltoallv, tutti_ialltoallv, from.data(), out.counts(),
                                out.displs(), to.data(), in.counts(), in.displs(), to.type());
}

template <bool kLater>
nb::object gatherv(Communicator& comm, nb::handle send, nb::handle recv,
                   const std::optional<Counts>& recv_counts, const Displs& recv_displs,
                   nb::handle root) {
  Call call(comm, kLater ? "Igatherv" : "Gatherv");
  const int root_rank = call.root(root);
  if (root_rank != comm.rank) {
    if (is_in_place(send)) call.refuse_in_place("a send buffer, as not the root");
    const Array& from = call.reads(send, "send");
    return call.carry_out<kLater>(tutti_gatherv, tutti_igatherv, from.data(), from.count(), nullptr,
                                  nullptr, nullptr, from.type(), root_rank);
  }
  const Counts counts = recv_counts.value_or(Counts{});
  const Blocks blocks(call, "recv_counts", counts, recv_displs);
  const Array& to = call.writes(recv, "recv");
  const void* data = own_block(call, send, to, blocks);
  return call.carry_out<kLater>(tutti_gatherv, tutti_igatherv, data, counts[call.rank()], to.data(),
                                blocks.counts(), blocks.displs(), to.type(), root_rank);
}

template <bool kLater>
nb::object scatterv(Communicator& comm, nb::handle send, const std::optional<Counts>& send_counts,
                    nb::handle recv, const Displs& send_displs, nb::handle root) {
  Call call(comm, kLater ? "Iscatterv" : "Scatterv");
  const int root_rank = call.root(root);
  if (root_rank != comm.rank) {
    if (is_in_place(recv)) call.refuse_in_place("a recv buffer, as not the root");
    const Array& to = call.writes(recv, "recv");
    return call.carry_out<kLater>(tutti_scatterv, tutti_iscatterv, nullptr, nullptr, nullptr,
                                  to.data(), to.count(), to.type(), root_rank);
  }
  const Counts counts = send_counts.value_or(Counts{});
  const Blocks blocks(call, "send_counts", counts, send_displs);
  const Array& from = call.reads(send, "send");
  blocks.expect_inside(call, "send", from);
  void* data = from.at(blocks.start(call.rank()));
  if (!is_in_place(recv)) {
    const Array& to = call.writes(recv, "recv");
    call.expect_type(from, to);
    call.expect_count(to, "recv", counts[call.rank()], "send_counts of this rank");
    data = to.data();
  }
  return call.carry_out<kLater>(tutti_scatterv, tutti_iscatterv, from.data(), blocks.counts(),
                                blocks.displs(), data, counts[call.rank()], from.type(), root_rank);
}

template <bool kLater>
void add(CommunicatorClass& type, const char* allgather_name, const char* reduce_scatter_name,
         const char* alltoall_name, const char* gather_name, const char* scatter_name) {
  type.def(allgather_name, allgatherv<kLater>, any("send"), any("recv"), "recv_counts"_a,
           nb::arg("recv_displs").none())
      .def(reduce_scatter_name, reduce_scatter<kLater>, any("send"), any("recv"), "recv_counts"_a,
           any("op"))
      .def(alltoall_name, alltoallv<kLater>, any("send"), nb::arg("send_counts").none(),
           any("recv"), "recv_counts"_a, nb::arg("send_displs").none(),
           nb::arg("recv_displs").none())
      .def(gather_name, gatherv<kLater>, any("send"), any("recv"), nb::arg("recv_counts").none(),
           nb::arg("recv_displs").none(), any("root"))
      .def(scatter_name, scatterv<kLater>, any("send"), nb::arg("send_counts").none(), any("recv"),
           nb::arg("send_displs").none(), any("root"));
}

}  // namespace

// tutti_ccl.vectors has the forms in which programs call them, and hands on lists of int.
void add_uneven_collectives(CommunicatorClass& type) {
  add<false>(type, "_Allgatherv", "_Reduce_scatter", "_Alltoallv", "_Gatherv", "_Scatterv");
  add<true>(type, "_Iallgatherv", "_Ireduce_scatter", "_Ialltoallv", "_Igatherv", "_Iscatterv");
}

}  // namespace tutti_core
