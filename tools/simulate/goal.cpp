// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/goal.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tutti::simulate {
namespace {

std::string text_of(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kCompute: return fmt::format("calc {}", operation.amount);
    case Operation::Kind::kSend:
      return fmt::format("send {}b to {} tag {}", operation.amount, operation.peer, operation.tag);
    case Operation::Kind::kRecv:
      return fmt::format("recv {}b from {} tag {}", operation.amount, operation.peer,
                         operation.tag);
  }
  return {};
}

}  // namespace

std::string goal_of(const std::vector<std::vector<Operation>>& ranks) {
  std::string text = fmt::format("num_ranks {}\n\n", ranks.size());
  const auto out = std::back_inserter(text);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    fmt::format_to(out, "rank {} {{\n", rank);
    for (size_t i = 0; i < ranks[rank].size(); ++i) {
      const Operation& operation = ranks[rank][i];
      fmt::format_to(out, "l{}: {}\n", i + 1, text_of(operation));
      for (const Before& before : operation.before) {
        fmt::format_to(out, "l{} {} l{}\n", i + 1, before.begun ? "irequires" : "requires",
                       before.index + 1);
      }
    }
    text += "}\n\n";
  }
  return text;
}

}  // namespace tutti::simulate
