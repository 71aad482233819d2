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
// What engines for containers and virtual machines call the interfaces they make.
constexpr auto kUnlikely =
    std::to_array<std::string_view>({"docker", "br-", "virbr", "veth", "cni", "flannel", "podman"});

size_t place_of(std::string_view provider) {
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), provider) - kOrder.begin());
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

// The interface over which the rest of the world is reached; empty if there is none.
std::string default_interface() {
  std::ifstream routes("/proc/net/route");
  std::string line;
  while (std::getline(routes, line)) {
    std::istringstream fields(line);
    std::string interface;
    std::string destination;
    if (fields >> interface >> destination && destination == "00000000") return interface;
  }
  return {};
}

// ---- offers
// --------------------------------------------------------------------------------------

// What the user has named.
struct Wanted {
  std::vector<std::string> interfaces;
  std::vector<std::string> beginnings;  // of names of interfaces; empty: any
  std::vector<std::string> excluded;    // beginnings as well
  bool alone = false;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Wanted wanted_by(const TransportConfig& config, bool alone) {
  Wanted wanted;
  wanted.alone = alone;
  wanted.interfaces = split(config.interfaces, ',');
  for (const std::string& name : split(config.nics.names, ',')) {
    if (!name.starts_with('^')) {
      wanted.beginnings.push_back(name);
    } else if (name.size() > 1) {
      wanted.excluded.push_back(name.substr(1));
    }
  }
  return wanted;
}

bool begins_with_one_of(const Offer& offer, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const std::string& beginning) {
    return offer.interface.starts_with(beginning) || offer.device.starts_with(beginning);
  });
}

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

Offer describe(const fi_info& info, const Library& library,
               const std::map<std::string, std::string>& names) {
  Offer offer;
  offer.info.reset(library.dupinfo(&info));
  offer.provider = text_or_empty(info.fabric_attr->prov_name);
  offer.format = info.addr_format;
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
  offer.likely = std::none_of(kUnlikely.begin(), kUnlikely.end(), [&](std::string_view prefix) {
    return offer.interface.starts_with(prefix);
  });
  return offer;
}

std::string list_of(const std::vector<Offer>& offers) {
  std::set<std::string> lines;
  for (const Offer& offer : offers) {
    lines.insert(offer.address.empty() ? fmt::format("{} on {}", offer.provider, offer.interface)
                                       : fmt::format("{} on {} ({})", offer.provider,
                                                     offer.interface, offer.address));
  }
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : ", ") + line;
  return text.empty() ? "nothing" : text;
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

// No error: one list of names may be for machines of several kinds.
void mention_unknown(const std::vector<std::string>& beginnings, const std::vector<Offer>& offers,
                     std::string_view found) {
  for (const std::string& beginning : beginnings) {
    const bool known = std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
      return begins_with_one_of(offer, {beginning});
    });
    if (known) continue;
    log::info("CCL_MNIC_NAME: no interface begins with {}; libfabric offers {}", beginning, found);
  }
}

void keep_usable(std::vector<Offer>& offers, const Wanted& wanted) {
  std::erase_if(offers, [&](const Offer& offer) {
    if (offer.loopback && !wanted.alone) return true;
    if (begins_with_one_of(offer, wanted.excluded)) return true;
    if (!wanted.beginnings.empty() && !begins_with_one_of(offer, wanted.beginnings)) return true;
    if (wanted.interfaces.empty()) return false;
    return std::find(wanted.interfaces.begin(), wanted.interfaces.end(), offer.interface) ==
           wanted.interfaces.end();
  });
  for (Offer& offer : offers) {
    offer.named = !wanted.interfaces.empty() || !wanted.beginnings.empty();
  }
  const std::string default_name = default_interface();
  const auto rank = [&](const Offer& offer) {
    const auto named =
        std::find(wanted.interfaces.begin(), wanted.interfaces.end(), offer.interface) -
        wanted.interfaces.begin();
    return std::tuple(place_of(offer.provider), named, !offer.loopback, !offer.likely,
                      offer.interface != default_name, offer.format == FI_SOCKADDR_IN6);
  };
  std::stable_sort(offers.begin(), offers.end(),
                   [&](const Offer& a, const Offer& b) { return rank(a) < rank(b); });
  for (size_t i = 1; i < offers.size(); ++i) {
    offers[i].grade = offers[i - 1].grade + (rank(offers[i - 1]) < rank(offers[i]) ? 1 : 0);
  }
}

}  // namespace

Result<std::vector<Offer>> find_offers(const TransportConfig& config, bool alone) {
  const Result<Library>& library = ofi::library();
  if (!library.ok()) return library.status();
  const Info hints = hints_for(*library, config.provider);
  if (hints == nullptr) return Status(Code::kOutOfMemory, "no memory for libfabric's hints");
  int error = 0;
  std::vector<Offer> offers = ask(*library, hints.get(), error);
  const std::string found = list_of(offers);
  const Wanted wanted = wanted_by(config, alone);
  mention_unknown(wanted.beginnings, offers, found);
  keep_usable(offers, wanted);
  if (!offers.empty()) return offers;

  std::string asked = "tagged messages between reliable datagram endpoints";
  if (!config.provider.empty()) asked += fmt::format(", provider {}", config.provider);
  if (!config.interfaces.empty()) asked += fmt::format(", interface {}", config.interfaces);
  if (!config.nics.names.empty()) asked += fmt::format(", CCL_MNIC_NAME={}", config.nics.names);
  if (!alone) asked += ", not over loopback";
  if (error == 0) {
    return Status::format(Code::kSystem, "libfabric has nothing fitting ({}); it offers {}", asked,
                          found);
  }
  int ignored = 0;
  return failure(error, fmt::format("asking libfabric for {}; without conditions it offers {}",
                                    asked, list_of(ask(*library, nullptr, ignored))));
}

}  // namespace tutti::ofi
