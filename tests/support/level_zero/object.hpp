// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What all objects of the test driver have in common: which of them live is known, so that a stale
// handle is refused and a leak is reported.
#pragma once

#include <level_zero/ze_api.h>

#include <string>

namespace tutti_test::ze {

class Object {
 public:
  explicit Object(const char* kind);
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  const char* kind() const { return kind_; }

 private:
  const char* kind_;
};

// Whether it was made and not yet destroyed.
bool is_live(const Object* object);
// Of this kind; all kinds without one.
int live_objects(const char* kind);
// Lines "kind count" of all that live.
std::string list_live_objects();

// What a call is refused by; entry.hpp makes the call's result of it.
struct Refusal {
  ze_result_t code;
  std::string why;
};

inline void require(bool holds, ze_result_t code, const char* otherwise) {
  if (!holds) throw Refusal{code, otherwise};
}

// Something that no call reports, but that is wrong: told on stderr, and counted.
void complain(const std::string& what);
int complaints();

}  // namespace tutti_test::ze
