// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/chakra.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>

namespace tutti::simulate {
namespace {

// The three forms of fields that Chakra's schema needs (protobuf.dev, "Encoding").
class Message {
 public:
  Message& integer(uint32_t field, uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  Message& bytes(uint32_t field, std::string_view value) {
    varint((field << 3U) | 2U);
    return delimited(value);
  }
  // A message of a file: its length, and itself.
  Message& delimited(std::string_view value) {
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(0x80U | (value & 0x7fU));
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Numbers of Chakra's et_def.proto 1.0: the fields of messages, and node types.
enum MetadataField : uint32_t { kVersion = 1 };
enum NodeField : uint32_t {
  kId = 1,
  kName,
  kType,
  kControlDependency,
  kDuration = 7,
  kAttribute = 10
};
enum AttributeField : uint32_t {
  kAttributeName = 1,
  kInt32 = 7,
  kInt64 = 9,
  kUint64 = 13,
  kBool = 27
};
enum NodeType : uint32_t { kComputation = 4, kSend, kReceive };

std::string attribute(std::string_view name, AttributeField field, uint64_t value) {
  return Message().bytes(kAttributeName, name).integer(field, value).text();
}

std::string node_of(const Operation& operation, size_t id, int rank,
                    const std::set<size_t>& dependencies) {
  Message node;
  node.integer(kId, id);
  const auto add = [&node](std::string_view name, AttributeField field, uint64_t value) {
    node.bytes(kAttribute, attribute(name, field, value));
  };
  const auto add_message = [&](NodeType type, uint64_t source, uint64_t destination) {
    node.integer(kType, type);
    add("comm_src", kInt32, source);
    add("comm_dst", kInt32, destination);
    add("comm_size", kInt64, operation.amount);
    add("comm_tag", kInt32, operation.tag);
  };
  const auto self = static_cast<uint64_t>(rank);
  const auto peer = static_cast<uint64_t>(operation.peer);
  switch (operation.kind) {
    case Operation::Kind::kCompute:
      node.bytes(kName, fmt::format("compute {} ns", operation.amount));
      node.integer(kType, kComputation);
      node.integer(kDuration, (operation.amount + 500) / 1000);
      add("num_ops", kInt64, operation.amount);
      add("tensor_size", kUint64, operation.amount);
      break;
    case Operation::Kind::kSend:
      node.bytes(kName, fmt::format("send {} bytes to {}", operation.amount, peer));
      add_message(kSend, self, peer);
      break;
    case Operation::Kind::kRecv:
      node.bytes(kName, fmt::format("receive {} bytes from {}", operation.amount, peer));
      add_message(kReceive, peer, self);
      break;
  }
  add("is_cpu_op", kBool, 0);
  for (const size_t dependency : dependencies) node.integer(kControlDependency, dependency);
  return node.text();
}

}  // namespace

std::string chakra_of(const std::vector<Operation>& operations, int rank) {
  Message file;
  file.delimited(Message().bytes(kVersion, "1.0.0").text());
  std::vector<std::set<size_t>> dependencies(operations.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    for (const Before& before : operations[i].before) {
      if (before.begun) {
        dependencies[i].insert(dependencies[before.index].begin(),
                               dependencies[before.index].end());
      } else {
        dependencies[i].insert(before.index);
      }
    }
    file.delimited(node_of(operations[i], i, rank, dependencies[i]));
  }
  return file.text();
}

}  // namespace tutti::simulate
