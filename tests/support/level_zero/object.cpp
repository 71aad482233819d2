// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "support/level_zero/object.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_set>

namespace tutti_test::ze {

namespace {

// Never destroyed: threads of queues may run until the process ends.
struct Live {
  std::mutex mutex;
  std::unordered_set<const Object*> objects;
};

Live& live() {
  static auto* const all = new Live;
  return *all;
}

std::atomic<int> complaint_count{0};

}  // namespace

Object::Object(const char* kind) : kind_(kind) {
  const std::lock_guard lock(live().mutex);
  live().objects.insert(this);
}

Object::~Object() {
  const std::lock_guard lock(live().mutex);
  live().objects.erase(this);
}

bool is_live(const Object* object) {
  const std::lock_guard lock(live().mutex);
  return live().objects.count(object) != 0;
}

int live_objects(const char* kind) {
  const std::lock_guard lock(live().mutex);
  int count = 0;
  for (const Object* object : live().objects) {
    count += *object->kind() != '\0' && (!kind || std::strcmp(kind, object->kind()) == 0);
  }
  return count;
}

std::string list_live_objects() {
  const std::lock_guard lock(live().mutex);
  std::map<std::string, int> counts;
  for (const Object* object : live().objects) counts[object->kind()]++;
  counts.erase("");  // those that live as long as the driver
  std::string lines;
  for (const auto& [kind, count] : counts) lines += kind + " " + std::to_string(count) + "\n";
  return lines;
}

void complain(const std::string& what) {
  complaint_count++;
  std::fprintf(stderr, "level zero test driver: %s\n", what.c_str());
}

int complaints() { return complaint_count; }

}  // namespace tutti_test::ze
