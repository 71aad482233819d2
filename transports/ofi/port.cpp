// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/ofi/port.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "transports/frames/frame.hpp"

namespace tutti::ofi {
namespace {

using frames::PortCompletion;
using frames::PortRequest;
using frames::PostOutcome;

// Completions name the context, which is the first in its request.
static_assert(sizeof(fi_context2) <= sizeof(PortRequest::context));

constexpr size_t kDepth = 512;  // operations under way, if the provider has room for so many

Result<std::shared_ptr<Domain>> make_domain(const Offer& offer) {
  auto made = std::make_shared<Domain>();
  made->where = text_of(offer);
  made->provider = offer.provider;
  made->info = info_of(offer);
  fi_info& info = *made->info;
  info.tx_attr->size = std::min(info.tx_attr->size, kDepth);
  info.rx_attr->size = std::min(info.rx_attr->size, kDepth);
  fid_fabric* fabric = nullptr;
  int error = library()->fabric(info.fabric_attr, &fabric, nullptr);
  if (error != 0) return failure(error, fmt::format("opening the fabric of {}", made->where));
  made->fabric.reset(fabric);
  fid_domain* domain = nullptr;
  error = fi_domain(fabric, &info, &domain, nullptr);
  if (error != 0) return failure(error, fmt::format("opening the domain of {}", made->where));
  made->domain.reset(domain);
  return made;
}

}  // namespace

Result<std::shared_ptr<Domain>> open_domain(const Offer& offer) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Domain>> domains;
  const std::lock_guard lock(mutex);
  std::weak_ptr<Domain>& known = domains[text_of(offer)];
  if (std::shared_ptr<Domain> open = known.lock()) return open;
  auto made = make_domain(offer);
  if (made.ok()) known = *made;
  return made;
}

Result<std::unique_ptr<OfiPort>> OfiPort::open(std::shared_ptr<Domain> domain, int ranks) {
  std::unique_ptr<OfiPort> port(new OfiPort(std::move(domain)));
  const Domain& in = *port->domain_;
  const auto failed = [&](int error, const char* what) {
    return failure(error, fmt::format("{} of {}", what, in.where));
  };
  fi_av_attr table_attributes{};
  table_attributes.type = FI_AV_TABLE;
  table_attributes.count = static_cast<size_t>(ranks);
  fid_av* table = nullptr;
  int error = fi_av_open(in.domain.get(), &table_attributes, &table, nullptr);
  if (error != 0) return failed(error, "opening a table of addresses");
  port->table_.reset(table);

  fi_cq_attr queue_attributes{};
  queue_attributes.format = FI_CQ_FORMAT_MSG;
  queue_attributes.size = in.info->tx_attr->size + in.info->rx_attr->size;
  queue_attributes.wait_obj = FI_WAIT_NONE;
  fid_cq* queue = nullptr;
  error = fi_cq_open(in.domain.get(), &queue_attributes, &queue, nullptr);
  if (error != 0) return failed(error, "opening a completion queue");
  port->queue_.reset(queue);

  fid_ep* endpoint = nullptr;
  error = fi_endpoint(in.domain.get(), in.info.get(), &endpoint, nullptr);
  if (error != 0) return failed(error, "opening an endpoint");
  port->endpoint_.reset(endpoint);
  error = fi_ep_bind(endpoint, &table->fid, 0);
  if (error == 0) error = fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV);
  if (error == 0) error = fi_enable(endpoint);
  if (error != 0) return failed(error, "enabling an endpoint");
  TUTTI_RETURN_IF_ERROR(port->read_address());
  return port;
}

Status OfiPort::read_address() {
  size_t bytes = 256;
  for (int attempt = 0; attempt < 2; ++attempt) {
    address_.resize(bytes);
    const int error = fi_getname(&endpoint_->fid, address_.data(), &bytes);
    if (error == 0) {
      address_.resize(bytes);
      return {};
    }
    if (error != -FI_ETOOSMALL) return failure(error, "reading the address of an endpoint");
  }
  return Status(Code::kInternal, "an endpoint's address changes its length");
}

Status OfiPort::insert(const std::vector<std::string>& addresses) {
  peers_.resize(addresses.size(), FI_ADDR_UNSPEC);
  for (size_t r = 0; r < addresses.size(); ++r) {
    if (addresses[r].size() != address_.size()) {
      return Status::format(Code::kInternal, "the address of rank {} has {} bytes, expected {}", r,
                            addresses[r].size(), address_.size());
    }
    const int done = fi_av_insert(table_.get(), addresses[r].data(), 1, &peers_[r], 0, nullptr);
    if (done != 1) {
      return failure(done < 0 ? done : -FI_EINVAL,
                     fmt::format("{} does not take the address of rank {}", domain_->where, r));
    }
  }
  return {};
}

// ---- requests -----------------------------------------------------------------------------------

// 0, or libfabric's negative number.
ssize_t OfiPort::begin(PortRequest& request) {
  fid_ep* endpoint = endpoint_.get();
  switch (request.kind) {
    case PortRequest::Kind::kFrameOut:
      return fi_send(endpoint, request.memory.get(), request.bytes, nullptr, peer(request.peer),
                     &request.context);
    case PortRequest::Kind::kFrameIn:
      return fi_recv(endpoint, request.memory.get(), frames::kFrameBytes, nullptr, FI_ADDR_UNSPEC,
                     &request.context);
    case PortRequest::Kind::kPieceOut:
      return fi_tsend(endpoint, request.piece, request.bytes, nullptr, peer(request.peer),
                      request.tag, &request.context);
    case PortRequest::Kind::kPieceIn:
      return fi_trecv(endpoint, request.piece, request.bytes, nullptr, FI_ADDR_UNSPEC, request.tag,
                      0, &request.context);
    case PortRequest::Kind::kConnection: break;  // this port makes none
  }
  return -FI_EINVAL;
}

PostOutcome OfiPort::post(PortRequest& request) {
  const ssize_t code = begin(request);
  if (code == 0) return PostOutcome::kYes;
  last_code_ = code;
  return code == -FI_EAGAIN ? PostOutcome::kNotNow : PostOutcome::kFailed;
}

void OfiPort::cancel(PortRequest& request) { fi_cancel(&endpoint_->fid, &request.context); }

ptrdiff_t OfiPort::poll(std::span<PortCompletion> ended) {
  constexpr size_t kMost = 16;
  fi_cq_msg_entry entries[kMost];
  const ssize_t count = fi_cq_read(queue_.get(), entries, std::min(ended.size(), kMost));
  if (count == -FI_EAVAIL) return read_error(ended[0]) ? 1 : 0;
  if (count == -FI_EAGAIN) return 0;
  if (count < 0) last_code_ = count;
  for (ssize_t i = 0; i < count; ++i) {
    ended[static_cast<size_t>(i)] = {static_cast<PortRequest*>(entries[i].op_context),
                                     entries[i].len, PortCompletion::End::kDone};
  }
  return count;
}

// False if there is none, or it is about no request of ours.
bool OfiPort::read_error(PortCompletion& ended) {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(queue_.get(), &error, 0) != 1 || error.op_context == nullptr) return false;
  char space[256] = "";
  const char* provider_text =
      fi_cq_strerror(queue_.get(), error.prov_errno, error.err_data, space, sizeof space);
  last_code_ = 0;
  last_text_ = library()->strerror(error.err);
  if (provider_text != nullptr && *provider_text != '\0') {
    last_text_ += fmt::format(" ({})", provider_text);
  }
  const bool cancelled = error.err == FI_ECANCELED;
  ended = {static_cast<PortRequest*>(error.op_context), 0,
           cancelled ? PortCompletion::End::kCancelled : PortCompletion::End::kFailed};
  return true;
}

Status OfiPort::error() const {
  if (last_code_ == 0) return {Code::kSystem, last_text_};
  return reason(last_code_);
}

}  // namespace tutti::ofi
