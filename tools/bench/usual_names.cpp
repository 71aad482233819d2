// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/bench/usual_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti::bench {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"bcast", "broadcast"}};
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"float", "float32"}, {"fp32", "float32"}, {"double", "float64"}, {"fp64", "float64"},
    {"half", "float16"},  {"fp16", "float16"}, {"bf16", "bfloat16"},  {"int", "int32"},
    {"long", "int64"},    {"char", "int8"},    {"byte", "uint8"}};

// Without what divides words.
std::string letters_of(std::string_view name) {
  std::string letters(name);
  std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
  return letters;
}

template <size_t N>
std::string translated(const std::pair<std::string_view, std::string_view> (&table)[N],
                       std::string_view name) {
  const auto found = std::ranges::find(table, name, [](const auto& row) { return row.first; });
  return std::string(found == std::end(table) ? name : found->second);
}

// The one below `count` that has the name.
template <typename Value, typename NameOf>
Result<Value> named(std::string_view what, std::string_view given, const std::string& name,
                    int count, NameOf name_of) {
  std::vector<std::string_view> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(name_of(static_cast<Value>(i)));
    if (names.back() == name) return static_cast<Value>(i);
  }
  return Status(Code::kInvalidArgument, fmt::format("there is no {} '{}'; expected one of {}", what,
                                                    given, fmt::join(names, ", ")));
}

}  // namespace

std::string usual_collective(std::string_view name) {
  const std::string letters = letters_of(name);
  for (int i = 0; i < tutti::kCollectives; ++i) {
    const std::string_view known = collective_name(static_cast<tutti::Collective>(i));
    if (letters_of(known) == letters) return std::string(known);
  }
  return translated(kOthers, name);
}

std::string usual_type(std::string_view name) { return translated(kTypes, name); }

Result<Collective> collective_named(std::string_view name) {
  return named<Collective>("collective", name, usual_collective(name), kCollectives,
                           collective_name);
}

Result<DataType> type_named(std::string_view name) {
  return named<DataType>("type", name, usual_type(name), kDataTypes, type_name);
}

}  // namespace tutti::bench
