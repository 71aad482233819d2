// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/nics/offer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "core/interfaces.hpp"
#include "core/log.hpp"

namespace tutti::nics {
namespace {

// Prefixes of interfaces that engines for containers and virtual machines make.
constexpr auto kUnlikely =
    std::to_array<std::string_view>({"docker", "br-", "virbr", "veth", "cni", "flannel", "podman"});

bool is_likely(const Offer& offer) {
  return std::none_of(kUnlikely.begin(), kUnlikely.end(),
                      [&](std::string_view prefix) { return offer.interface.starts_with(prefix); });
}

constexpr std::string_view kWanted = "TUTTI_NET_IFACE";
constexpr std::string_view kAllowed = "CCL_MNIC_NAME";

std::vector<NamedInterface> named(const std::vector<Offer>& offers) {
  std::vector<NamedInterface> interfaces;
  for (const Offer& offer : offers) {
    interfaces.push_back({offer.interface, offer.device, parse_address(offer.address, 0)});
  }
  return interfaces;
}

// No error: one list of names may be for machines of several kinds.
void mention_unknown(const InterfaceList& allowed, const std::vector<Offer>& offers) {
  for (const std::string& text : allowed.unknown(named(offers))) {
    log::info("{}: {} is no interface here; there is {}", kAllowed, text, list_of(offers));
  }
}

}  // namespace

std::string text_of(const Offer& offer) {
  if (offer.address.empty()) return fmt::format("{} on {}", offer.provider, offer.interface);
  return fmt::format("{} on {} ({})", offer.provider, offer.interface, offer.address);
}

std::string list_of(const std::vector<Offer>& offers) {
  std::set<std::string> lines;
  for (const Offer& offer : offers) lines.insert(text_of(offer));
  return lines.empty() ? "nothing" : fmt::format("{}", fmt::join(lines, ", "));
}

Status keep_usable(std::vector<Offer>& offers, const TransportConfig& config, bool alone) {
  TUTTI_ASSIGN_OR_RETURN(const auto wanted,
                         InterfaceList::parse(kWanted, config.network.interfaces));
  TUTTI_ASSIGN_OR_RETURN(const auto allowed,
                         InterfaceList::parse(kAllowed, config.network.nics.names));
  mention_unknown(allowed, offers);
  const std::vector<NamedInterface> interfaces = named(offers);
  const auto wanted_places = wanted.places(interfaces);
  const auto allowed_places = allowed.places(interfaces);
  std::vector<Offer> kept;
  for (size_t i = 0; i < offers.size(); ++i) {
    Offer& offer = offers[i];
    if (!wanted_places[i] || !allowed_places[i] || (offer.loopback && !alone)) continue;
    offer.wanted = *wanted_places[i];
    offer.likely = is_likely(offer);
    offer.named = wanted.selects() || allowed.selects();
    kept.push_back(std::move(offer));
  }
  offers = std::move(kept);
  const std::string default_name = default_route_ipv4();
  const auto rank = [&](const Offer& offer) {
    return std::tuple(offer.place, offer.wanted, !offer.loopback, !offer.likely,
                      offer.interface != default_name, offer.format == kIpv6);
  };
  std::stable_sort(offers.begin(), offers.end(),
                   [&](const Offer& a, const Offer& b) { return rank(a) < rank(b); });
  for (size_t i = 1; i < offers.size(); ++i) {
    offers[i].grade = offers[i - 1].grade + (rank(offers[i - 1]) < rank(offers[i]) ? 1 : 0);
  }
  return {};
}

std::string conditions(const TransportConfig& config, bool alone) {
  std::string text;
  const auto add = [&](std::string_view variable, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format(", allowed by {}, which is \"{}\" (it takes {})", variable, value,
                        kInterfaceForms);
  };
  add(kWanted, config.network.interfaces);
  add(kAllowed, config.network.nics.names);
  if (!alone) text += ", not over loopback";
  return text;
}

}  // namespace tutti::nics
