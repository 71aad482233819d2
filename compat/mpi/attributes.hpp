// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Attributes that programs attach to communicators and types, under keys of their own.
#pragma once

#include <map>

#include "api.hpp"

namespace tutti_mpi {

enum class Keeper { kComm, kType };

class Attributes {
 public:
  // `object` is the handle of whose attributes they are. All may call the program.
  void set(Keeper keeper, void* object, int key, void* value);
  bool get(Keeper keeper, int key, void** value) const;
  void erase(Keeper keeper, void* object, int key);
  void clear(Keeper keeper, void* object);
  void copy_from(Keeper keeper, const Attributes& other, void* object);

 private:
  std::map<int, void*> values_;
};

}  // namespace tutti_mpi
