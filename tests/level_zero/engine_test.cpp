// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Tutti's engine for Level Zero: results do not depend on what a driver may do in another order.
#include "level_zero/engine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "kernels/reduce_host.hpp"
#include "level_zero/handles.hpp"

namespace tutti_test {
namespace {

using tutti::DataType;
using tutti::ReduceOp;

constexpr size_t kBuffers = 4;
constexpr size_t kBytes = 4096;
using Bytes = std::vector<unsigned char>;

// The same steps on a device and on the host, drawn by a seed.
class RandomSteps {
 public:
  RandomSteps(Context context, uint64_t seed)
      : context_(std::move(context)), engine_(make_engine(context_)), random_(seed) {
    for (size_t b = 0; b < kBuffers; ++b) {
      device_.push_back(allocate<unsigned char>(context_, kBytes));
      host_.emplace_back(kBytes);
      for (unsigned char& byte : host_.back()) byte = static_cast<unsigned char>(random_() % 64);
      must(engine_->copy(device_[b], host_[b].data(), kBytes));
    }
  }
  ~RandomSteps() {
    engine_.reset();
    for (unsigned char* const memory : device_) EXPECT_TRUE(context_->free(memory).ok());
  }
  RandomSteps(const RandomSteps&) = delete;
  RandomSteps& operator=(const RandomSteps&) = delete;

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      if (random_() % 3 == 0) {
        copy();
      } else {
        reduce();
      }
      if (random_() % 4 == 0) taken(engine_->submit());
    }
  }

  void compare() {
    std::vector<Bytes> result(kBuffers, Bytes(kBytes));
    for (size_t b = 0; b < kBuffers; ++b) {
      must(engine_->copy(result[b].data(), device_[b], kBytes));
    }
    must(finish(*engine_));
    for (size_t b = 0; b < kBuffers; ++b) EXPECT_EQ(result[b], host_[b]) << "buffer " << b;
  }

 private:
  void copy() {
    const size_t from = random_() % kBuffers;
    const size_t to = (from + 1 + random_() % (kBuffers - 1)) % kBuffers;
    const size_t bytes = 1 + random_() % kBytes;
    must(engine_->copy(device_[to], device_[from], bytes));
    std::memcpy(host_[to].data(), host_[from].data(), bytes);
  }

  void reduce() {
    constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kInt16, DataType::kBfloat16};
    const DataType type = kTypes[random_() % std::size(kTypes)];
    const size_t count = (1 + random_() % kBytes) / tutti::type_size(type);
    const size_t k = 1 + random_() % 3;
    const size_t to = random_() % kBuffers;
    std::vector<const void*> on_device;
    std::vector<const void*> on_host;
    for (size_t s = 0; s < k; ++s) {
      const size_t from = random_() % kBuffers;
      on_device.push_back(device_[from]);
      on_host.push_back(host_[from].data());
    }
    must(engine_->reduce({.op = ReduceOp::kMax,
                          .type = type,
                          .dst = device_[to],
                          .sources = on_device,
                          .count = count}));
    Bytes result(kBytes);
    reduce_kernel_scalar(ReduceOp::kMax, type)(result.data(), on_host.data(), k, count, {});
    std::memcpy(host_[to].data(), result.data(), count * tutti::type_size(type));
  }

  Context context_;
  Engine engine_;
  std::mt19937_64 random_;
  std::vector<unsigned char*> device_;
  std::vector<Bytes> host_;
};

TEST(LevelZeroEngine, GivesTheBitsOfTheHostInWhateverOrderTheDriverExecutes) {
  for (int seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    with_test_driver({{"SHUFFLE", seed}, {"DELAY_US", seed % 3 * 50}}, [&] {
      RandomSteps steps(make_context(), static_cast<uint64_t>(seed));
      steps.run(40);
      steps.compare();
      EXPECT_EQ(complaints(), 0);
    });
  }
}

TEST(LevelZeroEngine, LeavesNothingBehind) {
  with_test_driver({{"SHUFFLE", 5}}, [] {
    {
      RandomSteps steps(make_context(), 5);
      steps.run(20);
      steps.compare();
    }
    EXPECT_EQ(live(nullptr), 0);
    EXPECT_EQ(complaints(), 0);
  });
}

TEST(LevelZeroEngine, CopiesOnACopyEngineAndWithoutOne) {
  for (const long copy_engine : {0, 1}) {
    with_test_driver({{"COPY_ENGINE", copy_engine}, {"SHUFFLE", 3}}, [] {
      const Context context = make_context();
      const Engine engine = make_engine(context, devices::EngineKind::kCopy);
      auto* const device = allocate<int>(context, 100);
      std::vector<int> from(100, 7);
      std::vector<int> to(100);
      must(engine->copy(device, from.data(), 400));
      must(engine->copy(to.data(), device, 400));
      must(finish(*engine));
      EXPECT_EQ(to, from);
    });
  }
}

// A warm call: what is counted in a collective.
TEST(LevelZeroEngine, ReducesAgainByFewCallsOfTheDriver) {
  with_test_driver({}, [] {
    const Context context = make_context();
    const Engine engine = make_engine(context);
    auto* const memory = allocate<float>(context, 300);
    const void* const sources[] = {memory, memory + 100};
    const devices::Reduction reduction{.dst = memory + 200, .sources = sources, .count = 100};
    for (int warm = 0; warm < 2; ++warm) {
      must(engine->reduce(reduction));
      must(finish(*engine));
    }
    const long before = calls(nullptr) - calls("zeEventHostSynchronize");
    must(engine->reduce(reduction));
    must(finish(*engine));
    // The event is reset, and the kernel launched.
    EXPECT_EQ(calls(nullptr) - calls("zeEventHostSynchronize") - before, 2);
  });
}

void export_floats(int socket) {
  const Context context = make_context();
  const Engine engine = make_engine(context);
  auto* const memory = allocate<float>(context, 1000);
  std::vector<float> values(1000, 2.5F);
  must(engine->copy(memory, values.data(), 4000));
  must(finish(*engine));
  devices::MemoryHandle handle = taken(context->export_memory(memory));
  HandleMessage(handle.bytes).send(socket, handle.fd.get());
}

void reduce_with_peer(int socket) {
  const Context context = make_context();
  const Engine engine = make_engine(context);
  devices::MemoryHandle handle;
  handle.length = 4000;
  handle.fd = tutti::Fd(HandleMessage(handle.bytes).receive(socket));
  auto* const peer = static_cast<float*>(taken(context->open_memory(handle)));
  auto* const mine = allocate<float>(context, 1000);
  std::vector<float> values(1000, 0.5F);
  must(engine->copy(mine, values.data(), 4000));
  const void* const sources[] = {peer + 1, mine + 1};
  must(engine->reduce({.dst = mine + 1, .sources = sources, .count = 999}));
  must(engine->copy(values.data(), mine, 4000));
  must(finish(*engine));
  EXPECT_EQ(values[0], 0.5F);
  for (size_t i = 1; i < 1000; ++i) ASSERT_EQ(values[i], 3.0F) << i;
  must(context->close_memory(peer));
  EXPECT_EQ(live("opened memory"), 0);
  EXPECT_FALSE(context->close_memory(peer).ok()) << "closed twice";
}

TEST(LevelZeroEngine, ReducesWhatLiesInTheMemoryOfAnotherProcess) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  const Meeting end(2);
  Processes two;
  two.count = 2;
  run_processes(two, [&](int index) {
    choose_test_driver({{"SHUFFLE", 9}});
    const Context keeps_the_driver = make_context();
    if (index == 0) {
      export_floats(sockets[0]);
    } else {
      reduce_with_peer(sockets[1]);
    }
    end.wait();
  });
  close(sockets[0]);
  close(sockets[1]);
}

}  // namespace
}  // namespace tutti_test
