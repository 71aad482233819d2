// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/known_place.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "bootstrap/launchers/launchers.hpp"
#include "bootstrap/service_address.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "env/values.hpp"

namespace tutti {
namespace {

constexpr const char* kVariable = "TUTTI_MEETING_SECRET";
constexpr std::string_view kFile = "file:";

void warn_once(const std::string& place) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  log::warn(
      "the ranks meet at {} without a secret: whoever reaches that port may join in their place; "
      "set {} to one text on all ranks",
      place, kVariable);
}

// Editors end a file by a newline that is no part of what it says.
Result<std::string> read_secret(const std::string& given) {
  if (!given.starts_with(kFile)) return given;
  const std::string path = given.substr(kFile.size());
  std::string text = text_in_file(path);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (!text.empty()) return text;
  return Status::format(Code::kInvalidArgument,
                        "{} is \"{}\": expected a file with the secret, but it {}", kVariable,
                        given, access(path.c_str(), R_OK) == 0 ? "is empty" : "cannot be read");
}

}  // namespace

Result<UniqueId> id_at(const std::string& place, const Getter& getter) {
  const size_t cut = place.find_last_of(":_");
  if (cut == std::string::npos || cut == 0) {
    return Status::format(
        Code::kInvalidArgument,
        "the place is \"{}\": expected the host of rank 0 and a free port, HOST:PORT", place);
  }
  const std::string host = place.substr(0, cut);
  TUTTI_ASSIGN_OR_RETURN(auto port,
                         launchers::read_port("the place's port", place.substr(cut + 1)));
  bool prefer_ipv6 = false;
  (void)parse_value(getter("CCL_KVS_PREFER_IPV6").value_or(""), NoBounds{}, prefer_ipv6);
  TUTTI_ASSIGN_OR_RETURN(
      auto address, bootstrap::address_on_host(host, static_cast<uint16_t>(port), prefer_ipv6));
  TUTTI_ASSIGN_OR_RETURN(auto secret, read_secret(getter(kVariable).value_or("")));
  if (secret.empty()) warn_once(place);
  // Not by the address: one name may have another address on its own host than elsewhere.
  return derive_unique_id(fmt::format("meeting at {} port {} by {}", host, port, secret), address);
}

bool served_by_rank_0(const UniqueId& id) { return id.maker_pid == 0 && id.address.known(); }

}  // namespace tutti
