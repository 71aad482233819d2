// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The inside of the loopback network: what lies between two ranks, and libfabric's objects, which
// are structs that begin with tables of functions, as far as ours have more in them.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "support/loopback.hpp"
#include "transports/ofi/library.hpp"

namespace tutti_test::loopback {

struct Network;
struct DataConnection;

struct Label {
  bool tagged = false;
  uint64_t tag = 0;
};

struct Receive {
  Label label;
  std::byte* memory = nullptr;
  size_t room = 0;
  void* context = nullptr;
};

struct Message {
  size_t source = 0;
  Label label;
  const std::byte* data = nullptr;
  size_t bytes = 0;
  std::vector<std::byte> copy;  // where the send was said to be complete at once
  void* context = nullptr;      // of a send that is not complete
  uint64_t due = 0;             // in looks of the receiver
  std::optional<Receive> place;
  size_t moved = 0;
};

struct Done {
  void* context = nullptr;
  size_t bytes = 0;
  int error = 0;
};

struct CompletionQueue : fid_cq {
  Network* network = nullptr;
  DataConnection* wire = nullptr;
  std::deque<Done> done;
};

// An endpoint. Its address is its number.
struct DataConnection : fid_ep {
  Network* network = nullptr;
  size_t number = 0;
  size_t nic = 0;
  CompletionQueue* queue = nullptr;
  std::list<Receive> posted;
  std::list<Message> coming;
  uint64_t looks = 0;
  size_t sending = 0;
  bool cut = false;
  int next_fails = 0;  // the error of its next send
  std::thread::id opener = std::this_thread::get_id();
};

struct Domain : fid_domain {
  Network* network = nullptr;
  size_t nic = 0;
};

struct Network {
  explicit Network(const Weather& given) : weather(given), random(given.seed) {
    counts.bytes.resize(given.nics);
  }

  // Up to `most`.
  uint64_t draw(uint64_t most) { return std::uniform_int_distribution<uint64_t>(0, most)(random); }
  bool refuses(const DataConnection& wire);
  ssize_t send(DataConnection& wire, const void* data, size_t bytes, fi_addr_t to, Label label,
               void* context);
  ssize_t post(DataConnection& wire, const Receive& receive);
  void cancel(DataConnection& wire, void* context);
  void look(DataConnection& wire);
  void close(DataConnection& wire);
  void cut(DataConnection& wire);

  const Weather weather;
  std::mutex mutex;
  std::mt19937_64 random;
  std::vector<DataConnection*> wires;  // null: closed
  size_t cut_wire = SIZE_MAX;
  uint64_t sends_before_cut = 0;
  Loopback::Counts counts;

 private:
  void end_send(Message& message, int error);
  void end_receive(DataConnection& wire, const Message& message, int error);
  std::optional<Receive> take_posted(DataConnection& wire, const Label& label);
  bool move(DataConnection& wire, Message& message, uint64_t most);
  void lose(DataConnection& wire, Message& message);
};

// What the process finds in the place of libfabric; its objects are of this network.
const tutti::Result<tutti::ofi::Library>& library_over(Network* network);

}  // namespace tutti_test::loopback
