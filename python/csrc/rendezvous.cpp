// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "error.hpp"
#include "interrupt.hpp"
#include "words.hpp"

namespace tutti_torch {
namespace {

using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr size_t kNonceBytes = 16;

Bytes random_bytes() {
  std::random_device device;
  Bytes bytes(kNonceBytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(device());
  return bytes;
}

std::string key(const char* what, int rank) {
  return std::string("tutti/") + what + "/" + std::to_string(rank);
}

// Whether PyTorch says that a store in Python lacks the function in its class, or that its object
// is gone.
bool is_lacking(const std::exception& error) {
  const std::string_view text = error.what();
  return text.find("pure virtual function") != text.npos ||
         text.find("Not implemented") != text.npos || text.find("NotImplementedError") != text.npos;
}

template <typename Ask>
auto asked(const char* functions, Ask&& ask) {
  try {
    return ask();
  } catch (const std::exception& error) {
    if (!is_lacking(error)) throw;
    C10_THROW_ERROR(DistBackendError,
                    c10::str("ccl: the ranks meet through the store, which must have set, get and "
                             "check; asked for ",
                             functions,
                             " it says that it has not (the "
                             "program must keep one written in Python as long as the group): ",
                             error.what()));
  }
}

// The store, asked for nothing but set, get and check: those written in Python may have no more.
class Board {
 public:
  explicit Board(c10d::Store& store) : store_(store) {}

  // The value under that name; empty if there is none. Never blocks, as Store::get alone would.
  Bytes look(const std::string& name) {
    return asked("check and get",
                 [&] { return store_.check({name}) ? store_.get(name) : Bytes{}; });
  }
  void write(const std::string& name, const Bytes& bytes) {
    asked("set", [&] { store_.set(name, bytes); });
  }
  // Nothing of what was there is left.
  void erase(const std::string& name) {
    try {
      store_.deleteKey(name);
    } catch (const std::exception& error) {
      if (!is_lacking(error)) throw;
      write(name, Bytes(1));
    }
  }

 private:
  c10d::Store& store_;
};

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

// Another rank as rank 0 knows it.
struct Guest {
  int rank;
  Bytes answered;  // the nonce it was answered with
};

// Answers a rank's nonce if it is a new one; true once the rank has confirmed.
bool serve(Board& store, Guest& guest, const Bytes& token, const tutti_unique_id& id) {
  const Bytes nonce = store.look(key("hello", guest.rank));
  if (nonce.size() == kNonceBytes && nonce != guest.answered) {
    Bytes answer = nonce;
    answer.insert(answer.end(), token.begin(), token.end());
    answer.insert(answer.end(), std::begin(id.bytes), std::end(id.bytes));
    store.write(key("id", guest.rank), answer);
    guest.answered = nonce;
  }
  if (store.look(key("ack", guest.rank)) != token) return false;
  // The id holds a secret: it leaves the store when it has been read.
  for (const char* what : {"hello", "id", "ack"}) store.erase(key(what, guest.rank));
  return true;
}

tutti_unique_id host(Board& store, int size, Limits limits) {
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

tutti_unique_id visit(Board& store, int rank, Limits limits) {
  tutti_unique_id id;
  const Bytes nonce = random_bytes();
  Bytes answer;
  store.write(key("hello", rank), nonce);
  const bool found = look_until(limits, [&] {
    answer = store.look(key("id", rank));
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
  store.write(key("ack", rank), Bytes(token, text));
  return id;
}

}  // namespace

tutti_unique_id agree_on_id(c10d::Store& store, int rank, int size,
                            std::chrono::milliseconds timeout, tutti_comm_t parent) {
  const Limits limits{timeout, parent};
  Board board(store);
  return rank == 0 ? host(board, size, limits) : visit(board, rank, limits);
}

}  // namespace tutti_torch
