// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/collectives.hpp"

#include <algorithm>

#include "tools/bench/usual_names.hpp"

namespace tutti::bench {

namespace {

// The three forms of tutti_<name>; the arguments are those before the communicator.
#define TUTTI_FORMS(name, ...)                                                   \
  [](const Call& c) { return tutti_##name(__VA_ARGS__ __VA_OPT__(, ) c.comm); }, \
      [](const Call& c, tutti_request_t* r) {                                    \
        return tutti_i##name(__VA_ARGS__ __VA_OPT__(, ) c.comm, r);              \
      },                                                                         \
      [](const Call& c, tutti_request_t* r) {                                    \
        return tutti_##name##_init(__VA_ARGS__ __VA_OPT__(, ) c.comm, r);        \
      }

double all_but_own(double ranks) { return (ranks - 1) / ranks; }
double twice_all_but_own(double ranks) { return 2 * (ranks - 1) / ranks; }
double once(double) { return 1; }

// Both directions at once: to the next rank, from the one before.
tutti_status exchange_with_neighbours(const Call& c) {
  const int next = (c.rank + 1) % c.ranks;
  const int previous = (c.rank + c.ranks - 1) % c.ranks;
  return tutti_sendrecv(c.send, c.count, next, 0, c.recv, c.count, previous, 0, c.type, c.comm,
                        nullptr);
}

const Collective kTable[] = {
    {"allreduce", true, true, Blocks::kOne, Blocks::kOne, Outcome::kReduced, twice_all_but_own,
     TUTTI_FORMS(allreduce, c.send, c.recv, c.count, c.type, c.op)},
    {"broadcast", false, false, Blocks::kNone, Blocks::kOne, Outcome::kFromRoot, once,
     TUTTI_FORMS(broadcast, c.recv, c.count, c.type, c.root)},
    {"reduce", true, true, Blocks::kOne, Blocks::kOne, Outcome::kReducedAtRoot, once,
     TUTTI_FORMS(reduce, c.send, c.recv, c.count, c.type, c.op, c.root)},
    {"allgather", false, true, Blocks::kOne, Blocks::kAll, Outcome::kFromAll, all_but_own,
     TUTTI_FORMS(allgather, c.send, c.recv, c.count, c.type)},
    {"reduce_scatter", true, true, Blocks::kAll, Blocks::kOne, Outcome::kReducedBlock, all_but_own,
     TUTTI_FORMS(reduce_scatter, c.send, c.recv, c.count, c.type, c.op)},
    {"alltoall", false, true, Blocks::kAll, Blocks::kAll, Outcome::kBlockFromAll, all_but_own,
     TUTTI_FORMS(alltoall, c.send, c.recv, c.count, c.type)},
    {"gather", false, true, Blocks::kOne, Blocks::kAll, Outcome::kFromAllAtRoot, all_but_own,
     TUTTI_FORMS(gather, c.send, c.recv, c.count, c.type, c.root)},
    {"scatter", false, true, Blocks::kAll, Blocks::kOne, Outcome::kBlockFromRoot, all_but_own,
     TUTTI_FORMS(scatter, c.send, c.recv, c.count, c.type, c.root)},
    {"allgatherv", false, true, Blocks::kOne, Blocks::kAll, Outcome::kFromAll, all_but_own,
     TUTTI_FORMS(allgatherv, c.send, c.recv, c.counts, nullptr, c.type)},
    {"reduce_scatterv", true, true, Blocks::kAll, Blocks::kOne, Outcome::kReducedBlock, all_but_own,
     TUTTI_FORMS(reduce_scatterv, c.send, c.recv, c.counts, c.type, c.op)},
    {"alltoallv", false, true, Blocks::kAll, Blocks::kAll, Outcome::kBlockFromAll, all_but_own,
     TUTTI_FORMS(alltoallv, c.send, c.counts, nullptr, c.recv, c.counts, nullptr, c.type)},
    {"gatherv", false, true, Blocks::kOne, Blocks::kAll, Outcome::kFromAllAtRoot, all_but_own,
     TUTTI_FORMS(gatherv, c.send, c.count, c.recv, c.counts, nullptr, c.type, c.root)},
    {"scatterv", false, true, Blocks::kAll, Blocks::kOne, Outcome::kBlockFromRoot, all_but_own,
     TUTTI_FORMS(scatterv, c.send, c.counts, nullptr, c.recv, c.count, c.type, c.root)},
    {"barrier", false, false, Blocks::kNone, Blocks::kNone, Outcome::kNothing, once,
     TUTTI_FORMS(barrier)},
    {"sendrecv", false, false, Blocks::kOne, Blocks::kOne, Outcome::kFromPrevious, once,
     exchange_with_neighbours, nullptr, nullptr},
};

#undef TUTTI_FORMS

}  // namespace

std::span<const Collective> collectives() { return kTable; }

const Collective* find_collective(std::string_view name) {
  const auto found = std::ranges::find(kTable, usual_collective(name), &Collective::name);
  return found == std::end(kTable) ? nullptr : &*found;
}

}  // namespace tutti::bench
