// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "communicator.hpp"
#include "group.hpp"

namespace tutti_oneccl {
namespace {

constexpr std::array kTypes = {TUTTI_INT8,    TUTTI_UINT8,   TUTTI_INT32,   TUTTI_UINT32,
                               TUTTI_INT64,   TUTTI_UINT64,  TUTTI_FLOAT16, TUTTI_FLOAT32,
                               TUTTI_FLOAT64, TUTTI_BFLOAT16};
constexpr std::array kOps = {TUTTI_SUM, TUTTI_PROD, TUTTI_MAX, TUTTI_MIN, TUTTI_AVG};
static_assert(kOps.size() == onecclNumOps);
// Handles of created reductions are the library's own, which lie above.
static_assert(static_cast<size_t>(TUTTI_BXOR) >= onecclNumOps);

// The arguments that every call has, checked and converted.
class Arguments {
 public:
  Arguments(const char* function, onecclDataType_t datatype, onecclComm_t comm, void* stream)
      : function_(function), use_(comm, function), result_(use_.result()) {
    if (result_ == onecclSuccess) take_type(datatype);
    if (result_ == onecclSuccess && stream != nullptr) {
      refuse("stream is not NULL: this library takes host memory, not a device's");
    }
  }
  Arguments(const char* function, onecclDataType_t datatype, onecclRedOp_t op, onecclComm_t comm,
            void* stream)
      : Arguments(function, datatype, comm, stream) {
    if (result_ == onecclSuccess) take_op(op);
  }

  explicit operator bool() const { return result_ == onecclSuccess; }
  [[nodiscard]] onecclResult_t result() const { return result_; }
  [[nodiscard]] tutti_type type() const { return type_; }
  [[nodiscard]] tutti_op op() const { return op_; }
  [[nodiscard]] tutti_comm_t comm() const { return use_.handle(); }

 private:
  void refuse(const std::string& why) {
    result_ = fail(onecclInvalidArgument, std::string(function_) + ": " + why);
  }
  void take_type(onecclDataType_t datatype) {
    const auto index = static_cast<size_t>(static_cast<unsigned>(datatype));
    if (index >= kTypes.size()) {
      return refuse("datatype is " + std::to_string(static_cast<int>(datatype)) +
                    ", expected 0 (onecclInt8) to 9 (onecclBfloat16)");
    }
    type_ = kTypes[index];
  }
  void take_op(onecclRedOp_t op) {
    const auto number = static_cast<int>(op);
    if (number >= 0 && number < onecclNumOps) {
      op_ = kOps[static_cast<size_t>(number)];
    } else if (number > TUTTI_BXOR) {
      op_ = number;  // a created one; the library checks it
    } else {
      refuse("the reduction is " + std::to_string(number) +
             ", expected 0 (onecclSum) to 4 (onecclAvg) or one of onecclRedOpCreatePreMulSum");
    }
  }

  const char* const function_;
  const Use use_;
  onecclResult_t result_;
  tutti_type type_ = TUTTI_INT8;
  tutti_op op_ = TUTTI_SUM;
};

}  // namespace
}  // namespace tutti_oneccl

using namespace tutti_oneccl;

extern "C" {

onecclResult_t onecclAllReduce(void* sendbuff, void* recvbuff, size_t count,
                               onecclDataType_t datatype, onecclRedOp_t reduction_op,
                               onecclComm_t comm, void* stream) {
  return guard("onecclAllReduce", [&] {
    const Arguments given("onecclAllReduce", datatype, reduction_op, comm, stream);
    if (!given) return given.result();
    return result_of(
        tutti_allreduce(sendbuff, recvbuff, count, given.type(), given.op(), given.comm()));
  });
}

onecclResult_t onecclReduce(const void* sendbuff, void* recvbuff, size_t count,
                            onecclDataType_t datatype, onecclRedOp_t redop, int root,
                            onecclComm_t comm, void* stream) {
  return guard("onecclReduce", [&] {
    const Arguments given("onecclReduce", datatype, redop, comm, stream);
    if (!given) return given.result();
    return result_of(
        tutti_reduce(sendbuff, recvbuff, count, given.type(), given.op(), root, given.comm()));
  });
}

onecclResult_t onecclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                               onecclDataType_t datatype, int root, onecclComm_t comm,
                               void* stream) {
  return guard("onecclBroadcast", [&] {
    const Arguments given("onecclBroadcast", datatype, comm, stream);
    if (!given) return given.result();
    int rank = 0;
    tutti_comm_rank(given.comm(), &rank);
    if (rank != root) {
      return result_of(tutti_broadcast(recvbuff, count, given.type(), root, given.comm()));
    }
    const size_t bytes = count * tutti_type_size(given.type());
    const auto from = reinterpret_cast<uintptr_t>(sendbuff);
    const auto to = reinterpret_cast<uintptr_t>(recvbuff);
    const bool copies = recvbuff != nullptr && recvbuff != sendbuff && count > 0;
    if (copies && (to - from < bytes || from - to < bytes)) {
      return fail(onecclInvalidArgument,
                  "onecclBroadcast: sendbuff and recvbuff overlap in part; expected them apart, or "
                  "equal");
    }
    // The root's buffer is only read.
    const tutti_status status =
        tutti_broadcast(const_cast<void*>(sendbuff), count, given.type(), root, given.comm());
    if (status == TUTTI_OK && copies) std::memcpy(recvbuff, sendbuff, bytes);
    return result_of(status);
  });
}

onecclResult_t onecclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                   onecclDataType_t datatype, onecclRedOp_t redop,
                                   onecclComm_t comm, void* stream) {
  return guard("onecclReduceScatter", [&] {
    const Arguments given("onecclReduceScatter", datatype, redop, comm, stream);
    if (!given) return given.result();
    return result_of(tutti_reduce_scatter(sendbuff, recvbuff, recvcount, given.type(), given.op(),
                                          given.comm()));
  });
}

onecclResult_t onecclScatter(const void* sendbuff, void* recvbuff, size_t count,
                             onecclDataType_t datatype, int root, onecclComm_t comm, void* stream) {
  return guard("onecclScatter", [&] {
    const Arguments given("onecclScatter", datatype, comm, stream);
    if (!given) return given.result();
    return result_of(tutti_scatter(sendbuff, recvbuff, count, given.type(), root, given.comm()));
  });
}

onecclResult_t onecclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                               onecclDataType_t datatype, onecclComm_t comm, void* stream) {
  return guard("onecclAllGather", [&] {
    const Arguments given("onecclAllGather", datatype, comm, stream);
    if (!given) return given.result();
    return result_of(tutti_allgather(sendbuff, recvbuff, sendcount, given.type(), given.comm()));
  });
}

onecclResult_t onecclAllToAll(const void* sendbuff, void* recvbuff, size_t count,
                              onecclDataType_t datatype, onecclComm_t comm, void* stream) {
  return guard("onecclAllToAll", [&] {
    const Arguments given("onecclAllToAll", datatype, comm, stream);
    if (!given) return given.result();
    return result_of(tutti_alltoall(sendbuff, recvbuff, count, given.type(), given.comm()));
  });
}

onecclResult_t onecclAllToAllV(const void* sendbuff, const size_t* send_counts, void* recvbuff,
                               const size_t* recv_counts, onecclDataType_t datatype,
                               onecclComm_t comm, void* stream) {
  return guard("onecclAllToAllV", [&] {
    const Arguments given("onecclAllToAllV", datatype, comm, stream);
    if (!given) return given.result();
    return result_of(tutti_alltoallv(sendbuff, send_counts, nullptr, recvbuff, recv_counts, nullptr,
                                     given.type(), given.comm()));
  });
}

onecclResult_t onecclSend(const void* sendbuff, size_t count, onecclDataType_t datatype, int peer,
                          onecclComm_t comm, void* stream) {
  return guard("onecclSend", [&] {
    const Arguments given("onecclSend", datatype, comm, stream);
    if (!given) return given.result();
    return result_of(tutti_send(sendbuff, count, given.type(), peer, 0, given.comm()));
  });
}

onecclResult_t onecclRecv(void* recvbuff, size_t count, onecclDataType_t datatype, int peer,
                          onecclComm_t comm, void* stream) {
  return guard("onecclRecv", [&] {
    const Arguments given("onecclRecv", datatype, comm, stream);
    if (!given) return given.result();
    if (in_group()) {
      return result_of(
          tutti_recv(recvbuff, count, given.type(), peer, 0, given.comm(), expect_in_group(count)));
    }
    tutti_recv_info info;
    const tutti_status status =
        tutti_recv(recvbuff, count, given.type(), peer, 0, given.comm(), &info);
    return status == TUTTI_OK ? check_received(info, count) : result_of(status);
  });
}

onecclResult_t onecclRedOpCreatePreMulSum(onecclRedOp_t* redop, void* scalar,
                                          onecclDataType_t datatype,
                                          onecclScalarResidence_t residence, onecclComm_t comm) {
  constexpr const char* kFunction = "onecclRedOpCreatePreMulSum";
  return guard(kFunction, [&] {
    const Arguments given(kFunction, datatype, comm, nullptr);
    if (!given) return given.result();
    if (redop == nullptr) return null_argument(kFunction, "redop");
    if (residence != onecclScalarDevice && residence != onecclScalarHostImmediate) {
      return fail(onecclInvalidArgument, std::string(kFunction) + ": residence is " +
                                             std::to_string(static_cast<int>(residence)));
    }
    tutti_op made = 0;
    const tutti_status status = tutti_op_create_premul_sum(scalar, given.type(), &made);
    if (status == TUTTI_OK) *redop = static_cast<onecclRedOp_t>(made);
    return result_of(status);
  });
}

onecclResult_t onecclRedOpDestroy(onecclRedOp_t redop, onecclComm_t) {
  return result_of(tutti_op_destroy(static_cast<tutti_op>(redop)));
}

}  // extern "C"
