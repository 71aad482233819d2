// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "views/peer_to_peer.hpp"

#include <algorithm>
#include <cstring>

#include "core/hash.hpp"
#include "core/log.hpp"
#include "views/share_run.hpp"
#include "views/view_queue.hpp"

namespace tutti {
namespace {

using devices::MemoryKind;

// ---- the blocks that ranks read of one another if each knows the sizes of its own only ----------

// The block that `rank` gives `peer`, or takes from it, by the layout of that buffer.
Range block_of(const Call& call, const BlockLayout& layout, Blocks blocks, int peer) {
  if (blocks == Blocks::kNone || layout.counts.empty()) return {};
  const size_t at = blocks == Blocks::kPerRank ? static_cast<size_t>(peer) : 0;
  const uint64_t size = type_size(call.type);
  return {layout.offsets[at] * size, layout.counts[at] * size};
}

Range expected_of(const Call& call, int rank, int peer) {
  const bool root_gives = facts_of(call.collective).root == Root::kSends;
  if (root_gives && peer != call.root) return {};
  return block_of(call, call.layouts->recv, blocks_of(call.collective, rank == call.root).recv,
                  peer);
}

// The block that `rank` gives `peer`, in bytes of the send buffer.
Range block_given_to(const Call& call, int rank, int peer) {
  const bool root_takes = facts_of(call.collective).root == Root::kReceives;
  if (root_takes && peer != call.root) return {};
  return block_of(call, call.layouts->send, blocks_of(call.collective, rank == call.root).send,
                  peer);
}

// Whether a peer gives this rank as many bytes as it expects.
Status check_block(const Call& call, Communicator& comm, int peer, uint64_t given_bytes) {
  const uint64_t expected = expected_of(call, comm.rank(), peer).bytes;
  if (given_bytes == expected) return {};
  const auto name = [&](int rank) { return comm.name_of(rank); };
  return Status::format(Code::kMismatch, "{} expects {} bytes of {}, which sends {} bytes",
                        name(comm.rank()), expected, name(peer), given_bytes);
}

}  // namespace

PeerToPeerCall::PeerToPeerCall(const CallOnDevice& device_call, const DeviceSide::Buffers& buffers,
                               std::string what)
    : device_call_(device_call),
      buffers_(buffers),
      what_(std::move(what)),
      own_entry_(device_call.call),
      work_(device_call.activity, &device_call.queue) {
  const Hosts* const hosts = device_call.comm.hosts();
  if (hosts == nullptr) plan_ = device_call.queue.device_plan(device_call.call);
  if (hosts != nullptr) shares_.emplace(device_call.call, *hosts, device_call.comm.rank());
}

Task PeerToPeerCall::run() {
  make_ready();
  if (own_entry_.able == Able::kYes) {  // peers may read the buffers as soon as all agree
    co_await device_call_.marker_passed;
    if (scaled_.data() != nullptr) TUTTI_OR_FAIL(scale());
    co_await work_;
  }
  Task agreed = agree();
  co_await agreed;
  if (all_able_ != Able::kYes) co_return;
  Task reached = reach();
  co_await reached;
  if (all_able_ != Able::kYes) co_return;
  reading_.emplace(device_call_.side.peer_memory());  // messages that go on meanwhile close nothing
  if (!shares_) {
    Task steps = run_steps();
    co_await steps;
    co_return;
  }
  const auto base = [this](int rank, Space space) {
    if (rank == device_call_.comm.rank()) return bases_[Ref::of(space, 0).base];
    const Space of_peer = space == Space::kSend ? Space::kPeerSend : Space::kPeerRecv;
    return bases_[Ref::of(of_peer, 0, rank).base];
  };
  ShareRun shares(device_call_, *shares_, base);
  Task run = shares.run();
  co_await run;
}

// ---- what a rank shows -------------------------------------------------------------------------

void PeerToPeerCall::make_ready() {
  const devices::DeviceFacts& facts = device_call_.side.context().facts();
  own_entry_.device = facts.uuid;
  if (facts.ipc) own_entry_.address = device_call_.side.peer_memory().address();
  if (facts.ipc && facts.uuid != devices::DeviceUuid{}) {
    const Status ready = try_to_make_ready();
    own_entry_.able = ready.ok() ? Able::kYes : Able::kNotNow;
    if (!ready.ok()) log::debug("{} is staged through the host: {}", what_, ready.message());
  }
}

Status PeerToPeerCall::try_to_make_ready() {
  if (plan_ == nullptr && !shares_) {
    return {Code::kUnsupported, "no schedule runs on devices alone"};
  }
  own_entry_.in_place = is_in_place(device_call_.call, device_call_.comm.rank()) ? 1 : 0;
  const BufferBlocks used = buffers_with_data(device_call_.call, device_call_.comm.rank());
  const bool has_none = used.send == Blocks::kNone && used.recv == Blocks::kNone;
  if (!buffers_.on_device && !has_none)
    return {Code::kUnsupported, "its buffers are memory of the host"};
  if (reduces(device_call_.call.collective)) {
    TUTTI_ASSIGN_OR_RETURN(devices::DeviceEngine * engine, device_call_.side.compute());
    TUTTI_RETURN_IF_ERROR(engine->prepare(device_call_.call.op, device_call_.call.type));
  }
  TUTTI_RETURN_IF_ERROR(take_memory());
  const void* send = device_call_.call.send;
  devices::MemoryPlace of_send = buffers_.send;
  if (scaled_.data() != nullptr) {
    send = scaled_.data();
    TUTTI_ASSIGN_OR_RETURN(of_send, device_call_.side.context().place_of(send));
  }
  TUTTI_RETURN_IF_ERROR(export_buffer(used.send != Blocks::kNone, send, of_send, own_entry_.send));
  return export_buffer(used.recv != Blocks::kNone, device_call_.call.recv, buffers_.recv,
                       own_entry_.recv);
}

Status PeerToPeerCall::take_memory() {
  const Call& call = device_call_.call;
  size_t scaled = 0;
  if (call.op == ReduceOp::kPremulSum && reduces(call.collective)) {
    scaled = elements_sent(call, device_call_.comm.ranks()) * type_size(call.type);
  }
  const Schedule none;
  const Schedule& schedule = plan_ == nullptr ? none : this->schedule();
  for (const Step& step : schedule.steps) {
    if (step.kind != StepKind::kReduce) continue;
    const uint64_t count = step.bytes / type_size(call.type);
    reduce_scratch_bytes_ =
        std::max(reduce_scratch_bytes_,
                 devices::bytes_between_passes(call.op, call.type, step.source_count, count));
  }
  const auto take = [this](size_t bytes, BorrowedMemory& taken) {
    return device_call_.side.take(device_call_.activity, bytes, taken, MemoryKind::kDevice);
  };
  TUTTI_RETURN_IF_ERROR(take(scaled, scaled_));
  TUTTI_RETURN_IF_ERROR(take(schedule.scratch_bytes, scratch_));
  return take(reduce_scratch_bytes_, reduce_scratch_);
}

Status PeerToPeerCall::export_buffer(bool is_used, const void* buffer,
                                     const devices::MemoryPlace& place, ExportedBuffer& exported) {
  if (!is_used) return {};
  if (!device_call_.side.is_of_device(place)) {
    return {Code::kUnsupported, "a buffer is not memory of the device alone"};
  }
  const Result<ExportedBuffer> made = device_call_.side.peer_memory().export_buffer(buffer, place);
  if (made.ok()) exported = *made;
  return made.status();
}

// The send buffer of a pre-multiplied sum.
Status PeerToPeerCall::scale() {
  TUTTI_ASSIGN_OR_RETURN(devices::DeviceEngine * engine, device_call_.side.compute());
  work_.begin(*engine);
  return engine->scale(device_call_.call.type, scaled_.data(), device_call_.call.send,
                       device_call_.call.binding->scalar.data(),
                       elements_sent(device_call_.call, device_call_.comm.ranks()));
}

// ---- what ranks agree on -----------------------------------------------------------------------

Task PeerToPeerCall::agree() {
  own_entry_.gone = device_call_.side.peer_memory().take_gone();
  own_entry_.opened = device_call_.side.peer_memory().generation();
  entries_.resize(static_cast<size_t>(device_call_.comm.ranks()));
  // Summaries by peer, where each is told another; else empty.
  std::vector<PeerToPeerSummary> entry_for;
  Call agreement = agreement_call(device_call_.call.collective, own_entry_, entries_);
  if (sizes_are_own(device_call_.call.collective)) {
    entry_for.assign(entries_.size(), own_entry_);
    for (size_t peer = 0; peer < entry_for.size(); ++peer) {
      entry_for[peer].block =
          block_given_to(device_call_.call, device_call_.comm.rank(), static_cast<int>(peer));
    }
    agreement.collective = Collective::kAlltoall;
    agreement.send = entry_for.data();
  }
  HostCall host_call(device_call_.activity, device_call_.comm);
  TUTTI_OR_FAIL(host_call.start(agreement));
  co_await host_call;
  TUTTI_OR_FAIL(compare(device_call_.comm, entries_));
  for (int peer = 0; peer < device_call_.comm.ranks(); ++peer) {
    TUTTI_OR_FAIL(device_call_.side.peer_memory().close(peer, entry(peer).gone));
    all_able_ = std::min(all_able_, entry(peer).able);
  }
  if (all_able_ != Able::kYes || entry_for.empty()) co_return;
  for (int peer = 0; peer < device_call_.comm.ranks(); ++peer) {
    TUTTI_OR_FAIL(check_block(device_call_.call, device_call_.comm, peer, entry(peer).block.bytes));
  }
}

// A digest of all that decides whether each rank reaches what it has to read.
uint64_t PeerToPeerCall::digest() const {
  std::vector<uint64_t> words{own_entry_.signature};
  for (const PeerToPeerSummary& one : entries_) {
    uint64_t device[2];
    static_assert(sizeof device == sizeof one.device);
    std::memcpy(device, one.device.data(), sizeof device);
    words.insert(words.end(), {device[0], device[1], one.opened, one.in_place, one.send.allocation,
                               one.send.base, one.recv.allocation, one.recv.base});
  }
  return hash_of({reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]});
}

Task PeerToPeerCall::reach() {
  bases_.assign(kPrivateSpaces + kPeerSpaces * entries_.size(), nullptr);
  auto* const send = static_cast<std::byte*>(const_cast<void*>(device_call_.call.send));
  bases_[Ref::of(Space::kSend, 0).base] = scaled_.data() != nullptr ? scaled_.data() : send;
  bases_[Ref::of(Space::kRecv, 0).base] = static_cast<std::byte*>(device_call_.call.recv);
  bases_[Ref::of(Space::kScratch, 0).base] = scratch_.data();
  Status failed;
  const std::vector<Ref> read = buffers_read();
  for (const Ref& buffer : read) {
    Task opened = open(buffer.peer(), buffer.space(), failed);
    co_await opened;
  }
  const uint64_t digest = this->digest();
  if (device_call_.queue.all_have_reached(digest)) {
    TUTTI_OR_FAIL(failed);
    co_return;
  }
  if (!failed.ok()) {
    log::warn("{}: calls on devices are staged through the host from now on: {}", what_,
              failed.message());
  }
  const uint8_t own = failed.ok() ? 1 : 0;
  uint8_t least = 0;
  Call agreement;
  agreement.collective = Collective::kAllreduce;
  agreement.op = ReduceOp::kMin;
  agreement.purpose = agreement_on(device_call_.call.collective);
  agreement.count = 1;
  agreement.send = &own;
  agreement.recv = &least;
  HostCall host_call(device_call_.activity, device_call_.comm);
  TUTTI_OR_FAIL(host_call.start(agreement));
  co_await host_call;
  if (least == 0) {
    all_able_ = Able::kNever;
  } else {
    device_call_.queue.note_that_all_reach(digest);
  }
}

// The buffers of peers that this rank reads, each once.
std::vector<Ref> PeerToPeerCall::buffers_read() const {
  std::vector<Ref> read;
  const auto note = [&](const Ref& ref) {
    if (ref.space() != Space::kPeerSend && ref.space() != Space::kPeerRecv) return;
    const Ref buffer{ref.base, 0};
    if (std::ranges::find(read, buffer) == read.end()) read.push_back(buffer);
  };
  if (shares_) {
    const bool copies_recv = device_call_.call.collective == Collective::kBroadcast;
    for (const int peer : shares_->neighbors()) {
      if (peer == device_call_.comm.rank()) continue;
      if (reduces(device_call_.call.collective)) note(Ref::of(Space::kPeerSend, 0, peer));
      const bool is_read = shares_->has_pulls() || (copies_recv && peer == shares_->copies_from());
      if (is_read || peer == shares_->writes_to()) note(Ref::of(Space::kPeerRecv, 0, peer));
    }
    return read;
  }
  if (device_call_.call.collective == Collective::kAlltoallv) {
    // Empty blocks are known pairwise only, and all are to agree on what was told to all.
    for (int peer = 0; peer < device_call_.comm.ranks(); ++peer) {
      if (peer == device_call_.comm.rank() || entry(peer).send.allocation == 0) continue;
      note(Ref::of(Space::kPeerSend, 0, peer));
    }
    return read;
  }
  for (const Step& step : schedule().steps) {
    if (step.kind == StepKind::kCopy || step.kind == StepKind::kPull) note(step.src);
  }
  for (const Ref& source : schedule().sources) note(source);
  return read;
}

Task PeerToPeerCall::open(int peer, Space space, Status& failed) {
  const PeerToPeerSummary& theirs = entry(peer);
  const bool is_send = space == Space::kPeerSend;
  const ExportedBuffer& exported = is_send ? theirs.send : theirs.recv;
  Result<std::byte*> there = Status::format(Code::kUnsupported, "{} does not reach that device",
                                            device_call_.side.context().name());
  if (device_call_.side.context().reaches(theirs.device)) {
    Task reached = device_call_.side.peer_memory().reach(device_call_.comm, peer, exported,
                                                         theirs.address, there);
    co_await reached;
  }
  if (there.ok()) {
    bases_[Ref::of(space, 0, peer).base] = *there + (is_send ? theirs.block.offset : 0);
  } else if (failed.ok()) {
    failed = there.status().with_context(
        fmt::format("the buffer of {}", device_call_.comm.name_of(peer)));
  }
}

}  // namespace tutti
