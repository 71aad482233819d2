// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

#include <climits>
#include <mutex>

#include "communicator.hpp"
#include "datatype.hpp"

namespace tutti_mpi {
namespace {

// Both kinds of functions are alike but for the handle, which is an address in either.
using Copy = int (*)(void*, int, void*, void*, void*, int*);
using Delete = int (*)(void*, int, void*, void*);

struct Key {
  Keeper keeper;
  Copy copy;
  Delete erase;
  void* context;
  bool freed = false;  // by the program; attributes may still have it
};
constexpr int kFirstKey = 1000;  // beyond those that are there from the start
std::mutex keys_mutex;
std::map<int, Key> keys;  // under it; none leaves, and only `freed` of them changes
int next_key = kFirstKey;

int add_key(Keeper keeper, void* copy, void* erase, void* context) {
  const std::lock_guard lock(keys_mutex);
  keys[next_key] = {keeper, reinterpret_cast<Copy>(copy), reinterpret_cast<Delete>(erase), context};
  return next_key++;
}
Key& find_key(Keeper keeper, int number, bool even_freed = false) {
  const std::lock_guard lock(keys_mutex);
  const auto found = keys.find(number);
  expect(
      found != keys.end() && found->second.keeper == keeper && (even_freed || !found->second.freed),
      MPI_ERR_KEYVAL, "it is not a key for such objects");
  return found->second;
}
void free_key(Keeper keeper, int* number) {
  Key& key = find_key(keeper, *number);
  const std::lock_guard lock(keys_mutex);
  key.freed = true;
  *number = MPI_KEYVAL_INVALID;
}
void erase_value(const Key& key, void* object, int number, void* value) {
  if (key.erase == nullptr) return;
  const int code = key.erase(object, number, value, key.context);
  if (code != MPI_SUCCESS) fail(code, "the attribute's function failed");
}

// The attributes that communicators have from the start.
bool predefined(int key, void** value) {
  static int tag_ub = INT_MAX;
  static int yes = 1;
  static int no_host = MPI_PROC_NULL;
  static int last_code;
  static int size;
  switch (key) {
    case MPI_TAG_UB: *value = &tag_ub; return true;
    case MPI_WTIME_IS_GLOBAL: *value = &(yes = 0); return true;
    case MPI_HOST:
    case MPI_IO: *value = &no_host; return true;
    case MPI_LASTUSEDCODE: *value = &(last_code = last_used_code()); return true;
    case MPI_UNIVERSE_SIZE: *value = &(size = world.world->size); return true;
    default: return false;
  }
}

}  // namespace

void Attributes::set(Keeper keeper, void* object, int number, void* value) {
  const Key& key = find_key(keeper, number);
  const auto found = values_.find(number);
  if (found != values_.end()) erase_value(key, object, number, found->second);
  values_[number] = value;
}

bool Attributes::get(Keeper keeper, int number, void** value) const {
  if (keeper == Keeper::kComm && number < kFirstKey && number != MPI_KEYVAL_INVALID) {
    return predefined(number, value);
  }
  find_key(keeper, number);
  const auto found = values_.find(number);
  if (found == values_.end()) return false;
  *value = found->second;
  return true;
}

void Attributes::erase(Keeper keeper, void* object, int number) {
  const Key& key = find_key(keeper, number);
  const auto found = values_.find(number);
  expect(found != values_.end(), MPI_ERR_KEYVAL, "the object has no such attribute");
  erase_value(key, object, number, found->second);
  values_.erase(number);
}

// In the opposite order of setting them, as far as keys tell.
void Attributes::clear(Keeper keeper, void* object) {
  while (!values_.empty()) {
    const auto last = std::prev(values_.end());
    const auto [number, value] = *last;
    erase_value(find_key(keeper, number, true), object, number, value);
    values_.erase(number);
  }
}

void Attributes::copy_from(Keeper keeper, const Attributes& other, void* object) {
  for (const auto& [number, value] : other.values_) {
    const Key& key = find_key(keeper, number, true);
    if (key.copy == nullptr) continue;
    void* copied = value;
    int flag = 1;
    if (number_of(key.copy) != number_of(MPI_COMM_DUP_FN)) {
      copied = nullptr;
      const int code = key.copy(object, number, key.context, value, &copied, &flag);
      if (code != MPI_SUCCESS) fail(code, "the attribute's function failed");
    }
    if (flag != 0) values_[number] = copied;
  }
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

#define TUTTI_MPI_ATTRIBUTES(Handle, keeper, Copy, Delete, Create, Free, Set, Get, Erase)   \
  TUTTI_MPI_DO(Create, (Copy * copy, Delete * erase, int* key, void* context),              \
               *key = add_key(keeper, reinterpret_cast<void*>(copy),                        \
                              reinterpret_cast<void*>(erase), context))                     \
  TUTTI_MPI_DO(Free, (int* key), free_key(keeper, key))                                     \
  TUTTI_MPI_DO(Set, (Handle object, int key, void* value),                                  \
               find(object).attributes.set(keeper, object, key, value))                     \
  TUTTI_MPI_DO(                                                                             \
      Get, (Handle object, int key, void* value, int* flag),                                \
      *flag = find(object).attributes.get(keeper, key, static_cast<void**>(value)) ? 1 : 0) \
  TUTTI_MPI_DO(Erase, (Handle object, int key), find(object).attributes.erase(keeper, object, key))
TUTTI_MPI_ATTRIBUTES(MPI_Comm, Keeper::kComm, MPI_Comm_copy_attr_function,
                     MPI_Comm_delete_attr_function, Comm_create_keyval, Comm_free_keyval,
                     Comm_set_attr, Comm_get_attr, Comm_delete_attr)
TUTTI_MPI_ATTRIBUTES(MPI_Datatype, Keeper::kType, MPI_Type_copy_attr_function,
                     MPI_Type_delete_attr_function, Type_create_keyval, Type_free_keyval,
                     Type_set_attr, Type_get_attr, Type_delete_attr)
// The names of MPI-1.
TUTTI_MPI_ATTRIBUTES(MPI_Comm, Keeper::kComm, MPI_Copy_function, MPI_Delete_function, Keyval_create,
                     Keyval_free, Attr_put, Attr_get, Attr_delete)
