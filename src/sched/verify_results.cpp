// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Verifies that the receive buffers hold what the collective promises.
#include <fmt/format.h>

#include <algorithm>

#include "sched/verify_parts.hpp"

namespace tutti {
namespace {

class Results {
 public:
  Results(const Problems& problems, const Claim& claim, const RankMemories& memories,
          const Values& values)
      : problems_(problems),
        problem_(problems.common()),
        claim_(claim),
        memories_(memories),
        values_(values) {}

  Status check() {
    for (rank_ = 0; rank_ < problem_.ranks; ++rank_) TUTTI_RETURN_IF_ERROR(check_rank());
    return {};
  }

 private:
  Status check_rank() {
    const Problem& mine = problems_.of(rank_);
    const bool at_root = rank_ == problem_.root;
    switch (problem_.collective) {
      case Collective::kAllreduce:
        TUTTI_RETURN_IF_ERROR(check_reduced(0));
        return check_same_as_first();
      case Collective::kReduceScatter:
      case Collective::kReduceScatterv: return check_reduced(mine.send_block(rank_).offset);
      case Collective::kReduce: return at_root ? check_reduced(0) : Status();
      case Collective::kBroadcast: return check_block(mine.recv_block(0), problem_.root, 0);
      case Collective::kScatter:
      case Collective::kScatterv: return check_block_of(0, problem_.root, rank_);
      case Collective::kAllgather:
      case Collective::kAllgatherv: return check_block_of_each_rank(0);
      case Collective::kGather:
      case Collective::kGatherv: return at_root ? check_block_of_each_rank(0) : Status();
      case Collective::kAlltoall:
      case Collective::kAlltoallv: return check_block_of_each_rank(rank_);
      case Collective::kBarrier: return {};
    }
    return Status::format(Code::kUnsupported,
                          "the verifier does not know what collective {} promises",
                          static_cast<int>(problem_.collective));
  }

  // Checks all pieces of a block of the receive buffer, without gaps; `fault` gives the first
  // error.
  template <typename Check>
  Status check_pieces(const Range& block, Check check) const {
    if (block.bytes == 0) return {};
    const uint64_t offset = block.offset;
    const Location location = location_of(problems_, rank_, Ref::of(Space::kRecv, offset));
    const uint64_t end = location.begin + block.bytes;
    uint64_t at = location.begin;
    for (const Piece& piece : memories_.memory(location).pieces(location.begin, end)) {
      if (piece.begin > at) break;
      const Run run = {std::min(piece.end, end) - at, piece.index + (at - piece.begin),
                       piece.value};
      const std::string fault = check(at - location.begin, run);
      if (!fault.empty()) return ends_with(offset + (at - location.begin), fault);
      at += run.bytes;
    }
    if (at < end) return ends_with(offset + (at - location.begin), "undefined");
    return {};
  }

  Status ends_with(uint64_t offset, std::string_view what) const {
    return Status::format(Code::kInternal, "rank {} ends with recv+{} {}", rank_, offset, what);
  }

  // Block b from rank b: block `of_sender` of what that rank gives.
  Status check_block_of_each_rank(int of_sender) const {
    for (int block = 0; block < problem_.ranks; ++block) {
      TUTTI_RETURN_IF_ERROR(check_block_of(block, block, of_sender));
    }
    return {};
  }

  Status check_block_of(int block, int source, int of_sender) const {
    const Range wanted = problems_.of(rank_).recv_block(block);
    const Range given = problems_.of(source).send_block(of_sender);
    if (wanted.bytes == given.bytes) return check_block(wanted, source, given.offset);
    return Status::format(Code::kInvalidArgument, "rank {} gives {} B to rank {}, which expects {}",
                          source, given.bytes, rank_, wanted.bytes);
  }

  // Bytes first_index ... of the send buffer of `source`.
  Status check_block(const Range& block, int source, uint64_t first_index) const {
    return check_pieces(block, [&](uint64_t at, const Run& run) -> std::string {
      if (run.value == Values::of_rank(source) && run.index == first_index + at) return {};
      return fmt::format("holding byte {} of {}; expected byte {} of rank {}", run.index,
                         values_.text(run.value), first_index + at, source);
    });
  }

  // Bytes first_index ... of all send buffers, reduced.
  Status check_reduced(uint64_t first_index) const {
    return check_pieces(
        problems_.of(rank_).recv_block(0), [&](uint64_t at, const Run& run) -> std::string {
          if (run.value == kUndefined) return "undefined";
          if (run.index != first_index + at) {
            return fmt::format("holding byte {} of the send buffers; expected byte {}", run.index,
                               first_index + at);
          }
          if (const std::string fault = values_.fault_of_result(run.value); !fault.empty()) {
            return fmt::format("holding {}, which {}", values_.text(run.value), fault);
          }
          if (claim_.rank_order && !values_.in_rank_order(run.value)) {
            return fmt::format("holding {}, which is not one reduction in rank order as claimed",
                               values_.text(run.value));
          }
          return {};
        });
  }

  // Whether each element is reduced in the same association as on rank 0, which gives the same
  // bits.
  Status check_same_as_first() const {
    const Location first = location_of(problems_, 0, Ref::of(Space::kRecv, 0));
    return check_pieces(
        problems_.of(rank_).recv_block(0), [&](uint64_t at, const Run& run) -> std::string {
          const uint64_t begin = first.begin + at;
          for (const Piece& piece : memories_.memory(first).pieces(begin, begin + run.bytes)) {
            if (piece.value == run.value) continue;
            return fmt::format("holding {}, but rank 0 has {}: their bits may differ",
                               values_.text(run.value), values_.text(piece.value));
          }
          return {};
        });
  }

  const Problems& problems_;
  const Problem& problem_;
  const Claim& claim_;
  const RankMemories& memories_;
  const Values& values_;
  int rank_ = 0;
};

}  // namespace

Status check_results(const Problems& problems, const Claim& claim, const RankMemories& memories,
                     const Values& values) {
  return Results(problems, claim, memories, values).check();
}

}  // namespace tutti
