// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The calls that XLA makes for tutti_ccl.jax, in threads of its own and without the interpreter
// lock. Attributes say what shapes do not: the communicator, by its number here, the operation, the
// root or the peer. Tokens among arguments and results are passed over.
#include "xla.hpp"

#include <tutti/tutti.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xla_ffi.hpp"

namespace tutti_core {
namespace xla {
namespace {

// Numbers stay the same in each run of a program, so that what is compiled may be kept: handles do
// not.
struct Numbered {
  std::mutex mutex;
  std::vector<tutti_comm_t> handles;
};
Numbered& numbered() {
  static auto& instance = *new Numbered;  // outlives XLA's threads
  return instance;
}

int64_t number(const Communicator& comm) {
  Numbered& all = numbered();
  const std::lock_guard lock(all.mutex);
  all.handles.push_back(comm.handle);
  return static_cast<int64_t>(all.handles.size()) - 1;
}

tutti_comm_t numbered_as(int64_t number) {
  Numbered& all = numbered();
  const std::lock_guard lock(all.mutex);
  const auto index = static_cast<size_t>(number);
  return index < all.handles.size() ? all.handles[index] : nullptr;
}

// Types without arithmetic here are moved as bytes; a bool is one.
struct Element {
  tutti_type type;
  size_t count;
};
std::optional<tutti_type> type_of(int type) {
  switch (type) {
    case kS8: return TUTTI_INT8;
    case kPred:
    case kU8: return TUTTI_UINT8;
    case kS16: return TUTTI_INT16;
    case kU16: return TUTTI_UINT16;
    case kS32: return TUTTI_INT32;
    case kU32: return TUTTI_UINT32;
    case kS64: return TUTTI_INT64;
    case kU64: return TUTTI_UINT64;
    case kF16: return TUTTI_FLOAT16;
    case kBf16: return TUTTI_BFLOAT16;
    case kF32: return TUTTI_FLOAT32;
    case kF64: return TUTTI_FLOAT64;
    case kF8E4M3Fn: return TUTTI_FLOAT8_E4M3;
    case kF8E5M2: return TUTTI_FLOAT8_E5M2;
    case kC64: return TUTTI_COMPLEX64;
    case kC128: return TUTTI_COMPLEX128;
    default: return {};
  }
}

size_t count_of(const Buffer& buffer) {
  size_t count = 1;
  for (int64_t i = 0; i < buffer.rank; ++i) count *= static_cast<size_t>(buffer.dims[i]);
  return count;
}

// One call as XLA hands it over.
class Given {
 public:
  explicit Given(const CallFrame& frame) : frame_(frame) {}

  // The first argument, or result, that is no token; null if there is none.
  [[nodiscard]] const Buffer* argument() const { return first(frame_.arguments); }
  [[nodiscard]] const Buffer* result() const { return first(frame_.results); }
  // One of 64 bits; -1 if there is none of that name.
  [[nodiscard]] int64_t attribute(std::string_view name) const {
    const Attributes& all = frame_.attributes;
    for (int64_t i = 0; i < all.size; ++i) {
      if (std::string_view(all.names[i]->data, all.names[i]->size) != name) continue;
      if (all.kinds[i] != kScalarAttribute) return -1;
      const auto* const scalar = static_cast<const Scalar*>(all.values[i]);
      return scalar->type == kS64 ? *static_cast<const int64_t*>(scalar->value) : -1;
    }
    return -1;
  }
  [[nodiscard]] int integer(std::string_view name) const {
    return static_cast<int>(attribute(name));
  }
  [[nodiscard]] tutti_comm_t comm() const { return numbered_as(attribute("comm")); }

 private:
  static const Buffer* first(const Buffers& all) {
    for (int64_t i = 0; i < all.size; ++i) {
      const auto* const buffer = static_cast<const Buffer*>(all.buffers[i]);
      if (buffer->type != kToken) return buffer;
    }
    return nullptr;
  }

  const CallFrame& frame_;
};

int code_of(tutti_status status) {
  switch (status) {
    case TUTTI_ERR_INVALID_ARGUMENT:
    case TUTTI_ERR_TRUNCATED: return kInvalidArgument;
    case TUTTI_ERR_INVALID_USAGE:
    case TUTTI_ERR_MISMATCH: return kFailedPrecondition;
    case TUTTI_ERR_UNSUPPORTED: return kUnimplemented;
    case TUTTI_ERR_OUT_OF_MEMORY: return kResourceExhausted;
    case TUTTI_ERR_PEER_FAILED: return kUnavailable;
    case TUTTI_ERR_TIMEOUT: return kDeadlineExceeded;
    case TUTTI_ERR_ABORTED: return kAborted;
    case TUTTI_ERR_INTERRUPTED: return kCancelled;
    default: return kInternal;
  }
}

Error* failed(const CallFrame& frame, int code, const std::string& text) {
  ErrorToBe error{sizeof error, nullptr, text.c_str(), code};
  return frame.api->create_error(&error);
}

// XLA asks each handler for its version when it is registered. All versions of a major number agree
// in what is used here.
bool tells_metadata(const CallFrame& frame) {
  if (frame.extensions == nullptr || frame.extensions->type != kMetadataExtension) {
    return false;
  }
  Metadata& metadata = *reinterpret_cast<MetadataExtension*>(frame.extensions)->metadata;
  metadata.version.major = kMajorVersion;
  metadata.version.minor = frame.api->version.minor;
  metadata.traits = 0;
  return true;
}

// kBlocks: the count is of one of the blocks that the first dimension of the argument counts.
enum class Counts { kNone, kArgument, kResult, kBlocks };
using Body = tutti_status (*)(const Given& given, const Buffer& in, const Buffer& out,
                              Element element);

template <Body kBody, Counts kCounts>
Error* handle(CallFrame* frame) {
  if (tells_metadata(*frame)) return nullptr;
  const Given given(*frame);
  constexpr Buffer kEmpty{};
  const Buffer& in = given.argument() == nullptr ? kEmpty : *given.argument();
  const Buffer& out = given.result() == nullptr ? kEmpty : *given.result();
  Element element{TUTTI_UINT8, 0};
  if constexpr (kCounts != Counts::kNone) {
    const Buffer& counted = kCounts == Counts::kResult ? out : in;
    const auto type = type_of(counted.type);
    if (!type) {
      return failed(*frame, kUnimplemented,
                    "XLA's type " + std::to_string(counted.type) + " is none of Tutti's");
    }
    element = {*type, count_of(counted)};
    if (kCounts == Counts::kBlocks && counted.rank > 0 && counted.dims[0] > 0) {
      element.count /= static_cast<size_t>(counted.dims[0]);
    }
  }
  const tutti_status status = kBody(given, in, out, element);
  if (status == TUTTI_OK) return nullptr;
  return failed(*frame, code_of(status),
                std::string(tutti_status_name(status)) + ": " + tutti_last_error());
}

tutti_status allreduce(const Given& given, const Buffer& in, const Buffer& out, Element element) {
  return tutti_allreduce(in.data, out.data, element.count, element.type, given.integer("op"),
                         given.comm());
}
tutti_status reduce_scatter(const Given& given, const Buffer& in, const Buffer& out,
                            Element element) {
  return tutti_reduce_scatter(in.data, out.data, element.count, element.type, given.integer("op"),
                              given.comm());
}
tutti_status allgather(const Given& given, const Buffer& in, const Buffer& out, Element element) {
  return tutti_allgather(in.data, out.data, element.count, element.type, given.comm());
}
tutti_status alltoall(const Given& given, const Buffer& in, const Buffer& out, Element element) {
  return tutti_alltoall(in.data, out.data, element.count, element.type, given.comm());
}
tutti_status broadcast(const Given& given, const Buffer& in, const Buffer& out, Element element) {
  int rank = -1;
  const tutti_status status = tutti_comm_rank(given.comm(), &rank);
  if (status != TUTTI_OK) return status;
  if (rank == given.integer("root") && element.count > 0) {
    std::memcpy(out.data, in.data, element.count * tutti_type_size(element.type));
  }
  return tutti_broadcast(out.data, element.count, element.type, given.integer("root"),
                         given.comm());
}
tutti_status send(const Given& given, const Buffer& in, const Buffer&, Element element) {
  return tutti_send(in.data, element.count, element.type, given.integer("dest"),
                    given.integer("tag"), given.comm());
}
tutti_status recv(const Given& given, const Buffer&, const Buffer& out, Element element) {
  return tutti_recv(out.data, element.count, element.type, given.integer("source"),
                    given.integer("tag"), given.comm(), nullptr);
}
tutti_status sendrecv(const Given& given, const Buffer& in, const Buffer& out, Element element) {
  return tutti_sendrecv(in.data, element.count, given.integer("dest"), given.integer("sendtag"),
                        out.data, count_of(out), given.integer("source"), given.integer("recvtag"),
                        element.type, given.comm(), nullptr);
}
tutti_status barrier(const Given& given, const Buffer&, const Buffer&, Element) {
  return tutti_barrier(given.comm());
}

template <Body kBody, Counts kCounts>
nb::capsule capsule() {
  Error* (*const handler)(CallFrame*) = handle<kBody, kCounts>;
  return nb::capsule(reinterpret_cast<const void*>(handler), "xla._CUSTOM_CALL_TARGET");
}

nb::dict handlers() {
  nb::dict all;
  all["tutti_allreduce"] = capsule<allreduce, Counts::kArgument>();
  all["tutti_reduce_scatter"] = capsule<reduce_scatter, Counts::kBlocks>();
  all["tutti_allgather"] = capsule<allgather, Counts::kArgument>();
  all["tutti_alltoall"] = capsule<alltoall, Counts::kBlocks>();
  all["tutti_broadcast"] = capsule<broadcast, Counts::kArgument>();
  all["tutti_send"] = capsule<send, Counts::kArgument>();
  all["tutti_recv"] = capsule<recv, Counts::kResult>();
  all["tutti_sendrecv"] = capsule<sendrecv, Counts::kArgument>();
  all["tutti_barrier"] = capsule<barrier, Counts::kNone>();
  return all;
}

}  // namespace
}  // namespace xla

void add_xla(nb::module_& module) {
  module.def("xla_handlers", xla::handlers);
  module.def("xla_number", xla::number);
}

}  // namespace tutti_core
