// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/ofi/provider.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/interfaces.hpp"

namespace tutti::ofi {
namespace {

// The providers, best first; unknown ones come behind. So does "net" of libfabric 1.17, which leaks
// with every endpoint. It became the "tcp" of 1.18.
constexpr auto kOrder = std::to_array<std::string_view>(
    {"cxi", "verbs;ofi_rxm", "efa", "psm3", "opx", "psm2", "tcp", "tcp;ofi_rxm", "sockets"});
int place_of(std::string_view provider) {
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), provider) - kOrder.begin());
}

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

Info hints_for(const Library& library, const std::string& provider) {
  Info hints(library.dupinfo(nullptr));
  if (hints == nullptr) return hints;
  hints->caps = FI_TAGGED | FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  // Each endpoint, with its queue and addresses, has one thread at a time, which makes its
  // progress.
  hints->domain_attr->threading = FI_THREAD_COMPLETION;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  // Without FI_MR_LOCAL: a provider that must register buffers does so itself, from its own cache.
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  // Frames are put in order by their numbers (frames/frame.hpp); pieces of one message match in
  // order.
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
  return hints;
}

std::string format_of(const fi_info& info) {
  if (info.addr_format == FI_SOCKADDR_IN) return std::string(nics::kIpv4);
  if (info.addr_format == FI_SOCKADDR_IN6) return std::string(nics::kIpv6);
  return fmt::format("addresses of format {}", info.addr_format);
}

Offer describe(const fi_info& info, const NetAddress& address, const Library& library,
               const std::vector<Interface>& interfaces) {
  Offer offer;
  offer.own = std::shared_ptr<fi_info>(Info(library.dupinfo(&info)));
  offer.provider = text_or_empty(info.fabric_attr->prov_name);
  offer.place = place_of(offer.provider);
  offer.format = format_of(info);
  offer.device = text_or_empty(info.domain_attr->name);
  offer.interface = offer.device;
  offer.network = text_or_empty(info.fabric_attr->name);
  if (address.known()) {
    offer.address = address.host_text();
    offer.loopback = address.loopback();
    const auto its = std::find_if(interfaces.begin(), interfaces.end(),
                                  [&](const Interface& one) { return one.address == address; });
    if (its != interfaces.end()) offer.interface = its->name;
  }
  return offer;
}

std::vector<Offer> ask(const Library& library, const fi_info* hints, int& error) {
  const KeepSignals keep;
  fi_info* list = nullptr;
  error = library.getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &list);
  const Info owner(error == 0 ? list : nullptr);
  std::vector<Offer> offers;
  // Without them, interfaces have libfabric's names.
  const auto listed = list_interfaces();
  const auto interfaces = listed.ok() ? *listed : std::vector<Interface>();
  for (const fi_info* info = owner.get(); info != nullptr; info = info->next) {
    NetAddress address = from_sockaddr(static_cast<const sockaddr*>(info->src_addr));
    if (address.link_local()) continue;  // means nothing without the name of an interface
    address.port = 0;
    offers.push_back(describe(*info, address, library, interfaces));
  }
  return offers;
}

}  // namespace

Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone) {
  const Result<Library>& library = ofi::library();
  if (!library.ok()) return library.status();
  const Info hints = hints_for(*library, config.network.provider);
  if (hints == nullptr) return Status(Code::kOutOfMemory, "no memory for libfabric's hints");
  int error = 0;
  std::vector<Offer> offers = ask(*library, hints.get(), error);
  const std::string found = nics::list_of(offers);
  TUTTI_RETURN_IF_ERROR(nics::keep_usable(offers, config, alone));
  if (!offers.empty()) return offers;

  std::string asked = "tagged messages between reliable datagram endpoints";
  if (!config.network.provider.empty())
    asked += fmt::format(", provider {}", config.network.provider);
  asked += nics::conditions(config, alone);
  if (error == 0) {
    return Status::format(Code::kSystem, "libfabric has nothing fitting ({}); it offers {}", asked,
                          found);
  }
  int ignored = 0;
  return failure(error, fmt::format("asking libfabric for {}; without conditions it offers {}",
                                    asked, nics::list_of(ask(*library, nullptr, ignored))));
}

bool is_fast(const Offer& offer) { return offer.place < place_of("tcp"); }

}  // namespace tutti::ofi
