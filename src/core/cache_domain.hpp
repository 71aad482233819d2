// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Domains of a machine: cores that share a last-level cache on one NUMA node. They hand cache lines
// to one another faster than to the rest of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

// The domain of a rank where it is not known, or where its cores lie in several.
inline constexpr int kNoCacheDomain = -1;

// The domain that all of `cores` lie in, by its lowest core. Reads two or three files of /sys;
// where it does not tell of a third-level cache, the NUMA node alone counts. `root` is put before
// /sys: for tests.
int cache_domain_of(std::span<const int> cores, const std::string& root = "");

// The values of TUTTI_DOMAIN.
struct CacheDomainChoice {
  bool automatic = true;        // the domain is what cache_domain_of() finds
  int number = kNoCacheDomain;  // the domain if not automatic
};
// "auto", "none" or a number; nullopt for anything else.
std::optional<CacheDomainChoice> parse_cache_domain(std::string_view text);

}  // namespace tutti
