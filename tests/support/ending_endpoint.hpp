// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// An endpoint to nobody: each transfer ends where it begins.
#pragma once

#include "transports/transport.hpp"

namespace tutti {

class EndingEndpoint : public Endpoint {
 public:
  void send(int, Tag, const void*, uint64_t, Transfer& transfer) final { end(transfer); }
  void recv(int, Tag, Tag, void*, uint64_t, Transfer& transfer) final { end(transfer); }
  bool recv_if_here(Tag, Tag, void*, uint64_t, Transfer&) final { return false; }
  bool poll() final { return false; }
  bool poll_for(const Transfer&) final { return false; }
  void cancel(Transfer&) final {}
  [[nodiscard]] uint64_t eager_bytes() const final { return 0; }

 protected:
  virtual void end(Transfer& transfer) { transfer.done = true; }
};

}  // namespace tutti
