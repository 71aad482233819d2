// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// libfabric's objects: the domain, which a process opens once per provider and interface, and the
// port. A port is an endpoint with its own queue of completions and table of addresses, so its
// thread shares no lock with others.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <memory>
#include <string>
#include <vector>

#include "transports/nics/connect.hpp"
#include "transports/ofi/provider.hpp"

namespace tutti::ofi {

struct Domain {
  std::shared_ptr<fi_info> info;
  std::string provider;
  std::string where;  // "tcp;ofi_rxm on eth0 (10.0.0.1)"
  Owned<fid_fabric> fabric;
  Owned<fid_domain> domain;
};

// The process's domain for this offer; made if there is none.
Result<std::shared_ptr<Domain>> open_domain(const Offer& offer);

class OfiPort final : public nics::AddressedPort {
 public:
  static Result<std::unique_ptr<OfiPort>> open(std::shared_ptr<Domain> domain, int ranks);

  [[nodiscard]] const std::string& address() const override { return address_; }
  Status insert(const std::vector<std::string>& addresses) override;

  [[nodiscard]] const std::string& where() const override { return domain_->where; }
  [[nodiscard]] size_t most_receives() const override { return domain_->info->rx_attr->size; }
  frames::PostOutcome post(frames::PortRequest& request) override;
  void cancel(frames::PortRequest& request) override;
  ptrdiff_t poll(std::span<frames::PortCompletion> ended) override;
  [[nodiscard]] Status error() const override;
  void close() override { endpoint_.reset(); }
  [[nodiscard]] bool closed() const override { return endpoint_ == nullptr; }

 private:
  explicit OfiPort(std::shared_ptr<Domain> domain) : domain_(std::move(domain)) {}
  Status read_address();
  ssize_t begin(frames::PortRequest& request);
  bool read_error(frames::PortCompletion& ended);
  [[nodiscard]] fi_addr_t peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }

  // Closed in the opposite order.
  std::shared_ptr<Domain> domain_;
  Owned<fid_av> table_;
  Owned<fid_cq> queue_;
  Owned<fid_ep> endpoint_;
  std::string address_;
  std::vector<fi_addr_t> peers_;
  ssize_t last_code_ = 0;  // code of a call that failed; 0: last_text_ is about a completion
  std::string last_text_;
};

}  // namespace tutti::ofi
