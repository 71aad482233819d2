// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "transports/nics/choice.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "core/exchange.hpp"
#include "core/log.hpp"
#include "core/topology.hpp"

namespace tutti::nics {
namespace {

// The part of an offer that must be the same on all ranks.
std::string kind_of(const Offer& offer) {
  if (offer.format.empty()) return offer.provider;
  return fmt::format("{} over {}", offer.provider, offer.format);
}

// ---- this rank's --------------------------------------------------------------------------------

bool is_ambiguous(const std::vector<Offer>& offers) {
  for (size_t i = 1; i < offers.size(); ++i) {
    const Offer& before = offers[i - 1];
    const bool counts = offers[i].likely || offers[i].named;
    if (!counts || offers[i].grade != before.grade) continue;
    if (offers[i].interface != before.interface) return true;
  }
  return false;
}

// How deep each interface lies beside the cores: see device_locality().
std::map<std::string, int> ask_locality(const std::vector<Offer>& offers,
                                        const Locality& locality) {
  std::vector<std::string> names;
  for (const Offer& offer : offers) {
    names.push_back(offer.interface);
    names.push_back(offer.device);
  }
  const std::vector<int> depth = locality(names);
  std::map<std::string, int> found;
  for (size_t i = 0; i < offers.size() && depth.size() == names.size(); ++i) {
    found[offers[i].interface] = std::max(depth[2 * i], depth[2 * i + 1]);
  }
  return found;
}

// One offer of each interface and kind.
std::vector<bool> find_rails(const std::vector<Offer>& offers) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<bool> rails;
  for (const Offer& offer : offers) {
    const bool fits = offer.named || (offer.likely && !offer.loopback);
    rails.push_back(fits && seen.insert({kind_of(offer), offer.interface}).second);
  }
  return rails;
}

void keep_most_local(Candidates& candidates, std::map<std::string, int>& depth) {
  std::map<std::string, int> nearest;  // nearest interface by kind
  for (size_t i = 0; i < candidates.offers.size(); ++i) {
    if (!candidates.rails[i]) continue;
    const Offer& offer = candidates.offers[i];
    const auto [best, first] = nearest.try_emplace(kind_of(offer), depth[offer.interface]);
    best->second = std::max(best->second, depth[offer.interface]);
  }
  for (size_t i = 0; i < candidates.offers.size(); ++i) {
    const Offer& offer = candidates.offers[i];
    if (depth[offer.interface] < nearest[kind_of(offer)]) candidates.rails[i] = false;
  }
}

}  // namespace

// Asked by every communicator; the answer changes with the cores only.
std::vector<int> locality_here(std::span<const std::string> names) {
  static std::mutex mutex;
  static std::map<std::pair<std::vector<std::string>, std::vector<int>>, std::vector<int>> known;
  const std::pair key(std::vector<std::string>(names.begin(), names.end()), usable_cores());
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  auto depth = device_locality(names, key.second);
  if (!depth.ok()) {
    log::info("which network interface is the nearest is not known: {}", depth.status().message());
    depth = std::vector<int>(names.size());
  }
  return known[key] = *std::move(depth);
}

Candidates candidates(std::vector<Offer> offers, const NicSet& nics, const Locality& locality) {
  Candidates found;
  const bool wants_local = nics.which == NicSet::Which::kLocal && offers.size() > 1;
  std::map<std::string, int> depth;
  if (is_ambiguous(offers) || wants_local) {
    depth = ask_locality(offers, locality);
    const auto rank = [&](const Offer& offer) {
      return std::pair(offer.grade, -depth[offer.interface]);
    };
    std::stable_sort(offers.begin(), offers.end(),
                     [&](const Offer& a, const Offer& b) { return rank(a) < rank(b); });
  }
  found.offers = std::move(offers);
  found.rails = find_rails(found.offers);
  if (wants_local) keep_most_local(found, depth);
  found.most = nics.which == NicSet::Which::kOne ? 1 : nics.most;
  return found;
}

// ---- agreement ----------------------------------------------------------------------------------

namespace {

struct Seen {
  std::string kind;
  bool likely = false;
  bool rail = false;
  std::string network;
};
struct SeenRank {
  uint32_t most = 1;
  std::vector<Seen> offers;
};

// The first line is how many rails are wanted.
SeenRank read_shown(const std::string& text) {
  SeenRank rank;
  size_t at = std::min(text.find('\n'), text.size());
  std::from_chars(text.data(), text.data() + at, rank.most);
  while (++at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || line.size() < tab + 4) continue;
    rank.offers.push_back(
        {line.substr(0, tab), line[tab + 1] == '1', line[tab + 2] == '1', line.substr(tab + 4)});
  }
  return rank;
}

// Offers that satisfy the condition, of the rank that has the fewest.
template <typename Condition>
size_t fewest(const std::vector<SeenRank>& ranks, const Condition& condition) {
  ptrdiff_t least = PTRDIFF_MAX;
  for (const SeenRank& rank : ranks) {
    least = std::min(least, std::count_if(rank.offers.begin(), rank.offers.end(), condition));
  }
  return static_cast<size_t>(least);
}

std::string kinds_in_words(const std::vector<SeenRank>& ranks) {
  std::string text;
  for (size_t r = 0; r < std::min<size_t>(ranks.size(), 8); ++r) {
    std::set<std::string> kinds;
    for (const Seen& offer : ranks[r].offers) {
      kinds.insert(offer.kind);
    }
    text += fmt::format("{}rank {} has {}", r > 0 ? "; " : "", r, fmt::join(kinds, ", "));
  }
  return text;
}

// A network that all are on; empty if there is none.
std::string common_network(const std::vector<SeenRank>& ranks, const std::string& kind) {
  for (const Seen& offer : ranks.front().offers) {
    if (offer.kind != kind || !offer.likely) continue;
    const auto same = [&](const Seen& other) {
      return other.kind == kind && other.network == offer.network && other.likely;
    };
    if (fewest(ranks, same) > 0) return offer.network;
  }
  return {};
}

// Rails on one network, or on any.
struct Group {
  std::optional<std::string> network;
  size_t count = 0;
};

std::vector<Group> group_rails(const std::vector<SeenRank>& ranks, const std::string& kind,
                               bool is_routed) {
  size_t most = SIZE_MAX;
  for (const SeenRank& rank : ranks) most = std::min<size_t>(most, rank.most);
  size_t left = most;
  std::vector<Group> groups;
  const auto add = [&](std::optional<std::string> network) {
    const size_t count = fewest(ranks, [&](const Seen& other) {
      return other.kind == kind && other.rail && (!network || other.network == *network);
    });
    groups.push_back({std::move(network), std::min(count, left)});
    left -= groups.back().count;
  };
  std::set<std::string> networks;
  for (const Seen& offer : ranks.front().offers) {
    if (offer.kind == kind && offer.rail && networks.insert(offer.network).second) {
      add(offer.network);
    }
  }
  if (is_routed && left == most) add({});
  return groups;
}

// "eth2" before "eth10".
bool name_before(const Offer& a, const Offer& b) {
  return std::pair(a.interface.size(), a.interface) < std::pair(b.interface.size(), b.interface);
}

// Takes the best of those that may be rails of the group, in the order of their names. Interfaces
// of one number often meet at one switch.
void take_group(const Group& group, const std::string& kind, Candidates& own,
                std::vector<Offer>& rails) {
  const size_t before = rails.size();
  for (size_t i = 0; i < own.offers.size() && rails.size() < before + group.count; ++i) {
    Offer& offer = own.offers[i];
    const bool fits = own.rails[i] && kind_of(offer) == kind &&
                      (!group.network || *group.network == offer.network);
    if (!fits) continue;
    own.rails[i] = false;
    rails.push_back(std::move(offer));
  }
  std::sort(rails.begin() + static_cast<ptrdiff_t>(before), rails.end(), name_before);
}

}  // namespace

std::string shown(const Candidates& candidates) {
  std::string text = fmt::format("{}\n", candidates.most);
  for (size_t i = 0; i < candidates.offers.size(); ++i) {
    const Offer& offer = candidates.offers[i];
    text += fmt::format("{}\t{}{}\t{}\n", kind_of(offer), offer.likely ? 1 : 0,
                        candidates.rails[i] ? 1 : 0, offer.network);
  }
  return text;
}

Result<std::vector<Offer>> agree(const std::vector<std::string>& texts, Candidates own) {
  std::vector<SeenRank> ranks;
  for (const std::string& text : texts) ranks.push_back(read_shown(text));

  // Rank 0's order counts for all.
  const auto on_all = [&](const Seen& offer) {
    return fewest(ranks, [&](const Seen& other) { return other.kind == offer.kind; }) > 0;
  };
  const std::vector<Seen>& first = ranks.front().offers;
  const auto chosen = std::find_if(first.begin(), first.end(), on_all);
  if (chosen == first.end()) {
    return Status::format(Code::kSystem, "nothing is there on all ranks: {}",
                          kinds_in_words(ranks));
  }
  const std::string network = common_network(ranks, chosen->kind);

  const std::vector<Group> groups = group_rails(ranks, chosen->kind, network.empty());
  size_t count = 0;
  for (const Group& group : groups) count += group.count;
  std::vector<Offer> rails;
  if (count > 1) {
    for (const Group& group : groups) take_group(group, chosen->kind, own, rails);
    return rails;
  }
  // The network if there is one; else routers have to do.
  Offer* best = nullptr;
  for (Offer& offer : own.offers) {
    if (kind_of(offer) != chosen->kind) continue;
    if (best == nullptr || (offer.network == network && best->network != network)) best = &offer;
  }
  rails.push_back(std::move(*best));
  return rails;
}

Result<std::vector<Offer>> choose(Exchange& exchange, Result<std::vector<Offer>> offers,
                                  const NicSet& nics, const Locality& locality) {
  if (!offers.ok()) return share(exchange, offers.status()).status();
  Candidates own = candidates(*std::move(offers), nics, locality);
  TUTTI_ASSIGN_OR_RETURN(auto texts, share(exchange, shown(own)));
  return agree(texts, std::move(own));
}

}  // namespace tutti::nics
