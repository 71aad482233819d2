// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/service_address.hpp"

#include <cerrno>
#include <utility>

#include "bootstrap/wire.hpp"
#include "core/interfaces.hpp"
#include "core/interrupt.hpp"
#include "core/socket.hpp"
#include "core/wait.hpp"
#include "env/env.hpp"
#include "env/values.hpp"

namespace tutti::bootstrap {
namespace {

constexpr const char* kInterface = "CCL_KVS_IFACE";

struct Interface {
  NetAddress address;
  bool asked_for;
};

Result<Interface> chosen_interface() {
  // Two variables are read by themselves: a rank whose other variables are wrong has to tell the
  // others.
  const Getter getter = process_environment();
  const std::string wanted = getter(kInterface).value_or("");
  bool prefer_ipv6 = false;
  (void)parse_value(getter("CCL_KVS_PREFER_IPV6").value_or(""), NoBounds{}, prefer_ipv6);
  TUTTI_ASSIGN_OR_RETURN(auto address, choose_interface(kInterface, wanted, prefer_ipv6));
  return Interface{address, !wanted.empty()};
}

// Whether `host` means the loopback on every host: one of its addresses, or a usual name of it.
bool means_loopback(const std::string& host) {
  return parse_address(host, 0).known() || host.starts_with("localhost") ||
         host.starts_with("ip6-");
}

}  // namespace

Status give_address(UniqueId& id) {
  TUTTI_ASSIGN_OR_RETURN(auto chosen, chosen_interface());
  if (!chosen.address.known()) {
    // Nobody outside: a Unix socket does, where there may be one.
    if (may_use_unix_sockets()) return {};
    chosen.address = parse_address("127.0.0.1", 0);
  }
  auto listener = std::make_shared<Fd>();
  const int error = listen_tcp(chosen.address, kBacklog, *listener);
  if (error == 0) {
    id.address = local_address(listener->get());
    id.listener = std::move(listener);
    return {};
  }
  // A process may be kept from the network; ranks of this host need none.
  if (!chosen.asked_for) return {};
  return Status::system(
      error, fmt::format("listening at {}, as {} wants", chosen.address.host_text(), kInterface));
}

Status no_meeting_here(std::string_view what, const UniqueId& id, int error) {
  const Status status =
      Status::system(error, fmt::format("{} at the meeting place @{}", what, socket_name(id.name)));
  if (!refuses_unix_sockets(error)) return status;
  if (may_use_unix_sockets()) {
    return Status::format(status.code(),
                          "{}: a sandbox, as of Landlock, keeps this process from that one; for "
                          "ranks to meet over TCP, set CCL_KVS_IP_PORT (on one host to 127.0.0.1_ "
                          "and a free port), or CCL_KVS_IFACE where an id is made (on one host to "
                          "lo)",
                          status.message());
  }
  return Status::format(status.code(),
                        "{}: this process may not use Unix sockets; for ranks to meet over TCP, "
                        "set MASTER_ADDR and MASTER_PORT (on one host to 127.0.0.1 and a free "
                        "port), or CCL_KVS_IP_PORT",
                        status.message());
}

Result<NetAddress> address_on_host(const std::string& host, uint16_t port, bool prefer_ipv6) {
  auto address = resolve_host(host, port, prefer_ipv6);
  if (!address.ok() || !address->loopback() || means_loopback(host)) return address;
  TUTTI_ASSIGN_OR_RETURN(auto chosen, chosen_interface());
  if (!chosen.address.known()) return address;  // there are no other hosts
  chosen.address.port = port;
  return chosen.address;
}

Result<Fd> listen_at_address(const UniqueId& id, int64_t deadline_ms) {
  if (!id.address.known()) return Fd();
  if (id.listener != nullptr && id.listener->open()) return std::move(*id.listener);
  NetAddress address = id.address;
  Fd listener;
  int error = EADDRNOTAVAIL;
  const auto attempt = [&] {
    while ((error = listen_tcp(address, kBacklog, listener)) == EADDRINUSE &&
           now_ms() < deadline_ms && !must_end_wait()) {
      pause_for(5);
    }
  };
  attempt();
  if (error == EADDRNOTAVAIL) {
    TUTTI_ASSIGN_OR_RETURN(auto chosen, chosen_interface());
    if (chosen.address.known()) {
      address = chosen.address;
      address.port = id.address.port;
      attempt();
    }
  }
  if (error == 0) return listener;
  return Status::system(error, fmt::format("listening at {}, where ranks of other hosts look for "
                                           "rank 0",
                                           address.text()));
}

}  // namespace tutti::bootstrap
