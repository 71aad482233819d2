// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "named_groups.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace tutti_torch {
namespace {

using StreamPtr = std::shared_ptr<const Stream>;

// Never destroyed: threads may still come here while the process exits.
struct NamedGroups {
  std::mutex mutex;  // for the next two
  std::map<std::string, StreamPtr, std::less<>> members;
  StreamPtr default_member;
  std::atomic<uint64_t> changes = 1;  // what a thread remembers is right while this is the same
};
NamedGroups& named_groups() {
  static auto* instance = new NamedGroups;
  return *instance;
}

// The group that a thread found last.
struct Remembered {
  uint64_t changes = 0;
  std::string name;
  StreamPtr member;
};

[[noreturn]] void refuse_name(std::string_view name, const NamedGroups& known) {
  std::string list;
  for (const auto& [each, member] : known.members) {
    list += (list.empty() ? "'" : ", '") + each + "'";
  }
  const std::string there = list.empty() ? "no process group of this process is over ccl"
                                         : "the process groups over ccl are " + list;
  if (name.empty()) {
    C10_THROW_ERROR(ValueError, "tutti: the default process group is not over ccl; " + there);
  }
  C10_THROW_ERROR(ValueError,
                  "tutti: there is no process group '" + std::string(name) + "'; " + there);
}

StreamPtr find_group(std::string_view name, NamedGroups& known) {
  if (name.empty() && known.default_member) return known.default_member;
  const auto found = known.members.find(name);
  if (found == known.members.end()) refuse_name(name, known);
  return found->second;
}

}  // namespace

void name_group(const std::string& name, StreamPtr member, bool is_default) {
  NamedGroups& known = named_groups();
  std::lock_guard guard(known.mutex);
  if (is_default) known.default_member = member;
  known.members.insert_or_assign(name, std::move(member));
  known.changes.fetch_add(1, std::memory_order_release);
}

void forget_group(const Stream& member) {
  NamedGroups& known = named_groups();
  std::lock_guard guard(known.mutex);
  std::erase_if(known.members, [&](const auto& entry) { return entry.second.get() == &member; });
  if (known.default_member.get() == &member) known.default_member.reset();
  known.changes.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<Communicator> default_communicator() {
  NamedGroups& known = named_groups();
  std::lock_guard guard(known.mutex);
  return known.default_member ? known.default_member->communicator : nullptr;
}

const Stream& group_named(std::string_view name) {
  thread_local Remembered last;
  NamedGroups& known = named_groups();
  const uint64_t changes = known.changes.load(std::memory_order_acquire);
  if (last.changes == changes && last.name == name) return *last.member;
  std::lock_guard guard(known.mutex);
  last.member = find_group(name, known);
  last.name = name;
  last.changes = known.changes.load(std::memory_order_relaxed);
  return *last.member;
}

}  // namespace tutti_torch
