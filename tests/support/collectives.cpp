// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/collectives.hpp"

#include <sched.h>

#include <stdexcept>
#include <utility>

namespace tutti_test {
namespace {

constexpr int kStarts = 3;  // of a persistent request
constexpr int kReports = 5;
constexpr size_t kSkew = 3;
constexpr int kTag = 7;

std::string rooted(const char* name, int root) {
  return std::string(name) + " with root " + std::to_string(root);
}

}  // namespace

std::string describe(const char* name, tutti_type type, const char* op, size_t count,
                     const Variant& variant) {
  static constexpr const char* kFormNames[] = {"blocking", "non-blocking", "persistent"};
  return std::string(name) + " of " + std::to_string(count) + " " + tutti_type_name(type) + " " +
         op + ", " + kFormNames[static_cast<int>(variant.form)] +
         (variant.in_place ? ", in place" : "") + (variant.skewed ? ", not aligned" : "");
}

void require_ok(tutti_status status, const std::string& what) {
  if (status == TUTTI_OK) return;
  throw std::runtime_error(what + ": " + tutti_status_name(status) + ": " + tutti_last_error());
}

Collectives::Collectives(int rank, tutti_comm_t comm) : rank_(rank), comm_(comm) {
  require_ok(tutti_comm_size(comm, &ranks_), "tutti_comm_size");
}

// What was prepared, to the device; once for each call, which may have begun to change it.
void Collectives::upload() {
  if (Mirror::current() == nullptr || uploaded_) return;
  Mirror::current()->upload();
  uploaded_ = true;
}

void Collectives::download() {
  if (Mirror::current() == nullptr || receiving_) return;
  Mirror::current()->download();
  uploaded_ = false;
}

const Collectives::Data& Collectives::data(tutti_type type, Op op) {
  // Two sets of data alternate, so that what an earlier call left behind is not taken for a result.
  const auto [place, fresh] = data_.try_emplace({type, op, round_ % 2});
  Data& data = place->second;
  if (fresh) {
    for (int rank = 0; rank < ranks_; ++rank) {
      data.inputs.push_back(pattern(type, op, rank, ranks_, round_ % 2));
    }
    data.result = tutti_test::reduce(type, op, data.inputs);
  }
  return data;
}

void Collectives::finish(tutti_request_t request) {
  if (round_ % 3 == 0) {
    int done = 0;
    while (done == 0) {
      require_ok(tutti_request_test(request, &done), title_);
      sched_yield();
    }
  } else {
    require_ok(tutti_request_wait(request), title_);
  }
}

void Collectives::run(const Call& call, Form form, const std::function<void()>& prepare,
                      const std::function<void()>& check) {
  if (rest_) return run_in_group(call, form, prepare, check);
  tutti_request_t request = nullptr;
  if (form == Form::kPersistent) require_ok(call.persistent(&request), title_);
  for (int start = 0; start < (form == Form::kPersistent ? kStarts : 1); ++start) {
    ++round_;
    prepare();
    upload();
    if (form == Form::kBlocking) require_ok(call.blocking(), title_);
    if (form == Form::kNonBlocking) require_ok(call.non_blocking(&request), title_);
    if (form == Form::kPersistent) require_ok(tutti_request_start(request), title_);
    if (form != Form::kBlocking) finish(request);
    download();
    check();
  }
  require_ok(tutti_request_free(request), title_);
}

// The calls of a group nest, so that the buffers of all live until its end. The innermost ends all
// of them before it looks at any buffer: each downloads those of all.
void Collectives::run_in_group(const Call& call, Form form, const std::function<void()>& prepare,
                               const std::function<void()>& check) {
  const std::function<void()> rest = std::exchange(rest_, nullptr);
  tutti_request_t request = nullptr;
  const uint64_t round = ++round_;
  prepare();
  uploaded_ = false;
  upload();
  require_ok(form == Form::kBlocking ? call.blocking() : call.non_blocking(&request), title_);
  if (request != nullptr) in_group_.push_back(request);
  const std::string title = title_;
  rest();
  title_ = title;
  const uint64_t last = std::exchange(round_, round);
  for (tutti_request_t one : std::exchange(in_group_, {})) finish(one);
  download();
  check();
  round_ = last;
  require_ok(tutti_request_free(request), title_);
}

void Collectives::expect(const std::string& difference, const GuardedBuffer& written) {
  if (difference.empty() && written.intact()) return;
  if (++reported_ > kReports) return;
  ADD_FAILURE() << title_ << ", rank " << rank_ << " of " << ranks_ << ": "
                << (difference.empty() ? "wrote outside its buffer" : difference);
}

void Collectives::allreduce(tutti_type type, Op op, size_t count, const Variant& variant) {
  title_ = describe("allreduce", type, op_name(op), count, variant);
  const size_t size = format_of(type).size;
  const OpHandle handle(op, type, rank_);
  const GuardedBuffer recv(count * size, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer own(variant.in_place ? 0 : count * size, variant.skewed ? kSkew + 2 : 0,
                          allocator_);
  std::byte* send = variant.in_place ? recv.data() : own.data();
  const auto prepare = [&] {
    tile(recv.data(), data(type, op).inputs[0], size, 5, count);
    tile(send, data(type, op).inputs[static_cast<size_t>(rank_)], size, 0, count);
  };
  const auto check = [&] {
    const Data& now = data(type, op);
    expect(difference(recv.data(), now.result, size, 0, count), recv);
    if (variant.in_place) return;
    expect(difference(send, now.inputs[static_cast<size_t>(rank_)], size, 0, count), own);
  };
  const Call call = TUTTI_TEST_CALL(allreduce, on_device(send), on_device(recv.data()), count, type,
                                    handle.get(), comm_);
  run(call, variant.form, prepare, check);
}

void Collectives::reduce_scatter(tutti_type type, Op op, size_t count, const Variant& variant) {
  title_ = describe("reduce_scatter", type, op_name(op), count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const size_t total = count * static_cast<size_t>(ranks_);
  const OpHandle handle(op, type, rank_);
  const GuardedBuffer send(total * size, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer own(variant.in_place ? 0 : count * size, variant.skewed ? kSkew + 2 : 0,
                          allocator_);
  std::byte* recv = variant.in_place ? send.data() + me * count * size : own.data();
  const auto prepare = [&] {
    tile(recv, data(type, op).inputs[0], size, 5, count);
    tile(send.data(), data(type, op).inputs[me], size, 0, total);
  };
  const auto check = [&] {
    const Data& now = data(type, op);
    expect(difference(recv, now.result, size, me * count, count), variant.in_place ? send : own);
    if (variant.in_place) return;
    expect(difference(send.data(), now.inputs[me], size, 0, total), send);
  };
  const Call call = TUTTI_TEST_CALL(reduce_scatter, on_device(send.data()), on_device(recv), count,
                                    type, handle.get(), comm_);
  run(call, variant.form, prepare, check);
}

void Collectives::broadcast(tutti_type type, size_t count, int root, const Variant& variant) {
  title_ =
      describe("broadcast", type, ("from rank " + std::to_string(root)).c_str(), count, variant);
  const size_t size = format_of(type).size;
  const GuardedBuffer buffer(count * size, variant.skewed ? kSkew : 0, allocator_);
  const auto prepare = [&] {
    const size_t first = rank_ == root ? 0 : 5;
    tile(buffer.data(), data(type, Op::kUser).inputs[static_cast<size_t>(root)], size, first,
         count);
  };
  const auto check = [&] {
    const Bytes& roots = data(type, Op::kUser).inputs[static_cast<size_t>(root)];
    expect(difference(buffer.data(), roots, size, 0, count), buffer);
  };
  run(TUTTI_TEST_CALL(broadcast, on_device(buffer.data()), count, type, root, comm_), variant.form,
      prepare, check);
}

void Collectives::allgather(tutti_type type, size_t count, const Variant& variant) {
  title_ = describe("allgather", type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const GuardedBuffer recv(count * size * static_cast<size_t>(ranks_), variant.skewed ? kSkew : 0,
                           allocator_);
  const GuardedBuffer own(variant.in_place ? 0 : count * size, variant.skewed ? kSkew + 2 : 0,
                          allocator_);
  std::byte* send = variant.in_place ? recv.data() + me * count * size : own.data();
  const auto block = [&](size_t rank) { return recv.data() + rank * count * size; };
  const auto prepare = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      tile(block(rank), now.inputs[rank], size, 5, count);
    }
    tile(send, now.inputs[me], size, 0, count);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      expect(difference(block(rank), now.inputs[rank], size, 0, count), recv);
    }
    if (!variant.in_place) expect(difference(send, now.inputs[me], size, 0, count), own);
  };
  run(TUTTI_TEST_CALL(allgather, on_device(send), on_device(recv.data()), count, type, comm_),
      variant.form, prepare, check);
}

// Rank r's block for this rank is the pattern of r from element rank * count on.
void Collectives::alltoall(tutti_type type, size_t count, const Variant& variant) {
  title_ = describe("alltoall", type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const size_t total = count * static_cast<size_t>(ranks_);
  const bool in_place = exchanges_in_place(variant);
  const GuardedBuffer recv(total * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  const GuardedBuffer own(in_place ? 0 : total * size, variant.skewed ? kSkew : 0, allocator_);
  std::byte* send = in_place ? recv.data() : own.data();
  const auto prepare = [&] {
    const Data& now = data(type, Op::kUser);
    tile(recv.data(), now.inputs[me], size, 5, total);
    tile(send, now.inputs[me], size, 0, total);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      const std::byte* block = recv.data() + rank * count * size;
      expect(difference(block, now.inputs[rank], size, me * count, count), recv);
    }
    if (!in_place) expect(difference(send, now.inputs[me], size, 0, total), own);
  };
  run(TUTTI_TEST_CALL(alltoall, on_device(send), on_device(recv.data()), count, type, comm_),
      variant.form, prepare, check);
}

// What only the root receives is null elsewhere, or memory that must not change, in turn.
void Collectives::reduce(tutti_type type, Op op, size_t count, int root, const Variant& variant) {
  title_ = describe(rooted("reduce", root).c_str(), type, op_name(op), count, variant);
  const size_t size = format_of(type).size;
  const bool at_root = rank_ == root;
  const bool in_place = variant.in_place && at_root;
  const OpHandle handle(op, type, rank_);
  const GuardedBuffer given(count * size, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer own(in_place ? 0 : count * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  std::byte* send = in_place ? given.data() : own.data();
  std::byte* recv = at_root || round_ % 2 == 0 ? given.data() : nullptr;
  const auto prepare = [&] {
    tile(given.data(), data(type, op).inputs[0], size, 5, count);
    tile(send, data(type, op).inputs[static_cast<size_t>(rank_)], size, 0, count);
  };
  const auto check = [&] {
    const Data& now = data(type, op);
    expect(at_root ? difference(given.data(), now.result, size, 0, count)
                   : difference(given.data(), now.inputs[0], size, 5, count),
           given);
    if (in_place) return;
    expect(difference(send, now.inputs[static_cast<size_t>(rank_)], size, 0, count), own);
  };
  run(TUTTI_TEST_CALL(reduce, on_device(send), on_device(recv), count, type, handle.get(), root,
                      comm_),
      variant.form, prepare, check);
}

void Collectives::gather(tutti_type type, size_t count, int root, const Variant& variant) {
  title_ = describe(rooted("gather", root).c_str(), type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const bool at_root = rank_ == root;
  const bool in_place = variant.in_place && at_root;
  const GuardedBuffer all(count * size * static_cast<size_t>(ranks_), variant.skewed ? kSkew : 0,
                          allocator_);
  const GuardedBuffer own(in_place ? 0 : count * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  const auto block = [&](size_t rank) { return all.data() + rank * count * size; };
  std::byte* send = in_place ? block(me) : own.data();
  std::byte* recv = at_root || round_ % 2 == 0 ? all.data() : nullptr;
  const auto prepare = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      tile(block(rank), now.inputs[rank], size, 5, count);
    }
    tile(send, now.inputs[me], size, 0, count);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    for (size_t rank = 0; rank < now.inputs.size(); ++rank) {
      const size_t first = at_root ? 0 : 5;
      expect(difference(block(rank), now.inputs[rank], size, first, count), all);
    }
    if (!in_place) expect(difference(send, now.inputs[me], size, 0, count), own);
  };
  run(TUTTI_TEST_CALL(gather, on_device(send), on_device(recv), count, type, root, comm_),
      variant.form, prepare, check);
}

void Collectives::scatter(tutti_type type, size_t count, int root, const Variant& variant) {
  title_ = describe(rooted("scatter", root).c_str(), type, "", count, variant);
  const size_t size = format_of(type).size;
  const auto me = static_cast<size_t>(rank_);
  const size_t total = count * static_cast<size_t>(ranks_);
  const bool at_root = rank_ == root;
  const bool in_place = variant.in_place && at_root;
  const GuardedBuffer all(at_root ? total * size : 0, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer own(in_place ? 0 : count * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  std::byte* recv = in_place ? all.data() + me * count * size : own.data();
  const std::byte* send = at_root ? all.data() : nullptr;
  const auto prepare = [&] {
    const Data& now = data(type, Op::kUser);
    tile(recv, now.inputs[me], size, 5, count);
    if (at_root) tile(all.data(), now.inputs[me], size, 0, total);
  };
  const auto check = [&] {
    const Data& now = data(type, Op::kUser);
    expect(difference(recv, now.inputs[static_cast<size_t>(root)], size, me * count, count),
           in_place ? all : own);
    if (at_root) expect(difference(all.data(), now.inputs[me], size, 0, total), all);
  };
  run(TUTTI_TEST_CALL(scatter, on_device(send), on_device(recv), count, type, root, comm_),
      variant.form, prepare, check);
}

void Collectives::send_recv(tutti_type type, size_t count, const Variant& variant) {
  title_ = describe("send and recv", type, "", count, variant);
  const size_t size = format_of(type).size;
  const int next = (rank_ + 1) % ranks_;
  const int previous = (rank_ + ranks_ - 1) % ranks_;
  const GuardedBuffer out(count * size, variant.skewed ? kSkew : 0, allocator_);
  const GuardedBuffer in(count * size, variant.skewed ? kSkew + 2 : 0, allocator_);
  tutti_request_t receive = nullptr;
  tutti_comm_t comm = comm_;
  const auto prepare = [&] {
    const Data& now = data(type, Op::kUser);
    tile(out.data(), now.inputs[static_cast<size_t>(rank_)], size, 0, count);
    tile(in.data(), now.inputs[static_cast<size_t>(rank_)], size, 5, count);
    // Posted before the send, so that a blocking send of any size must come to an end.
    upload();
    require_ok(tutti_irecv(on_device(in.data()), count, type, previous, kTag, comm, &receive),
               title_);
    receiving_ = true;
  };
  const auto check = [&] {
    tutti_recv_info info{};
    require_ok(tutti_request_wait(receive), title_);
    receiving_ = false;
    require_ok(tutti_request_recv_info(receive, &info), title_);
    require_ok(tutti_request_free(receive), title_);
    download();
    const Bytes& theirs = data(type, Op::kUser).inputs[static_cast<size_t>(previous)];
    expect(difference(in.data(), theirs, size, 0, count), in);
    EXPECT_EQ(info.source, previous);
    EXPECT_EQ(info.tag, kTag);
    EXPECT_EQ(info.count, count);
  };
  run(TUTTI_TEST_CALL(send, on_device(out.data()), count, type, next, kTag, comm), variant.form,
      prepare, check);
}

// That nobody leaves it early is tested elsewhere; here it keeps its place among other calls.
void Collectives::barrier(const Variant& variant) {
  title_ = "barrier";
  const auto nothing = [] {};
  run(TUTTI_TEST_CALL(barrier, comm_), variant.form, nothing, nothing);
}

}  // namespace tutti_test
