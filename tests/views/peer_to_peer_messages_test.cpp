// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages that devices copy from where they lie: on the test driver for Level Zero, whose counts
// tell which way they went.
#ifdef TUTTI_TEST_ZE_PATH
#include <sys/syscall.h>

#include <cerrno>

#include "support/forbidden.hpp"
#include "views/peer_to_peer.hpp"

namespace tutti_test {
namespace {

constexpr size_t kLong = 300'000;  // longer than what a sender gives away at once
constexpr int kTag = 5;

// Memory of the device with that number everywhere, or to receive into.
class Numbers {
 public:
  explicit Numbers(const OnView& on, int value = -1, size_t count = kLong)
      : on_(on), values_(count, value) {
    require_ok(tutti_alloc(on.view, count * sizeof(int), &memory_), "tutti_alloc");
    on_.mirror.put(memory_, values_.data(), count * sizeof(int));
  }
  ~Numbers() { EXPECT_OK(tutti_free(on_.view, memory_)); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  [[nodiscard]] void* memory() const { return memory_; }
  void expect(int value, size_t count = kLong) {
    on_.mirror.get(values_.data(), memory_, values_.size() * sizeof(int));
    const std::vector<int> expected(count, value);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), values_.begin()))
        << "got " << values_.front() << ", expected " << value;
  }

 private:
  const OnView& on_;
  std::vector<int> values_;
  void* memory_ = nullptr;
};

class DirectMessages : public Direct {};

TEST_F(DirectMessages, GoDirectlyInAllFormsHoweverCommandsAreShuffled) {
  for (int seed = 1; seed <= 4; ++seed) {
    on_devices(so_many(2 + seed % 2), {{"SHUFFLE", seed}, {"DELAY_US", 20 * (seed % 3)}},
               [&](const OnView& view) {
                 Collectives on(view.rank, view.view);
                 for (const Form form : kForms) {
                   on.send_recv(TUTTI_FLOAT32, kLong, {form, false, seed % 2 == 0});
                   on.send_recv(TUTTI_INT8, 100, {form, false, false});
                 }
                 EXPECT_GT(opened(), 0);
                 EXPECT_EQ(driver_complaints(), 0);
               });
  }
}

TEST_F(DirectMessages, AReceiveListedBeforeTheSendInAGroupIsNoDeadlock) {
  on_devices(so_many(3), {{"SHUFFLE", 3}}, [](const OnView& on) {
    Numbers out(on, on.rank);
    Numbers in(on);
    for (int round = 0; round < 3; ++round) {
      tutti_recv_info info{};
      ASSERT_OK(tutti_group_start());
      ASSERT_OK(
          tutti_recv(in.memory(), kLong, TUTTI_INT32, (on.rank + 2) % 3, kTag, on.view, &info));
      ASSERT_OK(tutti_send(out.memory(), kLong, TUTTI_INT32, (on.rank + 1) % 3, kTag, on.view));
      ASSERT_OK(tutti_group_end());
      EXPECT_EQ(info.count, kLong);
      EXPECT_EQ(info.source, (on.rank + 2) % 3);
      EXPECT_EQ(info.tag, kTag);
      ASSERT_OK(tutti_sendrecv(out.memory(), kLong, (on.rank + 1) % 3, kTag, in.memory(), kLong,
                               TUTTI_ANY_SOURCE, TUTTI_ANY_TAG, TUTTI_INT32, on.view, &info));
      EXPECT_EQ(info.source, (on.rank + 2) % 3);
      EXPECT_EQ(info.tag, kTag);
    }
    in.expect((on.rank + 2) % 3);
    EXPECT_EQ(opened(), 1) << "once, and kept";
    EXPECT_EQ(driver_complaints(), 0);
  });
}

// From a device to who receives in memory of the host, on the communicator or on a view.
TEST_F(DirectMessages, GoThroughTheHostToWhoReceivesThere) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    Numbers out(on, 77);
    std::vector<int> in(kLong);
    const auto expect_all = [&](const tutti_recv_info& info) {
      EXPECT_EQ(in, std::vector<int>(kLong, 77));
      EXPECT_EQ(info.count, kLong);
      EXPECT_EQ(info.source, 0);
      EXPECT_EQ(info.tag, kTag);
      std::fill(in.begin(), in.end(), 0);
    };
    if (on.rank == 0) {
      for (int i = 0; i < 6; ++i) {
        ASSERT_OK(tutti_send(out.memory(), kLong, TUTTI_INT32, 1, kTag, on.view));
      }
      return;
    }
    tutti_recv_info info{};
    for (tutti_comm_t comm : {on.comm, on.view}) {
      ASSERT_OK(tutti_recv(in.data(), kLong, TUTTI_INT32, 0, kTag, comm, &info));
      expect_all(info);
    }
    tutti_request_t request = nullptr;
    ASSERT_OK(tutti_recv_init(in.data(), kLong, TUTTI_INT32, TUTTI_ANY_SOURCE, TUTTI_ANY_TAG,
                              on.comm, &request));
    for (int round = 0; round < 2; ++round) {
      ASSERT_OK(tutti_request_start(request));
      ASSERT_OK(tutti_request_wait(request));
      ASSERT_OK(tutti_request_recv_info(request, &info));
      expect_all(info);
    }
    ASSERT_OK(tutti_request_free(request));
    for (int round = 0; round < 2; ++round) {
      if (round > 0) usleep(20'000);  // the second has been announced before
      ASSERT_OK(tutti_irecv(in.data(), kLong, TUTTI_INT32, 0, kTag, on.comm, &request));
      ASSERT_OK(tutti_request_wait(request));
      ASSERT_OK(tutti_request_recv_info(request, &info));
      ASSERT_OK(tutti_request_free(request));
      expect_all(info);
    }
    EXPECT_EQ(opened(), 0);
  });
}

// The one who exchanges in one call has its message received only after it has answered for what it
// receives.
TEST_F(DirectMessages, AreAnsweredWhileTheReceiverWaitsForItsOwnSend) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    for (int round = 0; round < 3; ++round) {
      if (on.rank == 0) {
        Numbers out(on, round);
        Numbers in(on);
        ASSERT_OK(tutti_send(out.memory(), kLong, TUTTI_INT32, 1, kTag, on.view));
        ASSERT_OK(tutti_recv(in.memory(), kLong, TUTTI_INT32, 1, kTag, on.view, nullptr));
        in.expect(100);
      } else {
        const std::vector<int> out(kLong, 100);
        std::vector<int> in(kLong);
        tutti_recv_info info{};
        ASSERT_OK(tutti_sendrecv(out.data(), kLong, 0, kTag, in.data(), kLong, 0, kTag, TUTTI_INT32,
                                 on.comm, &info));
        EXPECT_EQ(in, std::vector<int>(kLong, round));
        EXPECT_EQ(info.count, kLong);
      }
    }
  });
}

TEST_F(DirectMessages, KeepTheirOrderAmongShortOnesAndThoseOfTheHost) {
  on_devices(so_many(2), {{"SHUFFLE", 9}, {"DELAY_US", 50}}, [](const OnView& on) {
    constexpr int kMessages = 12;
    const auto length = [](int i) { return i % 3 == 1 ? size_t{10} : kLong; };
    std::vector<std::unique_ptr<Numbers>> buffers;
    std::vector<tutti_request_t> requests(kMessages);
    for (int i = 0; i < kMessages; ++i) {
      buffers.push_back(std::make_unique<Numbers>(on, on.rank == 0 ? i : -1));
    }
    for (size_t i = 0; i < kMessages; ++i) {
      void* const memory = buffers[i]->memory();
      if (on.rank == 0) {
        ASSERT_OK(tutti_isend(memory, length(static_cast<int>(i)), TUTTI_INT32, 1, kTag, on.view,
                              &requests[i]));
      } else {
        ASSERT_OK(tutti_irecv(memory, kLong, TUTTI_INT32, 0, kTag, on.view, &requests[i]));
      }
    }
    for (tutti_request_t request : requests) {
      EXPECT_OK(tutti_request_wait(request));
      EXPECT_OK(tutti_request_free(request));
    }
    for (int i = 0; on.rank == 1 && i < kMessages; ++i) {
      buffers[static_cast<size_t>(i)]->expect(i, length(i));
    }
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(DirectMessages, ThatAreTooLongOrOfAnotherTypeFailAtTheReceiverAlone) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    Numbers buffer(on, on.rank);
    if (on.rank == 0) {
      for (int i = 0; i < 4; ++i) {
        EXPECT_OK(tutti_send(buffer.memory(), kLong, TUTTI_INT32, 1, kTag, on.view));
      }
      return;
    }
    std::vector<int> host(kLong);
    EXPECT_STATUS(TUTTI_ERR_TRUNCATED,
                  tutti_recv(buffer.memory(), kLong - 1, TUTTI_INT32, 0, kTag, on.view, nullptr));
    EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                  tutti_recv(buffer.memory(), kLong, TUTTI_FLOAT32, 0, kTag, on.view, nullptr));
    EXPECT_ERROR_SAYS("sent int32");
    EXPECT_STATUS(TUTTI_ERR_TRUNCATED,
                  tutti_recv(host.data(), kLong - 1, TUTTI_INT32, 0, kTag, on.comm, nullptr));
    EXPECT_STATUS(TUTTI_ERR_MISMATCH,
                  tutti_recv(host.data(), kLong, TUTTI_FLOAT32, 0, kTag, on.comm, nullptr));
    EXPECT_ERROR_SAYS("sent int32");
  });
}

TEST_F(DirectMessages, PassThroughTheHostWhereTheDriverRefuses) {
  for (const char* const refused : {"FAIL_IPC_OPEN", "FAIL_IPC_GET"}) {
    const auto switches = [&](int rank) { return rank == 1 ? Switches{{refused, 1}} : Switches{}; };
    on_devices(
        so_many(2), switches, [](int) { return 0; },
        [](const OnView& view) {
          Collectives on(view.rank, view.view);
          for (const Form form : kForms) on.send_recv(TUTTI_FLOAT32, kLong, {form, false, false});
        });
  }
}

// As where ptrace_scope, a filter of system calls or an old kernel says so.
TEST_F(DirectMessages, HandTheirDescriptorsOverWhereNoneMayBeTaken) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  on_devices(so_many(3), {{"SHUFFLE", 2}}, [](const OnView& view) {
    if (view.rank != 1) {
      ASSERT_TRUE(forbid({{SYS_pidfd_getfd, EPERM}}));
    }
    Collectives on(view.rank, view.view);
    for (int round = 0; round < 4; ++round) {
      on.send_recv(TUTTI_FLOAT32, kLong, {kForms[round % 3], false, false});
      if (round > 1) on.allreduce(TUTTI_FLOAT32, Op::kSum, 1000, {});
    }
    EXPECT_GT(opened(), 0);
    EXPECT_GT(kernels(), 0);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(DirectMessages, PassThroughTheHostWithoutASocketEither) {
  if (!can_forbid()) GTEST_SKIP() << "this system has no filters of system calls";
  on_devices(so_many(2), {}, [](const OnView& view) {
    ASSERT_TRUE(forbid({{SYS_pidfd_getfd, ENOSYS}, {SYS_connect, EPERM}}));
    Collectives on(view.rank, view.view);
    for (const Form form : kForms) on.send_recv(TUTTI_FLOAT32, kLong, {form, false, false});
    EXPECT_EQ(opened(), 0);
  });
}

TEST_F(DirectMessages, EndWithTheirPeer) {
  Ranks ranks = so_many(2);
  ranks.breaks = true;
  ranks.killed = {1};
  const Meeting ready(2);
  on_devices(ranks, {}, [&ready](const OnView& on) {
    Numbers buffer(on, on.rank);
    ready.wait();
    if (on.rank == 1) kill_myself();
    EXPECT_STATUS(TUTTI_ERR_PEER_FAILED,
                  tutti_send(buffer.memory(), kLong, TUTTI_INT32, 1, kTag, on.view));
    EXPECT_ERROR_SAYS("rank 1");
  });
}

TEST_F(DirectMessages, ThatReadWhatACollectiveReadsAtTheSameTimeOpenItOnce) {
  on_devices(so_many(2), {{"SHUFFLE", 7}, {"DELAY_US", 200}}, [](const OnView& on) {
    for (int round = 1; round <= 10; ++round) {
      Numbers memory(on, on.rank, 3 * kLong);
      auto* const data = static_cast<int*>(memory.memory());
      tutti_request_t requests[3] = {};
      ASSERT_OK(tutti_iallreduce(data, data, kLong, TUTTI_INT32, TUTTI_SUM, on.view, &requests[0]));
      ASSERT_OK(
          tutti_irecv(data + kLong, kLong, TUTTI_INT32, 1 - on.rank, kTag, on.view, &requests[1]));
      ASSERT_OK(tutti_isend(data + 2 * kLong, kLong, TUTTI_INT32, 1 - on.rank, kTag, on.view,
                            &requests[2]));
      for (tutti_request_t request : requests) {
        EXPECT_OK(tutti_request_wait(request));
        EXPECT_OK(tutti_request_free(request));
      }
      memory.expect(1, kLong);
      EXPECT_EQ(opened(), round);
      ASSERT_OK(tutti_barrier(on.comm));
    }
    EXPECT_EQ(driver_complaints(), 0);
  });
}

// It tells who reads still that what it showed first is shown no more.
TEST_F(DirectMessages, AreReadToTheirEndThoughTheirSenderShowsManyOthers) {
  on_devices(so_many(2), {{"SHUFFLE", 3}, {"DELAY_US", 30000}}, [](const OnView& on) {
    constexpr int kMessages = 80;
    std::vector<std::unique_ptr<Numbers>> buffers;
    std::vector<tutti_request_t> requests(kMessages);
    for (size_t i = 0; i < kMessages; ++i) {
      buffers.push_back(std::make_unique<Numbers>(on, on.rank == 0 ? static_cast<int>(i) : -1));
    }
    for (size_t i = 0; i < kMessages; ++i) {
      void* const memory = buffers[i]->memory();
      if (on.rank == 0) {
        ASSERT_OK(tutti_isend(memory, kLong, TUTTI_INT32, 1, kTag, on.view, &requests[i]));
      } else {
        ASSERT_OK(tutti_irecv(memory, kLong, TUTTI_INT32, 0, kTag, on.view, &requests[i]));
      }
    }
    for (tutti_request_t request : requests) {
      EXPECT_OK(tutti_request_wait(request));
      EXPECT_OK(tutti_request_free(request));
    }
    for (size_t i = 0; on.rank == 1 && i < kMessages; ++i) {
      buffers[i]->expect(static_cast<int>(i));
    }
    EXPECT_EQ(driver_complaints(), 0);
  });
}

TEST_F(DirectMessages, LeaveNothingOpenOfWhatTheirSendersFree) {
  on_devices(so_many(2), {}, [](const OnView& on) {
    constexpr int kRounds = 40;
    size_t before = 0;
    for (int round = 0; round < kRounds; ++round) {
      if (round == kRounds / 2) before = descriptors();
      Numbers buffer(on, on.rank == 0 ? round : -1);
      if (on.rank == 0) {
        ASSERT_OK(tutti_send(buffer.memory(), kLong, TUTTI_INT32, 1, kTag, on.view));
      } else {
        ASSERT_OK(tutti_recv(buffer.memory(), kLong, TUTTI_INT32, 0, kTag, on.view, nullptr));
        buffer.expect(round);
      }
    }
    EXPECT_LE(descriptors(), before);
    EXPECT_EQ(driver_complaints(), 0);
  });
}

}  // namespace
}  // namespace tutti_test
#endif
