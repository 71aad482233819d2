// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Calls in which every rank believes that it only gives, between hosts: what tells them apart.
#if defined(TUTTI_HAVE_LIBFABRIC)
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "support/loopback.hpp"
#include "support/threads_on_hosts.hpp"

namespace tutti {
namespace {

using tutti_test::Loopback;

Call own_broadcast(const Communicator& on, int32_t& value) {
  Call call;
  call.collective = Collective::kBroadcast;
  call.type = DataType::kInt32;
  call.root = on.rank();
  call.count = 1;
  call.recv = &value;
  return call;
}

// Whether it is an error that names the broadcasts of ranks 0 and 1.
testing::AssertionResult names_both(const Status& status) {
  for (const char* part : {"broadcast #1 (1 int32, root 0)", "broadcast #1 (1 int32, root 1)"}) {
    if (status.code() != Code::kMismatch || status.message().find(part) == std::string::npos) {
      return testing::AssertionFailure() << code_name(status.code()) << " " << status.message();
    }
  }
  return testing::AssertionSuccess();
}

TEST(Chains, TravelWithMessages) {
  const Loopback network({});
  for (const char* hosts : {"ab", "abab"}) {
    run_on_hosts(hosts, [&](Communicator& on) {
      int32_t value = 0;
      Call call = own_broadcast(on, value);
      if (call.root > 1) call.root = 0;
      Status status = on.executor().run(call);
      if (status.ok()) status = on.executor().run(Call{});  // a barrier
      EXPECT_TRUE(names_both(status));
    });
  }
}

TEST(Chains, AreComparedWhenRanksPart) {
  const Loopback network({});
  std::atomic<bool> closed = false;
  run_on_hosts("ab", [&](Communicator& on) {
    int32_t value = 0;
    // The other rank's words may come before the call ends.
    Status status = on.executor().run(own_broadcast(on, value));
    while (status.ok() && on.rank() == 1 && !closed) usleep(1000);
    if (status.ok()) status = on.close();
    closed = true;
    EXPECT_TRUE((on.rank() == 0 && status.ok()) || names_both(status)) << status.message();
  });
}

TEST(Chains, AreComparedByOneAtLeastOfRanksThatPartAtOnce) {
  const Loopback network({});
  std::atomic<int> found = 0;
  run_on_hosts("ab", [&](Communicator& on) {
    int32_t value = 0;
    Status status = on.executor().run(own_broadcast(on, value));
    if (status.ok()) status = on.close();
    if (status.ok()) return;
    EXPECT_TRUE(names_both(status));
    ++found;
  });
  EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace tutti
#endif
