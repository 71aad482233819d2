// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// oneCCL's C++ interface, used as its users do: this file knows <oneapi/ccl.hpp> and nothing else
// of the library.
#include <gtest/gtest.h>

#include <cstring>
#include <oneapi/ccl.hpp>
#include <string>
#include <vector>

#include "support/free_port.hpp"
#include "support/processes.hpp"

namespace {

using tutti_test::Meeting;
using tutti_test::Shared;

// The address goes from rank 0 to the others through shared memory.
void run_ranks(int count, const std::function<void(ccl::communicator& comm)>& body) {
  const Shared<ccl::kvs::address_type> address;
  const Meeting made(count);
  tutti_test::Processes processes;
  processes.count = count;
  tutti_test::run_processes(processes, [&](int rank) {
    ccl::init();
    ccl::shared_ptr_class<ccl::kvs> kvs;
    if (rank == 0) {
      kvs = ccl::create_main_kvs();
      *address = kvs->get_address();
    }
    made.wait();
    if (rank != 0) kvs = ccl::create_kvs(*address);
    auto comm = ccl::create_communicator(count, rank, kvs);
    body(comm);
  });
}

TEST(OneCclCpp, OperationsComeTypedAndUntypedWithAndWithoutAStream) {
  run_ranks(2, [](ccl::communicator& comm) {
    const auto stream = ccl::create_stream();
    const std::vector<float> send(3, static_cast<float>(comm.rank() + 1));
    std::vector<float> recv(3);
    const auto expect_and_clear = [&] {
      EXPECT_EQ(recv, std::vector<float>(3, 3));
      recv.assign(3, -1);
    };
    ccl::allreduce(send.data(), recv.data(), 3, ccl::reduction::sum, comm).wait();
    expect_and_clear();
    ccl::allreduce(send.data(), recv.data(), 3, ccl::reduction::sum, comm, stream).wait();
    expect_and_clear();
    ccl::allreduce(static_cast<const void*>(send.data()), static_cast<void*>(recv.data()), 3,
                   ccl::datatype::float32, ccl::reduction::sum, comm)
        .wait();
    expect_and_clear();
    const auto attr = ccl::create_operation_attr<ccl::allreduce_attr>(
        ccl::attr_val<ccl::operation_attr_id::synchronous>(true),
        ccl::attr_val<ccl::operation_attr_id::match_id>("weights"));
    const auto done = ccl::allreduce(send.data(), recv.data(), 3, ccl::datatype::float32,
                                     ccl::reduction::sum, comm, ccl::default_stream, attr);
    EXPECT_TRUE(done.test());
    expect_and_clear();
    EXPECT_EQ(std::string(attr.get<ccl::operation_attr_id::match_id>()), "weights");
  });
}

TEST(OneCclCpp, EveryOperationGivesItsResult) {
  run_ranks(3, [](ccl::communicator& comm) {
    const int rank = comm.rank();
    const std::vector<int> mine = {10 * rank, 10 * rank + 1, 10 * rank + 2};
    std::vector<int> all(9, -1);
    ccl::allgather(mine.data(), all.data(), 3, comm).wait();
    EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 10, 11, 12, 20, 21, 22}));

    std::vector<int> columns(3, -1);
    ccl::alltoall(mine.data(), columns.data(), 1, comm).wait();
    EXPECT_EQ(columns, (std::vector<int>{rank, 10 + rank, 20 + rank}));

    int block = -1;
    ccl::reduce_scatter(mine.data(), &block, 1, ccl::reduction::max, comm).wait();
    EXPECT_EQ(block, 20 + rank);

    int sum = -1;
    ccl::reduce(&rank, &sum, 1, ccl::reduction::sum, 2, comm).wait();
    EXPECT_EQ(sum, rank == 2 ? 3 : -1);

    int told = rank == 1 ? 5 : 0;
    ccl::broadcast(&told, 1, 1, comm).wait();
    EXPECT_EQ(told, 5);
    int got = 0;
    ccl::broadcast(&rank, &got, 1, 2, comm).wait();
    EXPECT_EQ(got, 2);

    std::vector<int> gathered(3, -1);
    ccl::gather(&rank, gathered.data(), 1, 2, comm).wait();
    EXPECT_EQ(gathered, rank == 2 ? (std::vector<int>{0, 1, 2}) : std::vector<int>(3, -1));
    ccl::scatter(rank == 0 ? all.data() : nullptr, &got, 1, ccl::datatype::int32, 0, comm).wait();
    EXPECT_EQ(got, all[static_cast<size_t>(rank)]);
    ccl::barrier(comm);

    const auto average = static_cast<float>(rank);
    float mean = -1;
    ccl::allreduce(&average, &mean, 1, ccl::reduction::avg, comm).wait();
    EXPECT_EQ(mean, 1);

    float factor = 0.5F;
    auto halved = ccl::reduction::none;
    ccl::reduction_create_pre_mul_sum(&halved, &factor, ccl::datatype::float32,
                                      ccl::scalar_residence_type::scalar_host_immediate, comm);
    ccl::allreduce(&average, &mean, 1, halved, comm).wait();
    EXPECT_EQ(mean, 1.5F);
    ccl::reduction_destroy(halved, comm);
  });
}

TEST(OneCclCpp, UnevenBlocksGoToOneBufferOrToSeveral) {
  run_ranks(2, [](ccl::communicator& comm) {
    const int rank = comm.rank();
    const std::vector<size_t> counts = {1, 2};
    const std::vector<int> mine(counts[static_cast<size_t>(rank)], 7 + rank);
    std::vector<int> all(3, -1);
    ccl::allgatherv(mine.data(), mine.size(), all.data(), counts, comm).wait();
    EXPECT_EQ(all, (std::vector<int>{7, 8, 8}));

    std::vector<int> first(1, -1);
    std::vector<int> second(2, -1);
    std::vector<int*> blocks = {first.data(), second.data()};
    ccl::allgatherv(mine.data(), mine.size(), blocks, counts, comm).wait();
    EXPECT_EQ(first, std::vector<int>{7});
    EXPECT_EQ(second, (std::vector<int>{8, 8}));

    // Rank 0 sends 1 and 2 elements, rank 1 sends 2 and 2.
    const std::vector<size_t> sent = {rank == 0 ? size_t{1} : size_t{2}, 2};
    const std::vector<size_t> received = {rank == 0 ? size_t{1} : size_t{2}, 2};
    std::vector<int> send(sent[0] + sent[1], rank);
    std::vector<int> recv(received[0] + received[1], -1);
    ccl::alltoallv(send.data(), sent, recv.data(), received, comm).wait();
    EXPECT_EQ(recv, rank == 0 ? (std::vector<int>{0, 1, 1}) : (std::vector<int>{0, 0, 1, 1}));

    std::vector<void*> from = {&send[0], &send[sent[0]]};
    std::vector<void*> to = {&recv[0], &recv[received[0]]};
    recv.assign(recv.size(), -1);
    ccl::alltoallv(from, sent, to, received, ccl::datatype::int32, comm).wait();
    EXPECT_EQ(recv, rank == 0 ? (std::vector<int>{0, 1, 1}) : (std::vector<int>{0, 0, 1, 1}));

    EXPECT_THROW(ccl::allgatherv(mine.data(), 5, all.data(), counts, comm), ccl::invalid_argument);
  });
}

TEST(OneCclCpp, MessagesOfAGroupCross) {
  run_ranks(2, [](ccl::communicator& comm) {
    const int peer = 1 - comm.rank();
    const std::vector<double> send(100'000, comm.rank());
    std::vector<double> recv(send.size(), -1);
    ccl::group_start();
    auto received = ccl::recv(recv.data(), recv.size(), peer, comm);
    auto sent = ccl::send(send.data(), send.size(), peer, comm);
    ccl::group_end();
    received.wait();
    sent.wait();
    EXPECT_EQ(recv, std::vector<double>(send.size(), peer));
  });
}

TEST(OneCclCpp, AGroupsOperationsAreDoneAtItsEndWhereTheirEventsAreGone) {
  run_ranks(2, [](ccl::communicator& comm) {
    const int peer = 1 - comm.rank();
    const std::vector<int> send(50'000, comm.rank());
    std::vector<int> recv(send.size(), -1);
    std::vector<std::vector<int>> blocks(2, std::vector<int>(send.size(), -1));
    ccl::group_start();
    ccl::recv(recv.data(), recv.size(), peer, comm);
    ccl::send(send.data(), send.size(), peer, comm);
    ccl::allgatherv(send.data(), send.size(), {blocks[0].data(), blocks[1].data()},
                    {send.size(), send.size()}, comm);
    ccl::group_end();
    EXPECT_EQ(recv, std::vector<int>(send.size(), peer));
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(blocks[static_cast<size_t>(rank)], std::vector<int>(send.size(), rank));
    }
  });
}

TEST(OneCclCpp, AGroupsEndTellsWhatOperationsWhoseEventsAreGoneHaveFailedWith) {
  run_ranks(2, [](ccl::communicator& comm) {
    std::vector<int> data(10);
    ccl::group_start();
    ccl::allreduce(data.data(), data.data(), comm.rank() == 0 ? 9 : 10, ccl::reduction::sum, comm);
    EXPECT_THROW(ccl::group_end(), ccl::exception);
  });
}

TEST(OneCclCpp, AnEventCannotBeWaitedForBeforeItsGroupEnds) {
  run_ranks(2, [](ccl::communicator& comm) {
    std::vector<int> data(10, 1);
    ccl::group_start();
    const ccl::event summed =
        ccl::allreduce(data.data(), data.data(), data.size(), ccl::reduction::sum, comm);
    EXPECT_THROW(summed.wait(), ccl::exception);
    EXPECT_FALSE(summed.test());
    ccl::group_end();
    summed.wait();
    EXPECT_EQ(data, std::vector<int>(10, 2));
  });
}

// What a reduction by a function was told: it adds, and looks at its context.
struct Seen {
  static inline size_t calls = 0;
  static inline size_t most_offset = 0;
  static inline std::string match_id;
};
void add(const void* in, size_t count, void* inout, size_t* out_count, ccl::datatype type,
         const ccl::fn_context* context) {
  EXPECT_EQ(type, ccl::datatype::int32);
  ++Seen::calls;
  Seen::most_offset = std::max(Seen::most_offset, context->offset);
  Seen::match_id = context->match_id;
  std::vector<int> a(count);
  std::vector<int> b(count);
  std::memcpy(a.data(), in, count * sizeof(int));
  std::memcpy(b.data(), inout, count * sizeof(int));
  for (size_t i = 0; i < count; ++i) b[i] += a[i];
  std::memcpy(inout, b.data(), count * sizeof(int));
  *out_count = count;
}

TEST(OneCclCpp, AProgramsFunctionReducesInPieces) {
  run_ranks(3, [](ccl::communicator& comm) {
    const std::vector<int> send(300'000, comm.rank() + 1);
    std::vector<int> recv(send.size(), -1);
    const auto attr = ccl::create_operation_attr<ccl::allreduce_attr>(
        ccl::attr_val<ccl::allreduce_attr_id::reduction_fn>(&add));
    ccl::allreduce(send.data(), recv.data(), send.size(), ccl::reduction::custom, comm, attr)
        .wait();
    EXPECT_EQ(recv, std::vector<int>(send.size(), 6));
    EXPECT_GT(Seen::calls, 2U);
    EXPECT_GT(Seen::most_offset, 0U);
    EXPECT_EQ(Seen::match_id, "");

    std::vector<int> block(100'000, -1);
    const auto scatter_attr = ccl::create_operation_attr<ccl::reduce_scatter_attr>(
        ccl::attr_val<ccl::reduce_scatter_attr_id::reduction_fn>(&add));
    ccl::reduce_scatter(send.data(), block.data(), block.size(), ccl::reduction::custom, comm,
                        scatter_attr)
        .wait();
    EXPECT_EQ(block, std::vector<int>(block.size(), 6));

    recv.assign(recv.size(), -1);
    const auto reduce_attr = ccl::create_operation_attr<ccl::reduce_attr>(
        ccl::attr_val<ccl::reduce_attr_id::reduction_fn>(&add));
    ccl::reduce(send.data(), recv.data(), send.size(), ccl::reduction::custom, 1, comm, reduce_attr)
        .wait();
    EXPECT_EQ(recv[0], comm.rank() == 1 ? 6 : -1);
    EXPECT_THROW(
        ccl::allreduce(send.data(), recv.data(), send.size(), ccl::reduction::custom, comm),
        ccl::invalid_argument);
  });
}

TEST(OneCclCpp, RegisteredTypesAreMoved) {
  struct Particle {
    float position[3];
    char kind;
  };
  run_ranks(2, [](ccl::communicator& comm) {
    const auto type = ccl::register_datatype(
        ccl::create_datatype_attr(ccl::attr_val<ccl::datatype_attr_id::size>(sizeof(Particle))));
    EXPECT_EQ(ccl::get_datatype_size(type), sizeof(Particle));
    Particle mine{};
    mine.position[2] = static_cast<float>(comm.rank());
    mine.kind = static_cast<char>('a' + comm.rank());
    Particle all[2];
    ccl::allgather(&mine, all, 1, type, comm).wait();
    EXPECT_EQ(all[1].kind, 'b');
    EXPECT_EQ(all[1].position[2], 1);
    EXPECT_THROW(ccl::allreduce(&mine, all, 1, type, ccl::reduction::sum, comm), ccl::exception);
    ccl::deregister_datatype(type);
    EXPECT_THROW(ccl::get_datatype_size(type), ccl::invalid_argument);
  });
}

TEST(OneCclCpp, AlltoallWorksInPlace) {
  run_ranks(3, [](ccl::communicator& comm) {
    for (const size_t count : {size_t{1}, size_t{17}, size_t{4096}, size_t{32771}}) {
      for (const bool uneven : {false, true}) {
        std::vector<int> x(3 * count, comm.rank());
        if (uneven) {
          ccl::alltoallv(x.data(), {count, count, count}, x.data(), {count, count, count}, comm)
              .wait();
        } else {
          ccl::alltoall(x.data(), x.data(), count, comm).wait();
        }
        for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<int>(i / count)) << i;
      }
    }
  });
}

TEST(OneCclCpp, CountsAtTheEdgesOf64BitsAreInvalid) {
  run_ranks(2, [](ccl::communicator& comm) {
    int x[2] = {};
    int y[2] = {};
    void* const both[] = {x, y};
    const std::vector<void*> lists(both, both + 2);
    const auto wide = ccl::register_datatype(
        ccl::create_datatype_attr(ccl::attr_val<ccl::datatype_attr_id::size>(24)));
    const auto element = ccl::datatype::int32;
    // Of 24 bytes each, some wrap to few.
    for (const size_t count :
         {SIZE_MAX, SIZE_MAX / 24 + 1, SIZE_MAX / 8 + 1, size_t{1} << 60, size_t{1} << 47}) {
      for (const ccl::datatype type : {element, wide}) {
        EXPECT_THROW(ccl::allgather(x, y, count, type, comm), ccl::exception) << count;
        EXPECT_THROW(ccl::alltoall(x, y, count, type, comm), ccl::exception) << count;
        EXPECT_THROW(ccl::alltoall(lists, lists, count, type, comm), ccl::exception) << count;
        EXPECT_THROW(ccl::alltoallv(lists, {count, count}, lists, {count, count}, type, comm),
                     ccl::exception)
            << count;
        EXPECT_THROW(ccl::allgatherv(x, count, y, {count, count}, type, comm), ccl::exception);
        EXPECT_THROW(ccl::broadcast(x, y, count, type, comm.rank(), comm), ccl::exception);
        EXPECT_THROW(ccl::broadcast(x, count, type, 0, comm), ccl::exception);
        EXPECT_THROW(ccl::send(x, count, type, 0, comm), ccl::exception);
      }
      EXPECT_THROW(ccl::allreduce(x, y, count, element, ccl::reduction::sum, comm), ccl::exception);
    }
    EXPECT_THROW(ccl::broadcast(x, x + 1, 2, element, comm.rank(), comm), ccl::invalid_argument)
        << "overlap in part";
    ccl::barrier(comm);
    ccl::deregister_datatype(wide);
  });
}

TEST(OneCclCpp, OneStoreServesSeveralCommunicatorsAndTheySplit) {
  const Shared<ccl::kvs::address_type> address;
  const Meeting made(2);
  tutti_test::Processes processes;
  processes.count = 2;
  tutti_test::run_processes(processes, [&](int rank) {
    auto kvs = rank == 0 ? ccl::create_main_kvs() : nullptr;
    if (rank == 0) *address = kvs->get_address();
    made.wait();
    if (rank != 0) kvs = ccl::create_kvs(*address);
    for (int round = 0; round < 3; ++round) {
      auto comm = ccl::create_communicator(2, rank, kvs);
      int sum = rank + round;
      ccl::allreduce(&sum, &sum, 1, ccl::reduction::sum, comm).wait();
      EXPECT_EQ(sum, 1 + 2 * round);
      auto alone = comm.split(rank, 0);
      EXPECT_EQ(alone.size(), 1);
      auto reversed = ccl::split_communicator(comm, 0, -rank);
      EXPECT_EQ(reversed.rank(), 1 - rank);
      auto host = comm.split(ccl::preview::create_comm_split_attr(
          ccl::attr_val<ccl::comm_split_attr_id::group>(ccl::split_group::cluster)));
      EXPECT_EQ(host.size(), 2);
    }
    EXPECT_THROW(ccl::create_communicator(3, rank, kvs), ccl::invalid_argument);
  });
}

TEST(OneCclCpp, RanksMayMeetAtAnAddressThatAllKnow) {
  const std::string port = tutti_test::free_port();
  tutti_test::Processes processes;
  processes.count = 3;
  tutti_test::run_processes(processes, [&](int rank) {
    setenv("TUTTI_MEETING_SECRET", "a secret of this job", 1);
    for (int round = 0; round < 2; ++round) {
      auto attr = ccl::create_kvs_attr();
      attr.set<ccl::kvs_attr_id::ip_port>(ccl::string_class("127.0.0.1_" + port));
      const auto kvs = ccl::create_main_kvs(attr);
      for (int i = 0; i < 2; ++i) {
        auto comm = ccl::create_communicator(3, rank, kvs);
        int sum = rank;
        ccl::allreduce(&sum, &sum, 1, ccl::reduction::sum, comm).wait();
        EXPECT_EQ(sum, 3);
      }
    }
    EXPECT_THROW(ccl::create_main_kvs(
                     ccl::create_kvs_attr(ccl::attr_val<ccl::kvs_attr_id::ip_port>("127.0.0.1"))),
                 ccl::invalid_argument);
  });
}

TEST(OneCclCpp, NamesOfDevicesAndTypesAreThoseOfTheOriginal) {
  EXPECT_TRUE(ccl::is_supported<float>() && ccl::is_native_type_supported<int64_t*>());
  EXPECT_FALSE(ccl::is_supported<std::string>() || ccl::is_class_supported<float>());
  EXPECT_TRUE(ccl::is_device_supported<ccl::empty_t&>());
  EXPECT_FALSE(ccl::is_stream_supported<int>() || ccl::is_context_supported<int>());
  EXPECT_EQ(ccl::create_device().get<ccl::device_attr_id::cl_backend>(),
            ccl::cl_backend_type::empty_backend);
  EXPECT_EQ(ccl::create_context().get<ccl::context_attr_id::version>().major, 2022U);
  const ccl::device_index_type device(1, ccl::unused_index_value, 20);
  EXPECT_EQ(std::string(ccl::to_string(device)), "[1:*:20]");
  EXPECT_EQ(ccl::from_string("[1:*:20]"), device);
  for (const char* text :
       {"", "[", "[1:2]", "[1:2:3", "[1:2:3]]", "[1:2:-3]", "[1:2:4294967296]"}) {
    EXPECT_THROW(ccl::from_string(text), ccl::invalid_argument) << text;
  }
  auto attr = ccl::create_coll_attr<ccl::reduce_attr>();
  EXPECT_EQ(attr.get<ccl::reduce_attr_id::reduction_fn>().get(), nullptr);
  EXPECT_EQ(attr.set<ccl::operation_attr_id::priority>(3), 0U);
  EXPECT_EQ(ccl::attr_val(2, ccl::create_device()).first, 2U);
}

// A store that a program brings along: here, shared memory.
class SharedStore : public ccl::kvs_interface {
 public:
  struct Slot {
    std::atomic<size_t> bytes;
    char data[256];
  };
  explicit SharedStore(Slot& slot) : slot_(slot) {}
  ccl::vector_class<char> get(const ccl::string_class&) override {
    while (slot_.bytes.load() == 0) std::this_thread::yield();
    return {slot_.data, slot_.data + slot_.bytes.load()};
  }
  void set(const ccl::string_class&, const ccl::vector_class<char>& data) override {
    std::copy(data.begin(), data.end(), slot_.data);
    slot_.bytes = data.size();
  }

 private:
  Slot& slot_;
};

TEST(OneCclCpp, AProgramMayBringItsOwnStore) {
  const Shared<SharedStore::Slot> slot;
  tutti_test::Processes processes;
  processes.count = 2;
  tutti_test::run_processes(processes, [&](int rank) {
    auto comm = ccl::create_communicator(2, rank, std::make_shared<SharedStore>(*slot));
    int sum = 1;
    ccl::allreduce(&sum, &sum, 1, ccl::reduction::sum, comm).wait();
    EXPECT_EQ(sum, 2);
  });
}

// A store of the program's that passes everything on to the library's.
class PassingStore : public ccl::kvs_interface {
 public:
  explicit PassingStore(ccl::shared_ptr_class<ccl::kvs> kvs) : kvs_(std::move(kvs)) {}
  ccl::vector_class<char> get(const ccl::string_class& key) override { return kvs_->get(key); }
  void set(const ccl::string_class& key, const ccl::vector_class<char>& data) override {
    kvs_->set(key, data);
  }
  int get_id() override { return kvs_->get_id(); }

 private:
  ccl::shared_ptr_class<ccl::kvs> kvs_;
};

TEST(OneCclCpp, AProgramsStoreMayPassCallsOnToAKvs) {
  const Shared<ccl::kvs::address_type> address;
  const Meeting made(3);
  tutti_test::Processes processes;
  processes.count = 3;
  tutti_test::run_processes(processes, [&](int rank) {
    auto kvs = rank == 0 ? ccl::create_main_kvs() : nullptr;
    if (rank == 0) *address = kvs->get_address();
    made.wait();
    if (rank != 0) kvs = ccl::create_kvs(*address);
    const auto store = std::make_shared<PassingStore>(kvs);
    for (int round = 0; round < 2; ++round) {
      auto comm = ccl::create_communicator(3, rank, store);
      int sum = rank;
      ccl::allreduce(&sum, &sum, 1, ccl::reduction::sum, comm).wait();
      EXPECT_EQ(sum, 3);
    }
    EXPECT_EQ(ccl::create_communicator(3, rank, kvs).rank(), rank);
  });
}

TEST(OneCclCpp, TheKvsObjectsOfOneAddressAreOneStoreInAProcess) {
  tutti_test::Processes processes;
  tutti_test::run_processes(processes, [](int) {
    const auto kvs = ccl::create_main_kvs();
    const auto other = ccl::create_kvs(kvs->get_address());
    const ccl::vector_class<char> value = {'a', 'b'};
    kvs->set("key", value);
    EXPECT_EQ(other->get("key"), value);
    EXPECT_THROW(other->get("another"), ccl::exception);
    EXPECT_THROW(ccl::create_main_kvs()->get("key"), ccl::exception);
  });
}

TEST(OneCclCpp, RanksThatAreThreadsHaveFormsOfTheirOwn) {
  tutti_test::Processes processes;
  tutti_test::run_processes(processes, [](int) {
    const auto kvs = ccl::create_main_kvs();
    std::array<int, 2> sums = {1, 2};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        auto device = ccl::create_device();
        auto comm = ccl::create_communicatorExt(2, rank, device, ccl::create_context(), kvs);
        int& mine = sums[static_cast<size_t>(rank)];
        ccl::allreduce(&mine, &mine, 1, ccl::reduction::sum, comm).wait();
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(sums, (std::array<int, 2>{3, 3}));
    const ccl::vector_class<ccl::pair_class<int, ccl::device>> devices = {
        {0, ccl::create_device()}, {1, ccl::create_device()}};
    EXPECT_EQ(ccl::create_communicatorsExt(2, devices, ccl::create_context(), kvs).size(), 2U);
    EXPECT_EQ(std::set<ccl::device>({devices[0].second, devices[1].second}).size(), 1U);
  });
}

TEST(OneCclCpp, SeveralRanksMayLiveInOneProcess) {
  tutti_test::Processes processes;
  tutti_test::run_processes(processes, [](int) {
    const auto kvs = ccl::create_main_kvs();
    const ccl::map_class<int, ccl::device> devices = {{0, ccl::create_device()},
                                                      {1, ccl::create_device()}};
    auto comms = ccl::create_communicators(2, devices, ccl::create_context(), kvs);
    ASSERT_EQ(comms.size(), 2U);
    float values[2] = {1, 2};
    std::vector<ccl::event> events;
    for (size_t i = 0; i < 2; ++i) {
      events.push_back(ccl::allreduce(&values[i], &values[i], 1, ccl::reduction::sum, comms[i]));
    }
    for (auto& event : events) event.wait();
    EXPECT_EQ(values[0], 3);
    EXPECT_EQ(values[1], 3);
  });
}

TEST(OneCclCpp, OperationsWaitForThoseTheyDependOn) {
  run_ranks(2, [](ccl::communicator& comm) {
    std::vector<float> a(50'000, 1);
    std::vector<float> b(a.size());
    std::vector<ccl::event> deps;
    deps.push_back(ccl::allreduce(a.data(), b.data(), a.size(), ccl::reduction::sum, comm));
    ccl::allreduce(b.data(), a.data(), a.size(), ccl::reduction::sum, comm,
                   ccl::default_allreduce_attr, deps)
        .wait();
    EXPECT_EQ(a, std::vector<float>(a.size(), 4));
  });
}

TEST(OneCclCpp, ErrorsAreExceptionsWithASentence) {
  run_ranks(1, [](ccl::communicator& comm) {
    float x = 0;
    try {
      ccl::broadcast(&x, 1, 4, comm).wait();
      FAIL() << "root 4 of 1 rank was taken";
    } catch (const ccl::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).rfind("oneCCL: ", 0), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find("root"), std::string::npos) << error.what();
    }
    ccl::communicator moved = std::move(comm);
    EXPECT_THROW(comm.rank(), ccl::exception);
    EXPECT_THROW(ccl::create_kvs(ccl::kvs::address_type{}), ccl::invalid_argument);
    int queue = 0;
    EXPECT_THROW(ccl::create_stream(queue), ccl::unsupported);
    EXPECT_EQ(ccl::get_library_version().major, 2022U);
  });
}

}  // namespace
