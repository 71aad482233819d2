// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The collectives of tutti.h whose blocks differ in size, each in three forms.
#include <algorithm>
#include <optional>

#include "api/calls.hpp"

namespace tutti {
namespace {

// One of the two buffers of a call, as the arguments describe it.
struct Side {
  std::string_view name;
  const void* buffer;
  const size_t* counts;
  const size_t* displs;  // null: one block after the other
  int blocks;            // 0: this rank does not use the buffer
};

// The ends of the last blocks of both buffers, in elements.
struct Ends {
  uint64_t send = 0;
  uint64_t recv = 0;
};

// A thread's last call. Calls in a row often have the same layouts: then they are compared, not
// copied, and no other owner of them is counted.
struct Recent {
  Call call;
  Ends ends;
  size_t element_bytes = 0;  // the largest with which its layouts were checked; 0: it has none
  // A call that has not ended uses it: a completion function may make another.
  bool in_use = false;
};
thread_local Recent recent;

// A call in the making: arguments are read and checked one buffer at a time.
class UnevenCall {
 public:
  UnevenCall(std::string_view function, tutti_comm_t comm)
      : function_(function), comm_(comm), recent_(recent.in_use ? own_.emplace() : recent) {
    recent_.in_use = true;
  }
  ~UnevenCall() { recent_.in_use = false; }
  UnevenCall(const UnevenCall&) = delete;
  UnevenCall& operator=(const UnevenCall&) = delete;

  Status begin(Collective collective, const void* send, void* recv, tutti_type type) {
    // Does what base_call() does, but keeps the layouts and copies no call, which costs a small
    // call less.
    call_.collective = collective;
    call_.type = static_cast<DataType>(type);
    call_.op = ReduceOp::kSum;
    call_.root = -1;
    call_.count = 0;
    call_.send = send;
    call_.recv = recv;
    call_.binding.reset();
    return check_but_buffers(function_, comm_, type, call_);
  }
  Status begin(Collective collective, const void* send, void* recv, tutti_type type, int root) {
    TUTTI_RETURN_IF_ERROR(check_root(function_, comm_, root));
    TUTTI_RETURN_IF_ERROR(begin(collective, send, recv, type));
    call_.root = root;
    return {};
  }
  Status reduce_with(tutti_op op) { return bind(function_, op, call_); }

  // Each call has both sides.
  Status send_side(const size_t* counts, const size_t* displs, int blocks) {
    return read({"send", call_.send, counts, displs, blocks}, &BlockLayouts::send, &Ends::send);
  }
  Status recv_side(const size_t* counts, const size_t* displs, int blocks) {
    return read({"recv", call_.recv, counts, displs, blocks}, &BlockLayouts::recv, &Ends::recv);
  }

  // Both sides of a rank's block for itself are known here.
  [[nodiscard]] Status check_own(size_t given, size_t expected) const {
    if (given == expected) return {};
    return Status::format(Code::kInvalidArgument,
                          "{}: rank {} gives itself {} elements, but expects {}", function_, rank(),
                          given, expected);
  }

  // For a collective in which every rank knows the sizes of all blocks.
  void set_count(const BlockLayout& layout) {
    call_.count = *std::max_element(layout.counts.begin(), layout.counts.end());
  }
  [[nodiscard]] const BlockLayouts& layouts() const {
    return fresh_ != nullptr ? *fresh_ : *call_.layouts;
  }
  [[nodiscard]] int rank() const { return comm_->inside->rank(); }
  [[nodiscard]] int ranks() const { return comm_->inside->ranks(); }
  [[nodiscard]] bool at_root() const { return call_.root == rank(); }

  // After all else: looks where the buffers lie, and runs or starts the call. It stays as it is
  // until this ends.
  template <typename Then>
  [[gnu::always_inline]] Status make(Then&& then) {
    if (fresh_ != nullptr) {
      call_.layouts = std::move(fresh_);
      recent_.ends = fresh_ends_;
      recent_.element_bytes = type_size(call_.type);
    }
    const uint64_t size = type_size(call_.type);
    const bool may =
        may_overlap(call_.send, recent_.ends.send * size, call_.recv, recent_.ends.recv * size);
    if (may || !is_low(call_.send) || !is_low(call_.recv)) [[unlikely]] {
      TUTTI_RETURN_IF_ERROR(check_buffers(function_, call_, *comm_->inside));
    }
    return then(call_);
  }

 private:
  Status read(const Side& side, BlockLayout BlockLayouts::*layout, uint64_t Ends::*end) {
    if (is_known(side, layout)) [[likely]]
      return {};
    return read_anew(side, layout, end);
  }

  [[nodiscard]] bool is_known(const Side& side, BlockLayout BlockLayouts::*layout) const {
    if (type_size(call_.type) > recent_.element_bytes) return false;
    const BlockLayout& known = (*call_.layouts).*layout;
    if (known.counts.size() != static_cast<size_t>(side.blocks)) return false;
    if (side.blocks > 0 && (side.counts == nullptr || side.buffer == nullptr)) return false;
    uint64_t next = 0;
    for (size_t i = 0; i < known.counts.size(); ++i) {
      const uint64_t offset = side.displs != nullptr ? side.displs[i] : next;
      if (side.counts[i] != known.counts[i] || offset != known.offsets[i]) return false;
      next = offset + known.counts[i];
    }
    return true;
  }

  [[gnu::noinline]] Status read_anew(const Side& side, BlockLayout BlockLayouts::*which,
                                     uint64_t Ends::*end) {
    if (fresh_ == nullptr) {
      fresh_ends_ = recent_.ends;
      fresh_ = recent_.element_bytes > 0 ? std::make_shared<BlockLayouts>(*call_.layouts)
                                         : std::make_shared<BlockLayouts>();
    }
    BlockLayout& layout = (*fresh_).*which;
    layout = {};
    fresh_ends_.*end = 0;
    if (side.blocks == 0) return {};
    if (side.counts == nullptr) {
      return Status::format(Code::kInvalidArgument, "{}: {}_counts is NULL", function_, side.name);
    }
    const uint64_t most = kMostBytes / type_size(call_.type);
    layout.counts.reserve(static_cast<size_t>(side.blocks));
    layout.offsets.reserve(static_cast<size_t>(side.blocks));
    uint64_t next = 0;
    uint64_t elements = 0;
    for (int i = 0; i < side.blocks; ++i) {
      const uint64_t count = side.counts[i];
      const uint64_t offset = side.displs != nullptr ? side.displs[i] : next;
      if (count > most || offset > most - count) {
        return Status::format(Code::kInvalidArgument,
                              "{}: {} elements at {} of {} do not fit into an address space",
                              function_, count, offset, side.name);
      }
      layout.counts.push_back(count);
      layout.offsets.push_back(offset);
      next = offset + count;
      elements = std::max(elements, count);
      if (count > 0) fresh_ends_.*end = std::max(fresh_ends_.*end, next);
    }
    if (side.displs != nullptr && which == &BlockLayouts::recv) {
      TUTTI_RETURN_IF_ERROR(check_disjoint(function_, layout));
    }
    if (side.buffer != nullptr || elements == 0) return {};
    return Status::format(Code::kInvalidArgument, "{}: {} is NULL, and a count is {}", function_,
                          side.name, elements);
  }

  std::string_view function_;
  tutti_comm_t comm_;
  std::optional<Recent> own_;
  Recent& recent_;
  Call& call_ = recent_.call;
  std::shared_ptr<BlockLayouts> fresh_;  // null: as in the last call, as far as read
  Ends fresh_ends_;                      // ends of `fresh_`
};

template <typename Then>
tutti_status allgatherv(const void* send, void* recv, const size_t* recv_counts,
                        const size_t* recv_displs, tutti_type type, tutti_comm_t comm,
                        Then&& then) {
  return guard([&]() -> Status {
    UnevenCall call("tutti_allgatherv", comm);
    TUTTI_RETURN_IF_ERROR(call.begin(Collective::kAllgatherv, send, recv, type));
    TUTTI_RETURN_IF_ERROR(call.recv_side(recv_counts, recv_displs, call.ranks()));
    TUTTI_RETURN_IF_ERROR(call.send_side(recv_counts + call.rank(), nullptr, 1));
    call.set_count(call.layouts().recv);
    return call.make(then);
  });
}

template <typename Then>
tutti_status reduce_scatterv(const void* send, void* recv, const size_t* recv_counts,
                             tutti_type type, tutti_op op, tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    UnevenCall call("tutti_reduce_scatterv", comm);
    TUTTI_RETURN_IF_ERROR(call.begin(Collective::kReduceScatterv, send, recv, type));
    TUTTI_RETURN_IF_ERROR(call.reduce_with(op));
    if (recv_counts == nullptr) {
      return {Code::kInvalidArgument, "tutti_reduce_scatterv: recv_counts is NULL"};
    }
    TUTTI_RETURN_IF_ERROR(call.send_side(recv_counts, nullptr, call.ranks()));
    TUTTI_RETURN_IF_ERROR(call.recv_side(recv_counts + call.rank(), nullptr, 1));
    call.set_count(call.layouts().send);
    return call.make(then);
  });
}

template <typename Then>
tutti_status alltoallv(const void* send, const size_t* send_counts, const size_t* send_displs,
                       void* recv, const size_t* recv_counts, const size_t* recv_displs,
                       tutti_type type, tutti_comm_t comm, Then&& then) {
  return guard([&]() -> Status {
    UnevenCall call("tutti_alltoallv", comm);
    TUTTI_RETURN_IF_ERROR(call.begin(Collective::kAlltoallv, send, recv, type));
    TUTTI_RETURN_IF_ERROR(call.send_side(send_counts, send_displs, call.ranks()));
    TUTTI_RETURN_IF_ERROR(call.recv_side(recv_counts, recv_displs, call.ranks()));
    TUTTI_RETURN_IF_ERROR(call.check_own(send_counts[call.rank()], recv_counts[call.rank()]));
    return call.make(then);
  });
}

template <typename Then>
tutti_status gatherv(const void* send, size_t send_count, void* recv, const size_t* recv_counts,
                     const size_t* recv_displs, tutti_type type, int root, tutti_comm_t comm,
                     Then&& then) {
  return guard([&]() -> Status {
    UnevenCall call("tutti_gatherv", comm);
    TUTTI_RETURN_IF_ERROR(call.begin(Collective::kGatherv, send, recv, type, root));
    TUTTI_RETURN_IF_ERROR(call.send_side(&send_count, nullptr, 1));
    const int blocks = call.at_root() ? call.ranks() : 0;
    TUTTI_RETURN_IF_ERROR(call.recv_side(recv_counts, recv_displs, blocks));
    if (blocks > 0) TUTTI_RETURN_IF_ERROR(call.check_own(send_count, recv_counts[root]));
    return call.make(then);
  });
}

template <typename Then>
tutti_status scatterv(const void* send, const size_t* send_counts, const size_t* send_displs,
                      void* recv, size_t recv_count, tutti_type type, int root, tutti_comm_t comm,
                      Then&& then) {
  return guard([&]() -> Status {
    UnevenCall call("tutti_scatterv", comm);
    TUTTI_RETURN_IF_ERROR(call.begin(Collective::kScatterv, send, recv, type, root));
    TUTTI_RETURN_IF_ERROR(call.recv_side(&recv_count, nullptr, 1));
    const int blocks = call.at_root() ? call.ranks() : 0;
    TUTTI_RETURN_IF_ERROR(call.send_side(send_counts, send_displs, blocks));
    if (blocks > 0) TUTTI_RETURN_IF_ERROR(call.check_own(send_counts[root], recv_count));
    return call.make(then);
  });
}

}  // namespace
}  // namespace tutti

extern "C" {

TUTTI_CALLS(allgatherv,
            (const void* send, void* recv, const size_t* recv_counts, const size_t* recv_displs,
             tutti_type type, tutti_comm_t comm),
            (send, recv, recv_counts, recv_displs, type, comm))
TUTTI_CALLS(reduce_scatterv,
            (const void* send, void* recv, const size_t* recv_counts, tutti_type type, tutti_op op,
             tutti_comm_t comm),
            (send, recv, recv_counts, type, op, comm))
TUTTI_CALLS(alltoallv,
            (const void* send, const size_t* send_counts, const size_t* send_displs, void* recv,
             const size_t* recv_counts, const size_t* recv_displs, tutti_type type,
             tutti_comm_t comm),
            (send, send_counts, send_displs, recv, recv_counts, recv_displs, type, comm))
TUTTI_CALLS(gatherv,
            (const void* send, size_t send_count, void* recv, const size_t* recv_counts,
             const size_t* recv_displs, tutti_type type, int root, tutti_comm_t comm),
            (send, send_count, recv, recv_counts, recv_displs, type, root, comm))
TUTTI_CALLS(scatterv,
            (const void* send, const size_t* send_counts, const size_t* send_displs, void* recv,
             size_t recv_count, tutti_type type, int root, tutti_comm_t comm),
            (send, send_counts, send_displs, recv, recv_count, type, root, comm))

}  // extern "C"
