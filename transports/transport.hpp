// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The contract of a transport. A transport joins the ranks of one communicator. It carries messages
// through endpoints; what it can do besides (shared windows) is asked for. To add one, write
// transports/<name>/ and add TUTTI_TRANSPORT(<name>) to registry.inc; the conformance suite in
// tests/transports/ then runs over it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/distance.hpp"
#include "core/exchange.hpp"
#include "core/status.hpp"
#include "core/wait.hpp"

namespace tutti {

inline constexpr int kAnySource = -1;

// What a message is matched by. A receive takes the oldest message from its source for which
// (message.tag & mask) == (tag & mask).
using Tag = uint64_t;
inline constexpr Tag kExactTag = ~Tag{0};

// The life of one send or receive; owned by the caller, who must keep it (and the buffer) in place
// until done or cancelled.
struct Transfer {
  bool done = false;
  Status status;       // once done. kTruncated: the message was longer; the first `bytes` arrived
  uint64_t bytes = 0;  // received
  int source = -1;     // of a receive: once a message has met it
  Tag tag = 0;         // of the message received
  void* internal = nullptr;           // the endpoint's
  class Endpoint* carrier = nullptr;  // which of several joined ones has it; theirs
};

// Carries messages between this rank and all others (itself included). Used by one thread at a
// time. No call blocks: transfers progress inside poll().
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // Any number of transfers may be under way. A message of up to eager_bytes() completes at the
  // sender as soon as there is room for it, whether or not a receive is posted.
  virtual void send(int peer, Tag tag, const void* source, uint64_t bytes, Transfer& transfer) = 0;
  virtual void recv(int peer, Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) = 0;
  // Begins a receive from any source if a message that it takes has come already, the oldest of
  // them; else returns false, and nothing is posted.
  virtual bool recv_if_here(Tag tag, Tag mask, void* dst, uint64_t bytes, Transfer& transfer) = 0;
  // Moves data, completes transfers; returns whether anything moved.
  virtual bool poll() = 0;
  // The same, but leaves off once `wanted` is done: what came behind it stays where it is, and need
  // not be put aside.
  virtual bool poll_for(const Transfer& wanted) = 0;
  // Forgets a transfer that is not done; its buffer is not touched afterwards. The peer's transfer
  // may then never complete: for use when the communicator is broken or a receive is given up.
  virtual void cancel(Transfer& transfer) = 0;
  [[nodiscard]] virtual uint64_t eager_bytes() const = 0;
  // Tells the peers that no more transfers begin here; none is under way. Theirs that wait for this
  // rank then end with an error, after all that it sent. `last_words`, of at most kMaxNoteBytes,
  // are for them to look at, over a network.
  virtual void leave(std::span<const std::byte> /*last_words*/) {}
  // What `peer` has left with; empty until it has.
  [[nodiscard]] virtual std::span<const std::byte> last_words_of(int /*peer*/) const { return {}; }
  // Whether `peer` has said so, and all that it sent is here.
  [[nodiscard]] virtual bool has_left(int /*peer*/) const { return false; }
  // Whether what arrives rings this rank's bell. Where not, a thread that waits for it polls again
  // every fraction of a millisecond.
  [[nodiscard]] virtual bool rings() const { return true; }
};

// ---- shared windows ----------------------------------------------------------------------------

// What a rank says when it enters a call, in one number so that it can be read at any time.
struct CallEntry {
  uint32_t call;   // its number on this lane
  uint32_t chain;  // of the signatures of all calls up to it
};

// A rank's entry into a call: written by the rank, read by all. A rank has kCallLines of them and
// uses them in turn. Lines lie apart, because processors fetch lines in pairs.
struct alignas(2 * kCacheLine) CallLine {
  std::atomic<CallEntry> entry;  // the payload precedes it
  std::byte payload[56];
};
static_assert(sizeof(CallLine) == 2 * kCacheLine && std::atomic<CallEntry>::is_always_lock_free);

inline constexpr uint32_t kCallLines = 64;

// How far a rank is: a count of ticks over all calls of the lane.
struct alignas(kCacheLine) Progress {
  std::atomic<uint32_t> tick;
};

// Not zero once the rank makes no more calls.
struct alignas(kCacheLine) Departure {
  std::atomic<uint32_t> left;
};

// What a call looked like, for error texts.
struct CallRecord {
  uint64_t sequence;  // the communicator's count of calls
  uint64_t count;
  int32_t root;
  uint8_t collective;
  uint8_t type;
  uint8_t op;
  uint8_t marked;  // see CountMarks in exec/call.hpp; 0: `marks` says nothing
  uint64_t marks;
};
// Written before each call line, of which each has its record, and read only on an error.
struct alignas(kCacheLine) RecordLine {
  CallRecord record;
};

// Sizes that all ranks agree on.
struct WindowSizes {
  uint64_t slot_bytes = 0;  // of each slot
  uint64_t window_bytes = 0;
  uint64_t traded_bytes = 0;  // of the traded slot, if that is more
};

// One lane's shared memory: every rank's lines and staging, at addresses of this process.
class Window {
 public:
  struct Rank {
    CallLine* calls;      // kCallLines
    RecordLine* records;  // kCallLines
    Progress* progress;
    Departure* departure;
    // Null until they are mapped, which happens for those of all ranks at once.
    std::byte* slots[2];
    std::byte* traded;  // a slot that another rank writes when its turn has come
    std::byte* staging;
  };
  // Always the same ones.
  [[nodiscard]] virtual std::span<const Rank> ranks() const = 0;
  [[nodiscard]] virtual WindowSizes sizes() const = 0;
  // Map the staging or the slots of all ranks, which the transport leaves out until it is needed.
  // Local; any number of times.
  virtual Status map_staging() { return {}; }
  virtual Status map_slots() { return {}; }
  // Gets the memory of this rank's staging, which is mapped: call before first writing there, so
  // that a lack of memory is an error and not a SIGBUS.
  virtual Status reserve_staging() { return {}; }
  // The same for the first `bytes` of each of this rank's slots.
  virtual Status reserve_slots(uint64_t /*bytes*/) { return {}; }
  // The same for the traded slots of all ranks, which it maps first.
  virtual Status reserve_traded(uint64_t /*bytes*/) { return {}; }
  // Whether an address of the process of `rank` (this one included) is in memory that it got from
  // Transport::allocate_shared(). All ranks come to the same answer; and if it is yes for some
  // address of each of them, all can view() all of these.
  [[nodiscard]] virtual bool is_shared(int /*rank*/, uint64_t /*address*/) const { return false; }
  // Where this process reads what lies at such an address of a peer; null if it is not shared, or
  // if this rank has never called allocate_shared().
  [[nodiscard]] virtual const std::byte* view(int /*rank*/, uint64_t /*address*/,
                                              uint64_t /*bytes*/) const {
    return nullptr;
  }
  // Copies from an address of the process of `rank`; only if Transport::can_pull().
  virtual Status pull(int rank, void* dst, uint64_t address, uint64_t bytes) = 0;
  // For what pull() could not copy: asks `rank` for it, to be called again, with the same
  // arguments, until it returns true. Needs `rank` to call hand_over() meanwhile. One such copy at
  // a time.
  virtual Result<bool> ask_for(int rank, void* dst, uint64_t address, uint64_t bytes) = 0;
  // Gives peers what they ask for, anything that this process can read; returns whether any did.
  virtual bool hand_over() = 0;
  virtual ~Window() = default;
};

// Where a communicator's ranks on one host find one another besides messages; see comm/health.hpp
// for who writes what.
struct alignas(kCacheLine) SharedState {
  std::atomic<uint32_t> stop;        // non-zero: the communicator is broken; the cause is written
  std::atomic<uint32_t> cause_lock;  // taken by the first to report
  uint32_t cause_code;               // a tutti_status
  uint32_t cause_rank;               // who reported it
  char cause_text[1008];             // NUL-terminated
};

// Where ranks of one host that are left after a failure agree on who they are; comm/regroup.hpp
// says who writes what. Each rank has one.
struct alignas(2 * kCacheLine) RegroupSign {
  static constexpr size_t kMaxBytes = 160;
  std::atomic<uint32_t> round;  // that it takes part in
  std::atomic<uint32_t> taken;  // the last one that was decided to have it
  uint32_t bytes[2];            // of its part in even and odd rounds
  std::byte part[2][kMaxBytes];
};
// The decision of each round. `decider` is the round in the high half, 1 + the rank that decides in
// the low one.
struct alignas(2 * kCacheLine) RegroupDecision {
  std::atomic<uint64_t> decider;
  std::atomic<uint32_t> round;  // the last that was decided
};
struct RegroupBoard {
  RegroupDecision* decision = nullptr;
  std::span<RegroupSign> signs;  // by rank
};

struct PeerProcess {
  int pid = 0;      // in this process's pid namespace; 0 if it cannot be seen from here
  int pidfd = -1;   // readable when the process has ended; owned by the transport; -1 if none
  int own_pid = 0;  // what it calls itself: for texts, as what follows (transports/names.hpp)
  std::string host;
  std::string group = {};  // of a communicator of some of the job's ranks, its name
  int global_rank = -1;    // and the rank's number in the job
};

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Endpoint `channel` talks to endpoint `channel` of the peers. Local; each channel opened once.
  virtual Result<std::unique_ptr<Endpoint>> open_endpoint(int channel) = 0;

  // Shared windows of lane `lane`, or null if the ranks share no memory. Local.
  virtual Result<std::unique_ptr<Window>> open_window(int lane) = 0;
  // Whether ranks can read one another's memory: the same on all.
  [[nodiscard]] virtual bool can_pull() const { return false; }
  // Memory for buffers of this rank which its peers can view: zeroed, present, aligned to huge
  // pages (2 MiB) from one of them on, and to pages below. Null if there is none to be had. It goes
  // with the transport. One thread at a time.
  virtual void* allocate_shared(uint64_t /*bytes*/) { return nullptr; }
  // Whether there can ever be any, on all ranks alike.
  [[nodiscard]] virtual bool can_view() const { return false; }
  virtual void free_shared(void* /*memory*/) {}
  // Null if the ranks share no memory.
  virtual SharedState* shared_state() = 0;
  // Empty if they share none.
  virtual RegroupBoard regroup_board() { return {}; }

  // The bell of a rank in this process's reach (this rank's own always is), and the group's count
  // of sleepers. Every publish and every message must be followed by notify().
  virtual Bell* bell(int rank) = 0;
  virtual Sleepers* sleepers() = 0;
  // Wakes whoever sleeps. Cheap when nobody does.
  virtual void notify() = 0;

  [[nodiscard]] virtual const PeerProcess& process(int rank) const = 0;

  // The communicator has failed for this reason: a peer may be gone, so nothing shall wait for one
  // any more. From any thread, any number of times.
  virtual void has_failed(Code /*why*/) {}
};

// The network interfaces that a rank uses side by side: CCL_MNIC.
struct NicSet {
  enum class Which : uint8_t { kOne, kLocal, kGlobal };  // kLocal: those near its cores
  Which which = Which::kOne;
  // Beginnings of the names of those that may be used, separated by commas; with ^ before it: of
  // those that may not. They count for one as well as for several.
  std::string names = {};
  uint32_t most = 64;
};

struct TransportConfig {
  int lanes = 1;                 // windows
  int channels = 2;              // endpoints
  WindowSizes sizes;             // agreed on by all ranks beforehand, as is:
  bool pulls = true;             // whether to find out if ranks can read one another's memory
  int64_t deadline_ms = kNever;  // for connecting
  std::string label;             // of the communicator, for errors
  // What the ranks that meet here are called in texts and as sources of messages, if they are some
  // of a communicator's; empty: as they are.
  std::vector<int> numbers = {};
  // By rank of the communicator: its number in the job; empty: the communicator is all of that.
  std::vector<int> global_ranks = {};
  // Of networks: the provider to use, and interfaces, best first, separated by commas; empty: the
  // best there are.
  std::string provider = {};
  std::string interfaces = {};
  bool limits_providers = false;  // the user has, by libfabric's own variable
  NicSet nics = {};
  Staging staging = Staging::kAuto;  // of ranks that share memory
  bool crowded = false;              // they share cores as well
};

enum class Reach {
  kHost,     // ranks on one host that have proved that they share it
  kNetwork,  // any ranks
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

}  // namespace tutti
