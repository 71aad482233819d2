// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/ofi/provider.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/log.hpp"

namespace tutti::ofi {
namespace {

// Best first; those that are not here come behind: also "net", which in libfabric 1.17 takes half
// of the time of tcp;ofi_rxm for 60 KB, but leaks with every endpoint. It became the "tcp" of 1.18.
constexpr auto kOrder = std::to_array<std::string_view>(
    {"cxi", "verbs;ofi_rxm", "efa", "psm3", "opx", "psm2", "tcp", "tcp;ofi_rxm", "sockets"});
int place_of(std::string_view provider) {
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), provider) - kOrder.begin());
}

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

// ---- addresses
// -----------------------------------------------------------------------------------

const sockaddr* socket_address(const fi_info& info) {
  const auto* address = static_cast<const sockaddr*>(info.src_addr);
  if (address == nullptr) return nullptr;
  return address->sa_family == AF_INET || address->sa_family == AF_INET6 ? address : nullptr;
}

const in_addr& v4(const sockaddr* address) {
  return reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
}
const in6_addr& v6(const sockaddr* address) {
  return reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
}

bool is_loopback(const sockaddr* address) {
  return address->sa_family == AF_INET ? (ntohl(v4(address).s_addr) >> 24) == 127
                                       : IN6_IS_ADDR_LOOPBACK(&v6(address));
}

// One that means nothing without the name of an interface.
bool is_link_local(const sockaddr* address) {
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6(address));
}

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* bytes = address->sa_family == AF_INET ? static_cast<const void*>(&v4(address))
                                                    : static_cast<const void*>(&v6(address));
  inet_ntop(address->sa_family, bytes, text, sizeof text);
  return text;
}

// The system's interfaces by address.
std::map<std::string, std::string> interfaces() {
  std::map<std::string, std::string> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const sa_family_t family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    found.emplace(text_of(one->ifa_addr), one->ifa_name);
  }
  freeifaddrs(list);
  return found;
}

// ---- offers
// --------------------------------------------------------------------------------------

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
  // Frames are put in order by their numbers (frame.hpp); pieces of one message match in order.
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

Offer describe(const fi_info& info, const Library& library,
               const std::map<std::string, std::string>& names) {
  Offer offer;
  offer.own = std::shared_ptr<fi_info>(Info(library.dupinfo(&info)));
  offer.provider = text_or_empty(info.fabric_attr->prov_name);
  offer.place = place_of(offer.provider);
  offer.format = format_of(info);
  offer.device = text_or_empty(info.domain_attr->name);
  offer.interface = offer.device;
  offer.network = text_or_empty(info.fabric_attr->name);
  if (const sockaddr* address = socket_address(info)) {
    offer.address = text_of(address);
    offer.loopback = is_loopback(address);
    if (const auto name = names.find(offer.address); name != names.end()) {
      offer.interface = name->second;
    }
  }
  return offer;
}

std::vector<Offer> ask(const Library& library, const fi_info* hints, int& error) {
  const KeepSignals keep;
  fi_info* list = nullptr;
  error = library.getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &list);
  const Info owner(error == 0 ? list : nullptr);
  std::vector<Offer> offers;
  const auto names = interfaces();
  for (const fi_info* info = owner.get(); info != nullptr; info = info->next) {
    if (const sockaddr* address = socket_address(*info); address && is_link_local(address))
      continue;
    offers.push_back(describe(*info, library, names));
  }
  return offers;
}

}  // namespace

Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone) {
  const Result<Library>& library = ofi::library();
  if (!library.ok()) return library.status();
  const Info hints = hints_for(*library, config.provider);
  if (hints == nullptr) return Status(Code::kOutOfMemory, "no memory for libfabric's hints");
  int error = 0;
  std::vector<Offer> offers = ask(*library, hints.get(), error);
  const std::string found = nics::list_of(offers);
  nics::keep_usable(offers, config, alone);
  if (!offers.empty()) return offers;

  std::string asked = "tagged messages between reliable datagram endpoints";
  if (!config.provider.empty()) asked += fmt::format(", provider {}", config.provider);
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
