// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A collective on a view that devices run: they copy and reduce, and read the buffers of peers
// where they lie. Ranks tell one another three things by calls of the host. The first is where
// their buffers lie. The second is whether each reaches what it has to read, unless all did so last
// time. The third is each tick of the schedule.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "views/agreement.hpp"
#include "views/device_side.hpp"
#include "views/device_work.hpp"
#include "views/host_work.hpp"
#include "views/shares.hpp"

namespace tutti {

// A collective, and what runs it. All outlive what refers to it.
struct CallOnDevice {
  Communicator& comm;
  ViewQueue& queue;
  DeviceSide& side;
  Activity& activity;
  const Call& call;
  Awaited& marker_passed;  // passed once what the application enqueued before is done
};

class PeerToPeerCall {
 public:
  // `buffers`: what DeviceSide::find() said of them. `what` names the call in texts.
  PeerToPeerCall(const CallOnDevice& device_call, const DeviceSide::Buffers& buffers,
                 std::string what);

  Task run();
  // Whether devices can run a call. A rank tells the others what it is able to; the least decides.
  enum class Able : uint32_t {
    kNever,   // neither this call nor any to come
    kNotNow,  // not this call
    kYes,
  };
  // What all ranks are able to, once run() has ended. Unless that is kYes, nothing was done, and
  // the call is to pass through memory of the host.
  [[nodiscard]] Able able() const { return all_able_; }

 private:
  struct PeerToPeerSummary : CallSummary {
    using CallSummary::CallSummary;
    Able able = Able::kNever;
    uint32_t in_place = 0;
    devices::DeviceUuid device{};
    uint64_t opened = 0;  // PeerMemory::generation()
    GoneAllocations gone{};
    FdAddress address;  // where peers ask for descriptors of handles
    ExportedBuffer send;
    ExportedBuffer recv;
    Range block{};  // range for the rank that is told this, where each knows its own sizes only
  };

  void make_ready();
  Status try_to_make_ready();
  Status take_memory();
  Status export_buffer(bool is_used, const void* buffer, const devices::MemoryPlace& place,
                       ExportedBuffer& exported);
  Status scale();
  Task agree();
  Task reach();
  [[nodiscard]] std::vector<Ref> buffers_read() const;
  Task open(int peer, Space space, Status& failed);
  [[nodiscard]] uint64_t digest() const;
  Task run_steps();
  Status give(const Step& step, devices::DeviceEngine& engine);
  Result<devices::DeviceEngine*> engine_for(const Step& step);

  [[nodiscard]] const Schedule& schedule() const { return plan_->scheduled()->schedule; }
  [[nodiscard]] const PeerToPeerSummary& entry(int peer) const {
    return entries_[static_cast<size_t>(peer)];
  }
  [[nodiscard]] std::byte* address(const Ref& ref) const { return bases_[ref.base] + ref.offset; }

  const CallOnDevice device_call_;
  const DeviceSide::Buffers buffers_;
  const std::string what_;
  // The plan of one host, or the shares of several; null: no schedule runs on devices alone.
  std::shared_ptr<const Plan> plan_;
  std::optional<Shares> shares_;
  Able all_able_ = Able::kYes;
  PeerToPeerSummary own_entry_;
  std::vector<PeerToPeerSummary> entries_;
  std::vector<std::byte*> bases_;  // addresses by Ref::base
  // Memory that peers read instead of the send buffer, if there is any.
  BorrowedMemory scaled_;
  BorrowedMemory scratch_;         // scratch memory of the schedule
  BorrowedMemory reduce_scratch_;  // memory of reductions in several passes
  size_t reduce_scratch_bytes_ = 0;
  std::optional<PeerMemory::Reading> reading_;
  DeviceWork work_;
};

}  // namespace tutti
