// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "error.hpp"
#include "interrupt.hpp"
#include "words.hpp"

namespace tutti_torch {
namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

Bytes random_bytes() {
  std::random_device device;
  Bytes bytes(16);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(device());
  return bytes;
}

std::string key(const char* what, int rank) {
  return std::string("tutti/") + what + "/" + std::to_string(rank);
}

// What the store holds; empty if nothing. Never blocks, as Store::get would.
Bytes look(c10d::Store& store, const std::string& name) {
  return store.check({name}) ? store.get(name) : Bytes{};
}

// How long to look, and who says that it is in vain.
struct Limits {
  std::chrono::milliseconds timeout;
  tutti_comm_t parent;  // may be null
};

// Calls `done` with growing pauses until it returns true; false when the time is over.
template <typename Done>
bool look_until(Limits limits, Done&& done) {
  const auto deadline = Clock::now() + limits.timeout;
  auto pause = std::chrono::microseconds(200);
  while (!done()) {
    if (Clock::now() >= deadline) return false;
    if (interrupted()) raise_interrupt();
    if (limits.parent != nullptr) {
      check(tutti_comm_state(limits.parent), "ccl: making the process group");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(10));
  }
  return true;
}

// What rank 0 knows about another rank.
struct Guest {
  int rank;
  Bytes answered;  // the nonce it was answered with
};

// Answers a rank's nonce if it is a new one; true once the rank has confirmed.
bool serve(c10d::Store& store, Guest& guest, const Bytes& token, const tutti_unique_id& id) {
  const Bytes nonce = look(store, key("hello", guest.rank));
  if (!nonce.empty() && nonce != guest.answered) {
    Bytes answer = nonce;
    answer.insert(answer.end(), token.begin(), token.end());
    answer.insert(answer.end(), std::begin(id.bytes), std::end(id.bytes));
    store.set(key("id", guest.rank), answer);
    guest.answered = nonce;
  }
  if (look(store, key("ack", guest.rank)) != token) return false;
  // The id holds a secret: it leaves the store when it has been read.
  for (const char* what : {"hello", "id", "ack"}) store.deleteKey(key(what, guest.rank));
  return true;
}

tutti_unique_id host(c10d::Store& store, int size, Limits limits) {
  tutti_unique_id id;
  check(tutti_get_unique_id(&id), "ccl: making a unique id");
  const Bytes token = random_bytes();
  std::vector<Guest> guests;
  for (int rank = 1; rank < size; ++rank) guests.push_back({rank, {}});
  const bool all = look_until(limits, [&] {
    std::erase_if(guests, [&](Guest& guest) { return serve(store, guest, token, id); });
    return guests.empty();
  });
  if (!all) {
    tutti_unique_id_release(&id);
    std::string missing;
    for (const Guest& guest : guests) missing = c10::str(missing, " ", guest.rank);
    C10_THROW_ERROR(DistBackendError,
                    c10::str("ccl: ", words::nobody_came(limits.timeout), ": of ", size,
                             " ranks these did not come to the store:", missing));
  }
  return id;
}

tutti_unique_id visit(c10d::Store& store, int rank, Limits limits) {
  tutti_unique_id id;
  const Bytes nonce = random_bytes();
  Bytes answer;
  store.set(key("hello", rank), nonce);
  const bool found = look_until(limits, [&] {
    answer = look(store, key("id", rank));
    return answer.size() == 2 * nonce.size() + sizeof(id.bytes) &&
           std::equal(nonce.begin(), nonce.end(), answer.begin());
  });
  if (!found) {
    C10_THROW_ERROR(DistBackendError,
                    c10::str("ccl: ", words::nobody_came(limits.timeout), ": rank ", rank,
                             " found no answer from rank 0 in the store"));
  }
  const auto token = answer.begin() + static_cast<std::ptrdiff_t>(nonce.size());
  const auto text = token + static_cast<std::ptrdiff_t>(nonce.size());
  std::copy(text, answer.end(), std::begin(id.bytes));
  store.set(key("ack", rank), Bytes(token, text));
  return id;
}

}  // namespace

tutti_unique_id agree_on_id(c10d::Store& store, int rank, int size,
                            std::chrono::milliseconds timeout, tutti_comm_t parent) {
  const Limits limits{timeout, parent};
  return rank == 0 ? host(store, size, limits) : visit(store, rank, limits);
}

}  // namespace tutti_torch
