// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The contract of a transport. A transport joins the ranks of one communicator. It carries messages
// through endpoints (endpoint.hpp), and ranks of one host may share memory besides
// (shared_memory.hpp). After a failure it helps all to stop and some to go on (recovery.hpp). To
// add one, write transports/<name>/ and add TUTTI_TRANSPORT(<name>) to registry.inc; the
// conformance suite in tests/transports/ then runs over it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapt/distance.hpp"
#include "core/exchange.hpp"
#include "core/status.hpp"
#include "core/wait.hpp"
#include "transports/endpoint.hpp"
#include "transports/notes.hpp"
#include "transports/recovery.hpp"
#include "transports/shared_memory.hpp"

namespace tutti {

struct PeerProcess {
  int pid = 0;     // in this process's pid namespace; 0 if it cannot be seen from here
  int pidfd = -1;  // readable when the process has ended; owned by the transport; -1 if none
  // Number that it calls itself: for texts, as all from here on (transports/names.hpp).
  int own_pid = 0;
  std::string host;
  std::string group = {};  // name of the communicator, if it has some of the job's ranks only
  int global_rank = -1;    // rank's number in the job
};

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual const PeerProcess& process(int rank) const = 0;

  // Endpoint `channel` talks to endpoint `channel` of the peers. Local; each channel opened once.
  virtual Result<std::unique_ptr<Endpoint>> open_endpoint(int channel) = 0;
  // Null if the ranks do not all share memory.
  virtual SharedMemory* shared_memory() { return nullptr; }
  virtual Recovery& recovery() = 0;
  // The part that is mapped from the start, which others may look at; empty if they share none.
  [[nodiscard]] virtual std::span<const std::byte> mapped_memory() const { return {}; }
  // The notes of a rank of this host on what it waits for, of lane `lane`; null if they share none.
  virtual Notes* notes(int /*rank*/, int /*lane*/) { return nullptr; }

  // The bell of a rank in this process's reach (this rank's own always is), and the group's count
  // of sleepers. Every publish and every message must be followed by notify().
  virtual Bell* bell(int rank) = 0;
  virtual Sleepers* sleepers() = 0;
  // Wakes whoever sleeps. Cheap when nobody does.
  virtual void notify() = 0;
};

// The network interfaces that a rank uses side by side: CCL_MNIC.
struct NicSet {
  enum class Which : uint8_t { kOne, kLocal, kGlobal };  // kLocal: those near its cores
  Which which = Which::kOne;
  // The interfaces that may be used (InterfaceList), whatever `which` says.
  std::string names = {};
  uint32_t most = 64;
};

// The configuration of ranks that share memory.
struct SharedMemoryConfig {
  LaneMemorySizes sizes;  // agreed on by all ranks beforehand, as is:
  bool pulls = true;      // whether to find out if ranks can read one another's memory
  StoreTarget store_target = StoreTarget::kAuto;
  bool oversubscribed = false;  // they are more than the cores that they may use
};

// The configuration of networks.
struct NetworkConfig {
  // The provider to use, and interfaces (InterfaceList); empty: the best there are.
  std::string provider = {};
  std::string interfaces = {};
  bool limits_providers = false;  // the user has, by libfabric's own variable
  bool encrypt = false;           // encryption, equal on all ranks
  NicSet nics = {};
};

struct TransportConfig {
  int lanes = 1;                 // number of lane memories
  int channels = 2;              // number of endpoints
  int64_t deadline_ms = kNever;  // deadline of connecting
  std::string label;             // name of the communicator, for errors
  std::string job = {};          // the job's name: for observers from outside, as all from here on
  uint64_t key = 0;              // of the communicator, equal on all ranks
  uint64_t inquiries = 0;        // socket by which others ask this process (comm/inquiries.hpp)
  int all_ranks = 0;             // ranks of the communicator; 0: those that meet here
  // The numbers of these ranks in texts and as sources of messages, if they are some of a
  // communicator's; empty: their own.
  std::vector<int> numbers = {};
  // The number of each rank in the job, by its rank of the communicator; empty: the communicator
  // has all ranks of the job.
  std::vector<int> global_ranks = {};
  SharedMemoryConfig shared = {};
  NetworkConfig network = {};
};

enum class Reach {
  kHost,     // ranks on one host that have proved that they share it
  kNetwork,  // endpoints between any ranks
};

struct TransportKind {
  std::string_view name;
  std::string_view summary;
  Reach reach;
  // Whether this process can use it at all; why not otherwise. May take a while: ask where it
  // counts.
  Status (*available)();
  // Collective over exchange.
  Result<std::unique_ptr<Transport>> (*connect)(Exchange& exchange, const TransportConfig& config);
  // Whether it is a good choice here where the user names none (CCL_ATL_TRANSPORT); null: yes.
  bool (*suits)(const TransportConfig& config) = nullptr;
};

// All, in the order of registry.inc, which is the order of preference.
std::span<const TransportKind* const> transport_kinds();
// The transport of ranks that share a host.
const TransportKind& host_kind();

}  // namespace tutti
