// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Every collective on device buffers against the reference of support/elements.hpp: all types and
// operations; the forms, in place or not, aligned or not, by turns.
#include "views/on_views.hpp"

namespace tutti_test {
namespace {

constexpr size_t kCounts[] = {0, 1, 7, 1000};
// In pieces: more than kStagedPieceBytes of any type.
constexpr size_t kLong = (5 << 20) + 3;

// Each form, in place or not, aligned or not: by turns, as the hosts' conformance has all of them.
Variant variant(int turn) {
  const int forms = static_cast<int>(std::size(kForms));
  const int which = turn / forms;
  return {kForms[turn % forms], which % 2 == 0, which / 2 % 2 == 0};
}

template <typename Body>
void for_counts(const Body& body) {
  int turn = 0;
  for (int type = 0; type < kTypes; ++type) {
    for (const size_t count : kCounts) body(static_cast<tutti_type>(type), count, variant(turn++));
  }
}

template <typename Body>
void for_operations(const Body& body) {
  int turn = 0;
  for_counts([&](tutti_type type, size_t count, const Variant& /*variant*/) {
    for (const Op op : kOps) {
      if (op_applies(op, type)) body(type, op, count, variant(turn++));
    }
  });
}

class ViewConformance : public Views {
 protected:
  void on_ranks(const std::function<void(Collectives&)>& body) const {
    for (const int ranks : {1, 2, 4}) {
      on_views(ranks, [&](const OnView& on) {
        Collectives collectives(on.rank, on.view);
        body(collectives);
      });
    }
  }
};

TEST_P(ViewConformance, ReductionsGiveTheReference) {
  on_ranks([](Collectives& on) {
    int root = 0;
    for_operations([&](tutti_type type, Op op, size_t count, const Variant& variant) {
      root = (root + 1) % on.ranks();
      on.allreduce(type, op, count, variant);
      on.reduce_scatter(type, op, count, variant);
      on.reduce(type, op, count, root, variant);
      on.reduce_scatterv(type, op, count, variant);
    });
  });
}

TEST_P(ViewConformance, MovesGiveTheReference) {
  on_ranks([](Collectives& on) {
    for_counts([&](tutti_type type, size_t count, const Variant& variant) {
      on.allgather(type, count, variant);
      on.allgatherv(type, count, variant);
      on.barrier(variant);
      on.alltoall(type, count, variant);
      on.alltoallv(type, count, variant);
      if (!variant.in_place) on.send_recv(type, count, variant);
    });
  });
}

TEST_P(ViewConformance, RootedMovesGiveTheReferenceAtEveryRoot) {
  on_ranks([](Collectives& on) {
    for_counts([&](tutti_type type, size_t count, const Variant& variant) {
      for (int root = 0; root < on.ranks(); ++root) {
        on.gather(type, count, root, variant);
        on.scatter(type, count, root, variant);
        on.gatherv(type, count, root, variant);
        on.scatterv(type, count, root, variant);
        if (!variant.in_place) on.broadcast(type, count, root, variant);
      }
    });
  });
}

TEST_P(ViewConformance, LongCallsInPiecesGiveTheReference) {
  on_views(2, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    int turn = 0;
    for (const Form form : kForms) {
      const Variant variant{form, turn % 2 == 0, turn % 2 != 0};
      ++turn;
      on.allreduce(TUTTI_INT32, Op::kSum, kLong, variant);
      on.allreduce(TUTTI_BFLOAT16, Op::kAvg, kLong, variant);
      on.reduce_scatter(TUTTI_INT8, Op::kMax, kLong, variant);
      on.allgather(TUTTI_INT16, kLong, variant);
      on.reduce(TUTTI_INT8, Op::kSum, kLong, 1, variant);
      on.gather(TUTTI_INT8, kLong, 0, variant);
      on.scatter(TUTTI_INT8, kLong, 1, variant);
      on.alltoall(TUTTI_INT8, kLong, variant);
      if (!variant.in_place) on.broadcast(TUTTI_INT16, kLong, 1, variant);
    }
  });
}

TEST_P(ViewConformance, GroupsGiveTheReference) {
  on_views(3, [](const OnView& view) {
    Collectives on(view.rank, view.view);
    for (const Form form : {Form::kBlocking, Form::kNonBlocking}) {
      const Variant variant{form, false, false};
      ASSERT_OK(tutti_group_start());
      on.in_group([&] {
        on.in_group([&] {
          on.in_group([] { ASSERT_OK(tutti_group_end()); });
          on.send_recv(TUTTI_INT64, 500, variant);
        });
        on.allgatherv(TUTTI_INT8, 333, variant);
      });
      on.allreduce(TUTTI_FLOAT32, Op::kSum, 1000, variant);
    }
  });
}

TUTTI_FOR_EVERY_API(ViewConformance);

}  // namespace
}  // namespace tutti_test
