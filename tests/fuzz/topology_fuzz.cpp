// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever a file says of a network, it is refused in words, or messages find their ways through
// it.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/fuzz.hpp"
#include "tools/simulate/network.hpp"

namespace tutti::simulate {
namespace {

using tutti_test::fuzz::demand;

constexpr int kHosts = 4;

FUZZ_TARGET(topology) {
  static const int file = memfd_create("topology", MFD_CLOEXEC);
  const auto text = input.rest();
  demand(ftruncate(file, 0) == 0, "a file in memory can be emptied");
  demand(pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()),
         "and written");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  auto network = make_network(path, kHosts, {1e-9, 1e-9, 1e-6, 1e-6});
  if (!network.ok()) return demand(!network.status().message().empty(), "a refusal says why");
  network->let_pass(1024);
  for (const Link& link : network->links()) {
    demand(link.byte_s > 0 && link.latency_s >= 0, "a link takes its time");
  }
  if (!network->links().empty()) (void)network->fail(network->link_name(0));
  if (!network->complete().ok()) return;
  for (int from = 0; from < kHosts; ++from) {
    for (int to = 0; to < kHosts; ++to) {
      size_t hops = 0;
      for (int node = from; node != to && hops <= network->links().size(); ++hops) {
        const int link = network->next(node, from, to);
        if (link < 0) break;
        node = network->links()[static_cast<size_t>(link)].to;
      }
      demand(hops <= network->links().size(), "a way has an end");
    }
  }
}

}  // namespace
}  // namespace tutti::simulate
