// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// oneCCL's C++ interface as backends of PyTorch use it: the address of the main store passes
// through a store of bytes, communicators are kept for the devices that a call names, types and
// operations are looked up in tables, every call has attributes, and its event is waited for later.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <oneapi/ccl.hpp>
#include <string>
#include <vector>

#include "support/processes.hpp"

namespace {

using tutti_test::Meeting;
using tutti_test::Shared;

enum class Type { kFloat, kHalf, kBrain, kLong, kByte };
const std::map<Type, ccl::datatype> kTypes = {
    {Type::kFloat, ccl::datatype::float32},  {Type::kHalf, ccl::datatype::float16},
    {Type::kBrain, ccl::datatype::bfloat16}, {Type::kLong, ccl::datatype::int64},
    {Type::kByte, ccl::datatype::uint8},
};
enum class Op { kSum, kMin, kMax, kProduct };
const std::map<Op, ccl::reduction> kOps = {
    {Op::kSum, ccl::reduction::sum},
    {Op::kMin, ccl::reduction::min},
    {Op::kMax, ccl::reduction::max},
    {Op::kProduct, ccl::reduction::prod},
};

// What a process group keeps of a list of devices.
class Comms {
 public:
  Comms(ccl::vector_class<ccl::communicator> comms, ccl::shared_ptr_class<ccl::kvs_interface> kvs)
      : comms(std::move(comms)), kvs_(std::move(kvs)) {}
  ccl::vector_class<ccl::communicator> comms;

 private:
  const ccl::shared_ptr_class<ccl::kvs_interface> kvs_;
};

// A store as wide as an address, which processes share.
struct Bytes {
  unsigned char data[ccl::kvs::address_max_size];
};

class Group {
 public:
  Group(int rank, int size, Bytes& store, const Meeting& made) : rank_(rank), size_(size) {
    ccl::init();
    if (rank == 0) {
      kvs_ = ccl::create_main_kvs();
      const ccl::kvs::address_type address = kvs_->get_address();
      const std::vector<uint8_t> bytes(address.begin(), address.end());
      std::copy(bytes.begin(), bytes.end(), store.data);
    }
    made.wait();
    if (rank == 0) return;
    ccl::kvs::address_type address;
    std::copy_n(store.data, ccl::kvs::address_max_size, address.begin());
    kvs_ = ccl::create_kvs(address);
  }

  ccl::communicator& on(const std::string& devices) {
    auto found = kept_.find(devices);
    if (found == kept_.end()) {
      ccl::vector_class<ccl::communicator> comms;
      comms.emplace_back(ccl::create_communicator(size_, rank_, kvs_));
      found = kept_.emplace(devices, std::make_shared<Comms>(std::move(comms), kvs_)).first;
    }
    return found->second->comms.front();
  }

 private:
  const int rank_;
  const int size_;
  ccl::shared_ptr_class<ccl::kvs> kvs_;
  std::map<std::string, std::shared_ptr<Comms>> kept_;
};

void run_groups(int size, const std::function<void(int rank, Group& group)>& body) {
  const Shared<Bytes> store;
  const Meeting made(size);
  tutti_test::Processes processes;
  processes.count = size;
  tutti_test::run_processes(processes, [&](int rank) {
    Group group(rank, size, *store, made);
    body(rank, group);
  });
}

// The attributes of a call that is made again and again under one name.
template <typename Attributes>
Attributes named(const std::string& name) {
  auto attributes = ccl::create_operation_attr<Attributes>();
  attributes.template set<ccl::operation_attr_id::to_cache>(true);
  attributes.template set<ccl::operation_attr_id::match_id>(ccl::string_class(name));
  return attributes;
}

TEST(TorchCclHabits, EventsOfSeveralCallsAreKeptAndWaitedForInTheEnd) {
  run_groups(2, [](int rank, Group& group) {
    ccl::communicator& comm = group.on("cpu");
    std::vector<float> summed(8, static_cast<float>(rank + 1));
    std::vector<int64_t> largest = {rank, -rank};
    std::vector<uint8_t> sent(5, rank == 1 ? 7 : 0);
    std::vector<ccl::event> events;
    events.push_back(ccl::allreduce(summed.data(), summed.data(), summed.size(),
                                    kTypes.at(Type::kFloat), kOps.at(Op::kSum), comm,
                                    named<ccl::allreduce_attr>("gradients")));
    events.push_back(ccl::allreduce(largest.data(), largest.data(), largest.size(),
                                    kTypes.at(Type::kLong), kOps.at(Op::kMax), comm,
                                    named<ccl::allreduce_attr>("largest")));
    events.push_back(ccl::broadcast(sent.data(), sent.size(), kTypes.at(Type::kByte), 1, comm,
                                    named<ccl::broadcast_attr>("weights")));
    events.emplace_back(ccl::barrier(comm, ccl::create_operation_attr<ccl::barrier_attr>()));
    for (ccl::event& event : events) event.wait();
    EXPECT_EQ(summed, std::vector<float>(8, 3));
    EXPECT_EQ(largest, (std::vector<int64_t>{1, 0}));
    EXPECT_EQ(sent, std::vector<uint8_t>(5, 7));
    for (ccl::event& event : events) EXPECT_TRUE(event.test());
  });
}

TEST(TorchCclHabits, ListsOfTensorsAreBuffersOfTheirOwn) {
  run_groups(3, [](int rank, Group& group) {
    ccl::communicator& comm = group.on("cpu");
    const auto ranks = static_cast<size_t>(comm.size());
    std::vector<size_t> counts;
    std::vector<std::vector<float>> outputs;
    std::vector<void*> buffers;
    for (size_t from = 0; from < ranks; ++from) {
      counts.push_back(from + 1);
      outputs.emplace_back(from + 1, -1.0f);
    }
    for (auto& output : outputs) buffers.push_back(output.data());
    const std::vector<float> own(counts[static_cast<size_t>(rank)], static_cast<float>(rank));
    ccl::event gathered =
        ccl::allgatherv(own.data(), own.size(), buffers, counts, kTypes.at(Type::kFloat), comm,
                        named<ccl::allgatherv_attr>("lists"));
    gathered.wait();
    for (size_t from = 0; from < ranks; ++from) {
      EXPECT_EQ(outputs[from], std::vector<float>(from + 1, static_cast<float>(from)));
    }
  });
}

TEST(TorchCclHabits, ExchangesAndReductionsHaveAttributesAndTypesFromTables) {
  run_groups(2, [](int rank, Group& group) {
    ccl::communicator& comm = group.on("cpu");
    const std::vector<size_t> to =
        rank == 0 ? std::vector<size_t>{1, 2} : std::vector<size_t>{2, 1};
    const std::vector<int64_t> mine(3, rank);
    std::vector<int64_t> theirs(3, -1);
    ccl::alltoallv(mine.data(), to, theirs.data(), to, kTypes.at(Type::kLong), comm,
                   named<ccl::alltoallv_attr>("uneven"))
        .wait();
    EXPECT_EQ(theirs, (rank == 0 ? std::vector<int64_t>{0, 1, 1} : std::vector<int64_t>{0, 0, 1}));

    std::vector<float> product = {static_cast<float>(rank + 2)};
    ccl::reduce(product.data(), product.data(), 1, kTypes.at(Type::kFloat), kOps.at(Op::kProduct),
                0, comm, named<ccl::reduce_attr>("product"))
        .wait();
    if (rank == 0) {
      EXPECT_EQ(product.front(), 6);
    }

    const uint16_t ones[4] = {0x3f80, 0x3f80, 0x3f80, 0x3f80};  // of bfloat16
    uint16_t blocks[2] = {};
    ccl::reduce_scatter(ones, blocks, 2, kTypes.at(Type::kBrain), kOps.at(Op::kSum), comm,
                        named<ccl::reduce_scatter_attr>("blocks"))
        .wait();
    EXPECT_EQ(blocks[0], 0x4000);
    EXPECT_EQ(blocks[1], 0x4000);
  });
}

TEST(TorchCclHabits, MessagesOfAGroupAreWaitedForTogether) {
  run_groups(2, [](int rank, Group& group) {
    ccl::communicator& comm = group.on("cpu");
    int sent = rank + 10;
    int received = -1;
    std::vector<ccl::event> events;
    ccl::group_start();
    events.push_back(ccl::send(&sent, 1, ccl::datatype::int32, 1 - rank, comm));
    events.push_back(ccl::recv(&received, 1, ccl::datatype::int32, 1 - rank, comm));
    ccl::group_end();
    for (ccl::event& event : events) event.wait();
    EXPECT_EQ(received, 11 - rank);
  });
}

// A second list of devices makes another communicator over the same store.
TEST(TorchCclHabits, EachListOfDevicesHasACommunicator) {
  run_groups(2, [](int rank, Group& group) {
    for (const char* devices : {"cpu", "cpu:0", "cpu"}) {
      double value = rank;
      ccl::allreduce(&value, &value, 1, ccl::reduction::sum, group.on(devices)).wait();
      EXPECT_EQ(value, 1);
    }
  });
}

// The helper of an engine: a name travels as oneCCL's own string, a group has a store of its own,
// and the communicators of all groups are in one vector.
TEST(TorchCclHabits, GroupsHaveStoresAndCommunicatorsOfTheirOwn) {
  const Shared<Bytes> stores[2];
  const Meeting made[2] = {Meeting(2), Meeting(2)};
  tutti_test::Processes processes;
  processes.count = 2;
  tutti_test::run_processes(processes, [&](int rank) {
    std::vector<ccl::communicator> comms;
    for (size_t i = 0; i < 2; ++i) {
      const Shared<Bytes>& store = stores[i];
      ccl::shared_ptr_class<ccl::kvs> kvs;
      ccl::kvs::address_type address;
      if (rank == 0) {
        kvs = ccl::create_main_kvs();
        address = kvs->get_address();
        std::copy(address.begin(), address.end(), store->data);
      }
      made[i].wait();
      if (rank != 0) {
        memcpy(address.data(), store->data, address.size());
        kvs = ccl::create_kvs(address);
      }
      comms.emplace_back(ccl::create_communicator(2, rank, kvs));
    }
    ccl::allreduce_attr attributes = ccl::default_allreduce_attr;
    const auto name = ccl::v1::string(std::string("layer"));
    attributes.set<ccl::operation_attr_id::to_cache>(true);
    attributes.set<ccl::operation_attr_id::match_id>(name);
    for (ccl::communicator& comm : comms) {
      float value = 1;
      ccl::allreduce(&value, &value, 1, ccl::datatype::float32, ccl::reduction::sum, comm,
                     attributes)
          .wait();
      EXPECT_EQ(value, 2);
      ccl::barrier(comm).wait();
    }
  });
}

}  // namespace
