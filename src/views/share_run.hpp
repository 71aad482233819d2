// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A call in shares (views/shares.hpp), once all ranks reach the buffers of those of their hosts.
// Several pieces are under way at a time: one on the wire, others on the device.
#pragma once

#include <functional>

#include "views/peer_to_peer.hpp"
#include "views/pipeline.hpp"
#include "views/shares.hpp"

namespace tutti {

class ShareRun {
 public:
  // The addresses at which buffers of a rank of this host are mapped; this rank's are its own.
  using Base = std::function<std::byte*(int rank, Space space)>;

  ShareRun(const CallOnDevice& device_call, const Shares& shares, Base base)
      : device_call_(device_call), shares_(shares), base_(std::move(base)) {}

  Task run();

 private:
  Task run_piece(uint64_t index);
  [[nodiscard]] uint64_t turn_of_column_call(uint64_t piece) const;
  [[nodiscard]] uint64_t turn_of_barrier(uint64_t piece) const;
  [[nodiscard]] Call host_barrier() const;
  Status take_reduce_scratch();
  Status reduce(const SharePiece& piece, DeviceWork& work, std::byte* to);
  Status copy(const SharePiece& piece, DeviceWork& work, std::byte* to);
  Status write(const SharePiece& piece, DeviceWork& work, const std::byte* from);
  Status pull(const SharePiece& piece, DeviceWork& work);

  const CallOnDevice& device_call_;
  const Shares& shares_;
  const Base base_;
  BorrowedMemory reduce_scratch_;  // memory of reductions in several passes
  size_t reduce_scratch_bytes_ = 0;
  Turns turns_;  // in calls of the host
};

}  // namespace tutti
