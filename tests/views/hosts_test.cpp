// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Device buffers of ranks on several hosts, which are made of one (support/hosts.hpp): in pieces
// through memory of the host, one copied while another is on the wire.
#include "views/on_views.hpp"

namespace tutti_test {
namespace {

constexpr size_t kLong = (9 << 20) + 5;  // bytes: several pieces, the last a short one

class ViewsOnHosts : public Views {
 protected:
  // One character per rank: the name of its host.
  static Ranks ranks_on(const std::string& hosts) {
    Ranks ranks;
    ranks.count = static_cast<int>(hosts.size());
    ranks.before = [hosts](int rank) {
      setenv("TUTTI_HOST_ID", std::string(1, hosts[static_cast<size_t>(rank)]).c_str(), 1);
    };
    return ranks;
  }
};

TEST_P(ViewsOnHosts, LongCallsGoInPieces) {
  on_views(ranks_on("ab"), [](const OnView& view) {
    Collectives on(view.rank, view.view);
    on.allreduce(TUTTI_FLOAT32, Op::kSum, kLong / 4, {});
    on.reduce_scatterv(TUTTI_BFLOAT16, Op::kAvg, kLong / 4, {.form = Form::kPersistent});
    on.allgatherv(TUTTI_INT8, kLong / 2, {.form = Form::kNonBlocking, .in_place = true});
    on.alltoallv(TUTTI_INT8, kLong / 2, {});
    on.alltoallv(TUTTI_INT8, kLong / 2, {.form = Form::kNonBlocking, .in_place = true});
    on.gatherv(TUTTI_INT8, kLong / 2, 1, {});
    on.scatterv(TUTTI_INT8, kLong / 2, 1, {});
  });
}

TEST_P(ViewsOnHosts, LongMessagesGoInPiecesInAllForms) {
  on_views(ranks_on("aab"), [](const OnView& view) {
    Collectives on(view.rank, view.view);
    for (const Form form : kForms) {
      on.send_recv(TUTTI_INT8, kLong, {form, false, true});
      on.send_recv(TUTTI_INT8, 77, {form, false, false});
    }
  });
}

// The receiver's buffer is memory of the host, on the communicator itself.
TEST_P(ViewsOnHosts, LongMessagesGoAsAWholeToWhoReceivesOnTheHost) {
  on_views(ranks_on("ab"), [](const OnView& on) {
    std::vector<std::byte> bytes(kLong, std::byte{7});
    if (on.rank == 0) {
      void* memory = nullptr;
      ASSERT_OK(tutti_alloc(on.view, kLong, &memory));
      on.mirror.put(memory, bytes.data(), kLong);
      ASSERT_OK(tutti_send(memory, kLong, TUTTI_UINT8, 1, 3, on.view));
      EXPECT_OK(tutti_free(on.view, memory));
    } else {
      std::vector<std::byte> in(kLong);
      tutti_recv_info info{};
      ASSERT_OK(tutti_recv(in.data(), kLong, TUTTI_UINT8, TUTTI_ANY_SOURCE, TUTTI_ANY_TAG, on.comm,
                           &info));
      EXPECT_EQ(in, bytes);
      EXPECT_EQ(info.count, kLong);
      EXPECT_EQ(info.tag, 3);
    }
  });
}

// Pieces are the same for all, wherever the buffers lie.
TEST_P(ViewsOnHosts, SomeMayGiveMemoryOfTheHostToLongCalls) {
  on_views(ranks_on("ab"), [](const OnView& on) {
    constexpr size_t kCount = kLong / 4;
    std::vector<int> ones(kCount, 1);
    void* memory = nullptr;
    ASSERT_OK(tutti_alloc(on.view, kCount * 4, &memory));
    on.mirror.put(memory, ones.data(), kCount * 4);
    void* const buffer = on.rank == 0 ? memory : ones.data();
    ASSERT_OK(tutti_allreduce(buffer, buffer, kCount, TUTTI_INT32, TUTTI_SUM, on.view));
    if (on.rank == 0) on.mirror.get(ones.data(), memory, kCount * 4);
    EXPECT_EQ(ones, std::vector<int>(kCount, 2));
    EXPECT_OK(tutti_free(on.view, memory));
  });
}

TUTTI_FOR_EVERY_API(ViewsOnHosts);

}  // namespace
}  // namespace tutti_test
