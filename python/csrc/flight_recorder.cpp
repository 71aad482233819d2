// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "flight_recorder.hpp"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <torch/csrc/distributed/c10d/FlightRecorderDetail.hpp>

#include "observation.hpp"

namespace tutti_torch {
namespace {

// An event as PyTorch's recorder asks for it, at the beginning or the end of an operation. It may
// ask after the operation is gone, so these stay; the newest operation of a place is the one that
// counts.
class Event {
 public:
  void await(size_t operation) {
    happened_ = false;
    operation_ = operation;
  }
  void happen(size_t operation) {
    if (operation_ == operation) happened_ = true;
  }
  bool query() const { return happened_; }

 private:
  std::atomic<size_t> operation_ = 0;
  std::atomic<bool> happened_ = false;
};

}  // namespace
}  // namespace tutti_torch

template <>
float c10d::getDurationFromEvent<tutti_torch::Event>(tutti_torch::Event&, tutti_torch::Event&) {
  return 0;  // never asked for
}

namespace tutti_torch {
namespace {

using Recorder = c10d::FlightRecorder<Event>;

int entries() {
  return c10d::getCvarInt({"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}, 0);
}

// The analyser knows operations by the names that they have in PyTorch's own backends.
const char* name_of(c10d::OpType type) {
  using c10d::OpType;
  switch (type) {
    case OpType::BROADCAST: return "broadcast";
    case OpType::ALLREDUCE: return "all_reduce";
    case OpType::ALLREDUCE_COALESCED: return "allreduce_coalesced";
    case OpType::REDUCE: return "reduce";
    case OpType::ALLGATHER: return "all_gather";
    case OpType::_ALLGATHER_BASE: return "_all_gather_base";
    case OpType::ALLGATHER_COALESCED: return "all_gather_into_tensor_coalesced";
    case OpType::GATHER: return "gather";
    case OpType::SCATTER: return "scatter";
    case OpType::REDUCE_SCATTER: return "reduce_scatter";
    case OpType::_REDUCE_SCATTER_BASE: return "_reduce_scatter_base";
    case OpType::REDUCE_SCATTER_TENSOR_COALESCED: return "reduce_scatter_tensor_coalesced";
    case OpType::ALLTOALL:
    case OpType::ALLTOALL_BASE: return "all_to_all";
    case OpType::BARRIER: return "barrier";
    case OpType::SEND: return "send";
    case OpType::RECV:
    case OpType::RECVANYSOURCE: return "recv";
    default: return nullptr;
  }
}

constexpr const char* kFrom = "<-";

// The flight recorder knows backends by name, and refuses others; xccl is oneCCL's in PyTorch.
std::string profiling_name(const Call& call, const char* name) {
  const int own = call.stream.rank;
  std::string text = std::string("xccl:") + name;
  const bool sends = call.kind.type == c10d::OpType::SEND;
  if (call.peer && sends) text += c10::str(" ", own, "->", *call.peer);
  if (call.peer && !sends) text += c10::str(" ", own, kFrom, *call.peer);
  return text;
}

std::vector<uint64_t> ranks_of(const Stream& stream) {
  std::vector<uint64_t> ranks(stream.global_ranks.begin(), stream.global_ranks.end());
  for (int rank = 0; stream.global_ranks.empty() && rank < stream.size; ++rank) {
    ranks.push_back(static_cast<uint64_t>(rank));
  }
  return ranks;
}

// Beside PyTorch's recorder: what its entries point to, and the thread.
struct Tape {
  explicit Tape(size_t entries) : ends(entries), thread([this] { watch(); }) {
    begin.happen(0);
    Recorder::get()->record_accelerator_version(c10::str("tutti ", tutti_version_string()));
  }
  void watch() {
    std::unique_lock lock(mutex);
    while (!stopped && !Communicator::any_broken()) {
      changed.wait_for(lock, std::chrono::milliseconds(200));
    }
    lock.unlock();
    if (!stopped) FlightRecorder::failed();
  }

  std::vector<Event> ends;
  Event begin;                // of all: an operation has begun when it is written down
  std::atomic<int> rank = 0;  // in the job
  std::atomic<size_t> messages = 0;
  std::mutex order;                // of entries
  std::atomic<bool> told = false;  // of a failure
  const Owner owner;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stopped = false;
  std::thread thread;
};

// Null before the first operation. Never destroyed: operations may end while the process exits.
std::atomic<Tape*> there = nullptr;
Tape& tape() {
  static Tape* const instance = [] {
    auto* made = new Tape(static_cast<size_t>(entries()));
    there = made;
    return made;
  }();
  return *instance;
}

}  // namespace

const bool FlightRecorder::kOn = entries() > 0;

FlightRecorder::Entry FlightRecorder::record(const Call& call,
                                             const std::vector<at::Tensor>& inputs,
                                             const std::vector<at::Tensor>& outputs) {
  const char* name = name_of(call.kind.type);
  if (name == nullptr) return std::nullopt;
  Tape& here = tape();
  Recorder& recorder = *Recorder::get();
  const Stream& stream = call.stream;
  const auto own = static_cast<size_t>(stream.rank);
  here.rank = stream.global_ranks.empty() ? stream.rank : stream.global_ranks[own];
  const auto group = std::make_tuple(stream.group, call.description);
  recorder.record_pg_ranks(group, ranks_of(stream));
  const bool message = call.peer.has_value();
  auto timeout = call.timeout;
  if (timeout.count() < 0) timeout = stream.communicator->default_timeout();
  std::lock_guard guard(here.order);
  Event& end = here.ends[recorder.next_];
  end.await(recorder.id_);
  return recorder.record(std::hash<std::string>{}(stream.group) % 1000000, group, call.sequence,
                         message ? ++here.messages : 0, call.sequence, profiling_name(call, name),
                         inputs, outputs, &here.begin, &end, timeout,
                         std::make_shared<c10d::ProcessGroupStatus>(), message);
}

void FlightRecorder::retire(size_t entry) {
  Tape& here = tape();
  here.ends[entry % here.ends.size()].happen(entry);
  Recorder::get()->retire_id(entry, /*compute_duration=*/false);
}

void FlightRecorder::came_from(Entry entry, int source) {
  if (!entry) return;
  Recorder& recorder = *Recorder::get();
  std::lock_guard guard(recorder.mutex_);
  auto& kept = recorder.entries_[*entry % recorder.max_entries_];
  if (kept.id_ != *entry) return;  // it had to make room
  std::string& name = kept.profiling_name_;
  name.replace(name.find(kFrom) + std::strlen(kFrom), std::string::npos, std::to_string(source));
}

std::string FlightRecorder::dump() {
  if (!on()) {
    C10_THROW_ERROR(ValueError,
                    "tutti: the flight recorder is off; set TORCH_FR_BUFFER_SIZE to "
                    "the number of operations to keep before the program starts");
  }
  Communicator::look_at_all();
  c10d::DebugInfoWriter& writer = c10d::DebugInfoWriter::getWriter(tape().rank);
  writer.write(Recorder::get()->dump(std::nullopt, /*includeCollectives=*/true,
                                     /*includeStackTraces=*/true, /*onlyActive=*/false));
  return writer.getWriterTarget();
}

void FlightRecorder::failed() {
  if (!tape().owner.here() || tape().told.exchange(true)) return;
  try {
    dump();
  } catch (const std::exception& error) {
    LOG(WARNING) << "tutti: the flight recorder's entries were not written: " << error.what();
  }
}

void FlightRecorder::stop() {
  Tape* const here = there;
  if (here == nullptr || !here->owner.here()) return;
  {
    std::lock_guard guard(here->mutex);
    here->stopped = true;
  }
  here->changed.notify_all();
  if (here->thread.joinable()) here->thread.join();
  if (Communicator::any_broken()) failed();
}

}  // namespace tutti_torch
