// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/bench/session.hpp"

namespace tutti::bench {
namespace {

Result<std::vector<const Collective*>> chosen_collectives(const Wanted& wanted) {
  std::vector<const Collective*> chosen;
  for (const std::string& name : wanted.collectives) {
    if (name == "all") {
      for (const Collective& each : collectives()) chosen.push_back(&each);
    } else if (const Collective* found = find_collective(name)) {
      chosen.push_back(found);
    } else {
      std::string known = "all";
      for (const Collective& each : collectives()) known += fmt::format(", {}", each.name);
      return Status::format(Code::kInvalidArgument, "COLLECTIVE is '{}', expected one of: {}", name,
                            known);
    }
  }
  return chosen;
}

std::vector<uint64_t> chosen_sizes(const Wanted& wanted) {
  if (!wanted.sizes.empty()) return wanted.sizes;
  std::vector<uint64_t> sizes;
  const auto factor = static_cast<uint64_t>(wanted.factor);
  for (uint64_t size = wanted.min_bytes; size <= wanted.max_bytes; size *= factor) {
    sizes.push_back(size);
    if (size == 0 || size > wanted.max_bytes / factor) break;
  }
  return sizes;
}

// Whole elements, at least one unless nothing was asked for.
size_t count_for(uint64_t size, tutti_type type) {
  return size == 0 ? 0 : std::max<size_t>(1, size / tutti_type_size(type));
}

// The counts of elements for the sizes, each once.
std::vector<size_t> chosen_counts(const std::vector<uint64_t>& sizes, tutti_type type) {
  std::vector<size_t> counts;
  for (const uint64_t size : sizes) {
    const size_t count = count_for(size, type);
    if (std::ranges::find(counts, count) == counts.end()) counts.push_back(count);
  }
  return counts;
}

}  // namespace

Result<std::vector<Case>> chosen_cases(const Wanted& wanted) {
  TUTTI_ASSIGN_OR_RETURN(auto types, numbers_of(wanted.types, kDataTypes, name_of_type, "--types"));
  TUTTI_ASSIGN_OR_RETURN(auto ops, numbers_of(wanted.ops, kBuiltinReduceOps, name_of_op, "--ops"));
  TUTTI_ASSIGN_OR_RETURN(auto chosen, chosen_collectives(wanted));
  if (wanted.sizes.empty() && wanted.min_bytes > wanted.max_bytes) {
    return Status::format(Code::kInvalidArgument, "--min is {}, expected at most --max, {}",
                          wanted.min_bytes, wanted.max_bytes);
  }
  const std::vector<uint64_t> sizes = chosen_sizes(wanted);
  std::vector<Case> cases;
  for (const Collective* collective : chosen) {
    if (collective->outcome == Outcome::kNothing) {
      cases.push_back({collective, TUTTI_UINT8, ReduceOp::kSum, 0});
      continue;
    }
    for (const auto& [type, op] : pairs_of(types, ops, collective->reduces)) {
      for (const size_t count : chosen_counts(sizes, type)) {
        cases.push_back({collective, type, op, count});
      }
    }
  }
  if (cases.empty())
    return Status(Code::kInvalidArgument, "no type given supports any operation given");
  return cases;
}

bool same_table(const Case& a, const Case& b) {
  return a.collective == b.collective && a.type == b.type && a.op == b.op;
}

std::vector<std::string> notes_on_sizes(const Wanted& wanted, std::span<const Case> cases) {
  std::vector<std::string> notes;
  std::vector<tutti_type> seen;
  for (const Case& each : cases) {
    if (each.collective->outcome == Outcome::kNothing) continue;
    if (std::ranges::find(seen, each.type) != seen.end()) continue;
    seen.push_back(each.type);
    for (const uint64_t size : chosen_sizes(wanted)) {
      const uint64_t measured = count_for(size, each.type) * tutti_type_size(each.type);
      if (measured == size) continue;
      notes.push_back(
          fmt::format("{} bytes are no whole number of elements of {}: measured are {} bytes", size,
                      tutti_type_name(each.type), measured));
    }
  }
  return notes;
}

}  // namespace tutti::bench
