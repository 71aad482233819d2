// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The calls of Collectives whose blocks differ in size.
#include "support/collectives.hpp"

namespace tutti_test {
namespace {

constexpr size_t kSkew = 3;
constexpr size_t kGap = 2;

// What rank `from` gives rank `to` in a call: nothing, or 1/2, 1 or 3/2 of count.
size_t part(size_t count, int from, int to, uint64_t call) {
  const auto ends = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
  return count * (mix(call, ends) % 4) / 2;
}

}  // namespace

template <typename Count>
Collectives::Uneven Collectives::uneven(const Variant& variant, Count count) const {
  Uneven blocks;
  blocks.gaps = variant.skewed;
  for (int rank = 0; rank < ranks_; ++rank) {
    blocks.counts.push_back(count(rank));
    blocks.offsets.push_back(blocks.total);
    blocks.total += blocks.counts.back() + (blocks.gaps ? kGap : 0);
  }
  return blocks;
}

void Collectives::allgatherv(tutti_type type, size_t count, const Variant& variant) {
  title_ = describe("allgatherv", type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const uint64_t call = round_;
  const Uneven blocks = uneven(variant, [&](int rank) { return part(count, rank, 1, call); });
  const size_t mine = blocks.counts[me];
  const GuardedBuffer recv(blocks.total * size, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer own(variant.in_place ? 0 : mine * size, variant.skewed ? kSkew + 2 : 0,
                          allocator_);
  std::byte* send = variant.in_place ? recv.data() + blocks.offsets[me] * size : own.data();
  const auto prepare = [&] {
    tile(recv.data(), data(type, Op::kUser).inputs[me], size, 5, blocks.total);
    tile(send, data(type, Op::kUser).inputs[me], size, 0, mine);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      const std::byte* block = recv.data() + blocks.offsets[rank] * size;
      expect(difference(block, now.inputs[rank], size, 0, blocks.counts[rank]), recv);
      expect_gap(blocks, rank, recv, type);
    }
    if (!variant.in_place) expect(difference(send, now.inputs[me], size, 0, mine), own);
  };
  run(TUTTI_TEST_CALL(allgatherv, on_device(send), on_device(recv.data()), blocks.counts.data(),
                      blocks.displs(), type, comm_),
      variant.form, prepare, check);
}

void Collectives::reduce_scatterv(tutti_type type, Op op, size_t count, const Variant& variant) {
  title_ = describe("reduce_scatterv", type, op_name(op), count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  Variant dense = variant;
  dense.skewed = false;
  const uint64_t call = round_;
  const Uneven blocks = uneven(dense, [&](int rank) { return part(count, rank, 1, call); });
  const size_t mine = blocks.counts[me];
  const OpHandle handle(op, type, rank_);
  const GuardedBuffer send(blocks.total * size, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer own(variant.in_place ? 0 : mine * size, variant.skewed ? kSkew + 2 : 0,
                          allocator_);
  std::byte* recv = variant.in_place ? send.data() + blocks.offsets[me] * size : own.data();
  const auto prepare = [&] {
    tile(recv, data(type, op).inputs[0], size, 5, mine);
    tile(send.data(), data(type, op).inputs[me], size, 0, blocks.total);
  };
  const auto check = [&] {
    const Data& now = data(type, op);
    expect(difference(recv, now.result, size, blocks.offsets[me], mine),
           variant.in_place ? send : own);
    if (variant.in_place) return;
    expect(difference(send.data(), now.inputs[me], size, 0, blocks.total), send);
  };
  run(TUTTI_TEST_CALL(reduce_scatterv, on_device(send.data()), on_device(recv),
                      blocks.counts.data(), type, handle.get(), comm_),
      variant.form, prepare, check);
}

void Collectives::alltoallv(tutti_type type, size_t count, const Variant& variant) {
  title_ = describe("alltoallv", type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const uint64_t call = round_;
  // In place, ranks give one another as much as they take.
  const auto passes = [&](int from, int to) {
    if (variant.in_place && from > to) std::swap(from, to);
    return part(count, from, to, call);
  };
  const auto given_by = [&](int from) {
    return uneven(variant, [&](int to) { return passes(from, to); });
  };
  const bool in_place = exchanges_in_place(variant);
  const Uneven given = given_by(rank_);
  const Uneven taken = uneven(variant, [&](int from) { return passes(from, rank_); });
  const GuardedBuffer recv(taken.total * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  const GuardedBuffer own(in_place ? 0 : given.total * size, variant.skewed ? kSkew : 0,
                          allocator_);
  std::byte* send = in_place ? recv.data() : own.data();
  const auto prepare = [&] {
    tile(recv.data(), data(type, Op::kUser).inputs[me], size, 5, taken.total);
    tile(send, data(type, Op::kUser).inputs[me], size, 0, given.total);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      const size_t first = given_by(static_cast<int>(rank)).offsets[me];
      const std::byte* block = recv.data() + taken.offsets[rank] * size;
      expect(difference(block, now.inputs[rank], size, first, taken.counts[rank]), recv);
      // In place, there is what the gap held.
      if (!in_place) expect_gap(taken, rank, recv, type);
    }
    if (!in_place) expect(difference(send, now.inputs[me], size, 0, given.total), own);
  };
  run(TUTTI_TEST_CALL(alltoallv, on_device(send), given.counts.data(), given.displs(),
                      on_device(recv.data()), taken.counts.data(), taken.displs(), type, comm_),
      variant.form, prepare, check);
}

void Collectives::gatherv(tutti_type type, size_t count, int root, const Variant& variant) {
  title_ = describe("gatherv", type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const bool at_root = rank_ == root;
  const bool in_place = variant.in_place && at_root;
  const uint64_t call = round_;
  const Uneven blocks = uneven(variant, [&](int rank) { return part(count, rank, root, call); });
  const size_t mine = blocks.counts[me];
  const GuardedBuffer all(at_root ? blocks.total * size : 0, variant.skewed ? kSkew : 0,
                          allocator_);
  const GuardedBuffer own(in_place ? 0 : mine * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  std::byte* send = in_place ? all.data() + blocks.offsets[me] * size : own.data();
  std::byte* recv = at_root ? all.data() : nullptr;
  const size_t* counts = at_root ? blocks.counts.data() : nullptr;
  const size_t* displs = at_root ? blocks.displs() : nullptr;
  const auto prepare = [&] {
    if (at_root) tile(recv, data(type, Op::kUser).inputs[me], size, 5, blocks.total);
    tile(send, data(type, Op::kUser).inputs[me], size, 0, mine);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    if (!in_place) expect(difference(send, now.inputs[me], size, 0, mine), own);
    for (size_t rank = 0; at_root && rank < now.inputs.size(); ++rank) {
      const std::byte* block = recv + blocks.offsets[rank] * size;
      expect(difference(block, now.inputs[rank], size, 0, blocks.counts[rank]), all);
      expect_gap(blocks, rank, all, type);
    }
  };
  run(TUTTI_TEST_CALL(gatherv, on_device(send), mine, on_device(recv), counts, displs, type, root,
                      comm_),
      variant.form, prepare, check);
}

void Collectives::scatterv(tutti_type type, size_t count, int root, const Variant& variant) {
  title_ = describe("scatterv", type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const bool at_root = rank_ == root;
  const bool in_place = variant.in_place && at_root;
  const uint64_t call = round_;
  const Uneven blocks = uneven(variant, [&](int rank) { return part(count, root, rank, call); });
  const size_t mine = blocks.counts[me];
  const GuardedBuffer all(at_root ? blocks.total * size : 0, variant.skewed ? kSkew : 0,
                          allocator_);
  const GuardedBuffer own(in_place ? 0 : mine * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  std::byte* recv = in_place ? all.data() + blocks.offsets[me] * size : own.data();
  const std::byte* send = at_root ? all.data() : nullptr;
  const size_t* counts = at_root ? blocks.counts.data() : nullptr;
  const size_t* displs = at_root ? blocks.displs() : nullptr;
  const auto prepare = [&] {
    tile(recv, data(type, Op::kUser).inputs[me], size, 5, mine);
    if (at_root) tile(all.data(), data(type, Op::kUser).inputs[me], size, 0, blocks.total);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    const Bytes& roots = now.inputs[static_cast<size_t>(root)];
    expect(difference(recv, roots, size, blocks.offsets[me], mine), in_place ? all : own);
    if (at_root) expect(difference(all.data(), roots, size, 0, blocks.total), all);
  };
  run(TUTTI_TEST_CALL(scatterv, on_device(send), counts, displs, on_device(recv), mine, type, root,
                      comm_),
      variant.form, prepare, check);
}

// What prepare() wrote behind block `rank` must still be there.
void Collectives::expect_gap(const Uneven& blocks, size_t rank, const GuardedBuffer& recv,
                             tutti_type type) {
  if (!blocks.gaps) return;
  const size_t size = format_of(type).size;
  const size_t at = blocks.offsets[rank] + blocks.counts[rank];
  const Bytes& mine = data(type, Op::kUser).inputs[static_cast<size_t>(rank_)];
  expect(difference(recv.data() + at * size, mine, size, 5 + at, kGap), recv);
}

}  // namespace tutti_test
