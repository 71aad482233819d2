// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Allreduce up and down two binary trees (Sanders, Speck & Traeff, Parallel Computing 2009), half
// of the message each, in segments of s bytes. Any number of ranks; adds by subtrees. T =
// (floor(log2 p) + n/2s - 1) (5 alpha + 4s beta + 3s gamma), between hosts 4 alpha. That is 2n beta
// in all, with latency that grows with log2 p where ring's grows with p.
#include "algorithms/cost.hpp"
#include "algorithms/double_tree.hpp"

namespace tutti {
namespace {

double seconds(const Problem& q, const Machine& m) {
  const uint64_t half = (q.bytes() + 1) / 2;
  const int segments = std::max(1, parts_of_at_most(half, kSegmentBytes));
  const uint64_t segment = std::min(half, kSegmentBytes);
  const int steps = double_tree_depth(q.ranks) + segments - 1;
  // Messages of two children or to them, and one of the other tree meanwhile.
  const double step = messages_s(2, segment, m) + m.message_s / 2;
  return steps * (2 * step + combine_s(3 * segment, m)) + buffers_s(q, m);
}

// This rank's part: it is inside of one tree, and a leaf of the other, if not of both.
class DoubleTree {
 public:
  DoubleTree(const Problem& q, Builder& b)
      : q_(q), b_(b), trees_{BinaryTree(q, false), BinaryTree(q, true)} {
    inside_ = trees_[0].children.empty() ? 1 : 0;
    for (const int tree : {0, 1}) halves_[tree] = segments_of(half_of(q.bytes(), tree));
  }

  // The root of each tree has the result of its half then.
  void reduce_up() {
    std::vector<Places> places;
    for (size_t i = 0; i < inside().children.size(); ++i) {
      places.emplace_back(b_, std::min(q_.bytes(), kSegmentBytes));
    }
    for_each_pair([&](const Range* own, const Range* leaf) {
      if (leaf != nullptr) b_.send(trees_[1 - inside_].parent, send_at(leaf->offset), leaf->bytes);
      if (own == nullptr) return;
      std::vector<Ref> sources = {send_at(own->offset)};
      for (size_t i = 0; i < inside().children.size(); ++i) {
        sources.push_back(places[i].next());
        b_.recv(inside().children[i], sources.back(), own->bytes);
      }
      const bool is_root = inside().parent < 0;
      if (sources.size() == 1) return b_.send(inside().parent, sources[0], own->bytes);
      b_.reduce(recv_at(own->offset), sources, own->bytes, is_root);
      if (!is_root) b_.send(inside().parent, recv_at(own->offset), own->bytes);
    });
  }

  void broadcast_down() {
    for_each_pair([&](const Range* own, const Range* leaf) {
      if (own != nullptr) {
        if (inside().parent >= 0) b_.recv(inside().parent, recv_at(own->offset), own->bytes);
        for (const int child : inside().children) b_.send(child, recv_at(own->offset), own->bytes);
      }
      if (leaf != nullptr) b_.recv(trees_[1 - inside_].parent, recv_at(leaf->offset), leaf->bytes);
    });
  }

 private:
  [[nodiscard]] const BinaryTree& inside() const { return trees_[inside_]; }

  // Calls visit(segment of the tree that this rank is inside of, segment of the other) in order;
  // null where a half has fewer.
  template <typename Visit>
  void for_each_pair(Visit visit) {
    const std::vector<Range>& own = halves_[inside_];
    const std::vector<Range>& leaf = halves_[1 - inside_];
    for (size_t i = 0; i < std::max(own.size(), leaf.size()); ++i) {
      visit(i < own.size() ? &own[i] : nullptr, i < leaf.size() ? &leaf[i] : nullptr);
    }
  }

  const Problem& q_;
  Builder& b_;
  BinaryTree trees_[2];
  std::vector<Range> halves_[2];
  int inside_ = 0;
};

void build(const Problem& q, Builder& b) {
  DoubleTree trees(q, b);
  trees.reduce_up();
  b.fence();  // sent data is about to be overwritten
  trees.broadcast_down();
}

}  // namespace

const Algorithm allreduce_double_tree = {
    .name = "double_tree",
    .summary = "messages up and down two binary trees, segmented",
    .collective = Collective::kAllreduce,
    .rank_order = false,
    .applies = always,
    .seconds = seconds,
    .build = build};

}  // namespace tutti
