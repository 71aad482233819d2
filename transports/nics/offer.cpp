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

// What engines for containers and virtual machines call the interfaces they make.
constexpr auto kUnlikely =
    std::to_array<std::string_view>({"docker", "br-", "virbr", "veth", "cni", "flannel", "podman"});

bool is_likely(const Offer& offer) {
  return std::none_of(kUnlikely.begin(), kUnlikely.end(),
                      [&](std::string_view prefix) { return offer.interface.starts_with(prefix); });
}

// What the user has named.
struct Wanted {
  std::vector<std::string> interfaces;
  std::vector<std::string> beginnings;  // of names of interfaces; empty: any
  std::vector<std::string> excluded;    // beginnings as well
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

Wanted wanted_by(const TransportConfig& config) {
  Wanted wanted;
  wanted.interfaces = split(config.network.interfaces, ',');
  for (const std::string& name : split(config.network.nics.names, ',')) {
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

// No error: one list of names may be for machines of several kinds.
void mention_unknown(const std::vector<std::string>& beginnings, const std::vector<Offer>& offers) {
  for (const std::string& beginning : beginnings) {
    const bool known = std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
      return begins_with_one_of(offer, {beginning});
    });
    if (known) continue;
    log::info("CCL_MNIC_NAME: no interface begins with {}; there is {}", beginning,
              list_of(offers));
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

void keep_usable(std::vector<Offer>& offers, const TransportConfig& config, bool alone) {
  const Wanted wanted = wanted_by(config);
  mention_unknown(wanted.beginnings, offers);
  std::erase_if(offers, [&](const Offer& offer) {
    if (offer.loopback && !alone) return true;
    if (begins_with_one_of(offer, wanted.excluded)) return true;
    if (!wanted.beginnings.empty() && !begins_with_one_of(offer, wanted.beginnings)) return true;
    if (wanted.interfaces.empty()) return false;
    return std::find(wanted.interfaces.begin(), wanted.interfaces.end(), offer.interface) ==
           wanted.interfaces.end();
  });
  for (Offer& offer : offers) {
    offer.likely = is_likely(offer);
    offer.named = !wanted.interfaces.empty() || !wanted.beginnings.empty();
  }
  const std::string default_name = default_route_ipv4();
  const auto rank = [&](const Offer& offer) {
    const auto named =
        std::find(wanted.interfaces.begin(), wanted.interfaces.end(), offer.interface) -
        wanted.interfaces.begin();
    return std::tuple(offer.place, named, !offer.loopback, !offer.likely,
                      offer.interface != default_name, offer.format == kIpv6);
  };
  std::stable_sort(offers.begin(), offers.end(),
                   [&](const Offer& a, const Offer& b) { return rank(a) < rank(b); });
  for (size_t i = 1; i < offers.size(); ++i) {
    offers[i].grade = offers[i - 1].grade + (rank(offers[i - 1]) < rank(offers[i]) ? 1 : 0);
  }
}

std::string conditions(const TransportConfig& config, bool alone) {
  std::string text;
  if (!config.network.interfaces.empty())
    text += fmt::format(", interface {}", config.network.interfaces);
  if (!config.network.nics.names.empty())
    text += fmt::format(", CCL_MNIC_NAME={}", config.network.nics.names);
  if (!alone) text += ", not over loopback";
  return text;
}

}  // namespace tutti::nics
