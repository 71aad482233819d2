// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Attributes: values by their ids, set when they are made or later.
//
//   auto attr = ccl::create_operation_attr<ccl::allreduce_attr>(
//       ccl::attr_val<ccl::operation_attr_id::synchronous>(true));
#pragma once

#include <oneapi/ccl/types.hpp>

namespace ccl {
namespace v1 {

enum class operation_attr_id : int { version, priority, to_cache, synchronous, match_id };
enum class allgather_attr_id : int { op_id_offset = 5 };
enum class allgatherv_attr_id : int { op_id_offset = 5 };
enum class allreduce_attr_id : int { op_id_offset = 5, reduction_fn = op_id_offset };
enum class alltoall_attr_id : int { op_id_offset = 5 };
enum class alltoallv_attr_id : int { op_id_offset = 5 };
enum class barrier_attr_id : int { op_id_offset = 5 };
enum class broadcast_attr_id : int { op_id_offset = 5 };
enum class reduce_attr_id : int { op_id_offset = 5, reduction_fn = op_id_offset };
enum class reduce_scatter_attr_id : int { op_id_offset = 5, reduction_fn = op_id_offset };
enum class gather_attr_id : int { op_id_offset = 5 };
enum class scatter_attr_id : int { op_id_offset = 5 };
enum class pt2pt_attr_id : int { op_id_offset = 5, group_id = op_id_offset };
enum class comm_attr_id : int { version, blocking };
enum class comm_split_attr_id : int { version, color, group };
enum class kvs_attr_id : int { version, ip_port };
enum class init_attr_id : int { version };
enum class datatype_attr_id : int { version, size };
enum class stream_attr_id : int { version, native_handle };
enum class device_attr_id : int { version, cl_backend, native_handle };
enum class context_attr_id : int { version, cl_backend, native_handle };
enum class split_group : int { cluster };

library_version get_library_version();

}  // namespace v1

namespace detail {

// A function as an attribute gives it.
template <class Function>
class function_holder {
 public:
  function_holder(Function function = nullptr) : function_(function) {}
  Function get() const { return function_; }

 private:
  Function function_;
};

// The value that belongs to an id: as it is given, and as it is kept.
template <class Id, Id id>
struct ccl_api_type_attr_traits {};
template <class Id, Id id>
using given_t = typename ccl_api_type_attr_traits<Id, id>::type;
template <class Id, Id id>
using attribute_t = typename ccl_api_type_attr_traits<Id, id>::return_type;

#define TUTTI_ONECCL_KEPT(Id, id, T, Kept)      \
  template <>                                   \
  struct ccl_api_type_attr_traits<Id, Id::id> { \
    using type = T;                             \
    using return_type = Kept;                   \
  };
#define TUTTI_ONECCL_ATTRIBUTE(Id, id, T) TUTTI_ONECCL_KEPT(Id, id, T, T)
#define TUTTI_ONECCL_FUNCTION(Id) \
  TUTTI_ONECCL_KEPT(Id, reduction_fn, v1::reduction_fn, function_holder<v1::reduction_fn>)
TUTTI_ONECCL_ATTRIBUTE(operation_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(operation_attr_id, priority, size_t)
TUTTI_ONECCL_ATTRIBUTE(operation_attr_id, to_cache, bool)
TUTTI_ONECCL_ATTRIBUTE(operation_attr_id, synchronous, bool)
TUTTI_ONECCL_ATTRIBUTE(operation_attr_id, match_id, string)
TUTTI_ONECCL_FUNCTION(allreduce_attr_id)
TUTTI_ONECCL_FUNCTION(reduce_attr_id)
TUTTI_ONECCL_FUNCTION(reduce_scatter_attr_id)
TUTTI_ONECCL_ATTRIBUTE(pt2pt_attr_id, group_id, int)
TUTTI_ONECCL_ATTRIBUTE(comm_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(comm_attr_id, blocking, int)
TUTTI_ONECCL_ATTRIBUTE(comm_split_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(comm_split_attr_id, color, int)
TUTTI_ONECCL_ATTRIBUTE(comm_split_attr_id, group, split_group)
TUTTI_ONECCL_ATTRIBUTE(kvs_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(kvs_attr_id, ip_port, string)
TUTTI_ONECCL_ATTRIBUTE(init_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(datatype_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(datatype_attr_id, size, size_t)
TUTTI_ONECCL_ATTRIBUTE(stream_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(stream_attr_id, native_handle, empty_t)
TUTTI_ONECCL_ATTRIBUTE(device_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(device_attr_id, cl_backend, cl_backend_type)
TUTTI_ONECCL_ATTRIBUTE(device_attr_id, native_handle, empty_t)
TUTTI_ONECCL_ATTRIBUTE(context_attr_id, version, library_version)
TUTTI_ONECCL_ATTRIBUTE(context_attr_id, cl_backend, cl_backend_type)
TUTTI_ONECCL_ATTRIBUTE(context_attr_id, native_handle, empty_t)
#undef TUTTI_ONECCL_FUNCTION
#undef TUTTI_ONECCL_ATTRIBUTE
#undef TUTTI_ONECCL_KEPT

// One value under its id.
template <class Id, Id id>
struct slot {
  attribute_t<Id, id> value{};
  bool given = false;
};

// A set of values: one base for each id.
template <class... Slots>
class attributes : private Slots... {
 public:
  // The value before.
  template <class Id, Id id, class Value>
  attribute_t<Id, id> exchange(const Value& value) {
    slot<Id, id>& mine = *this;
    attribute_t<Id, id> before = mine.value;
    mine.value = static_cast<attribute_t<Id, id>>(value);
    mine.given = true;
    return before;
  }
  template <class Id, Id id>
  const attribute_t<Id, id>& look() const {
    return static_cast<const slot<Id, id>&>(*this).value;
  }
  template <class Id, Id id>
  bool has() const {
    return static_cast<const slot<Id, id>&>(*this).given;
  }
};

// set<id>(value) and get<id>() for ids of Id.
#define TUTTI_ONECCL_ACCESS(Id)                         \
  template <Id id, class Value>                         \
  detail::attribute_t<Id, id> set(const Value& value) { \
    return this->template exchange<Id, id>(value);      \
  }                                                     \
  template <Id id>                                      \
  const detail::attribute_t<Id, id>& get() const {      \
    return this->template look<Id, id>();               \
  }                                                     \
  template <Id id>                                      \
  bool is_valid() const {                               \
    return this->template has<Id, id>();                \
  }

// The attributes that all operations have, and those of one of them, under ids of its own.
template <class OwnId, class... Slots>
class operation
    : public attributes<slot<operation_attr_id, operation_attr_id::version>,
                        slot<operation_attr_id, operation_attr_id::priority>,
                        slot<operation_attr_id, operation_attr_id::to_cache>,
                        slot<operation_attr_id, operation_attr_id::synchronous>,
                        slot<operation_attr_id, operation_attr_id::match_id>, Slots...> {
 public:
  TUTTI_ONECCL_ACCESS(operation_attr_id)
  TUTTI_ONECCL_ACCESS(OwnId)
};

// A value under its id, on the way to a set of them.
template <class Id, Id id, class Value>
struct attr_value_triple {
  using type_t = Id;
  using value_t = Value;
  static constexpr Id idx() { return id; }
  explicit attr_value_triple(const Value& of) : value(of) {}
  const Value& val() const { return value; }

 private:
  Value value;
};

template <class Attributes, class... Values>
Attributes made_of(const Values&... values) {
  Attributes made;
  const int each[] = {0, (made.template set<Values::idx()>(values.val()), 0)...};
  (void)each;
  return made;
}

}  // namespace detail

namespace v1 {

#define TUTTI_ONECCL_ATTR_VAL(Id)                                             \
  template <Id id>                                                            \
  detail::attr_value_triple<Id, id, detail::given_t<Id, id>> attr_val(        \
      const detail::given_t<Id, id>& value) {                                 \
    return detail::attr_value_triple<Id, id, detail::given_t<Id, id>>(value); \
  }
TUTTI_ONECCL_ATTR_VAL(operation_attr_id)
TUTTI_ONECCL_ATTR_VAL(allreduce_attr_id)
TUTTI_ONECCL_ATTR_VAL(reduce_attr_id)
TUTTI_ONECCL_ATTR_VAL(reduce_scatter_attr_id)
TUTTI_ONECCL_ATTR_VAL(pt2pt_attr_id)
TUTTI_ONECCL_ATTR_VAL(comm_attr_id)
TUTTI_ONECCL_ATTR_VAL(comm_split_attr_id)
TUTTI_ONECCL_ATTR_VAL(kvs_attr_id)
TUTTI_ONECCL_ATTR_VAL(init_attr_id)
TUTTI_ONECCL_ATTR_VAL(datatype_attr_id)
TUTTI_ONECCL_ATTR_VAL(stream_attr_id)
TUTTI_ONECCL_ATTR_VAL(device_attr_id)
TUTTI_ONECCL_ATTR_VAL(context_attr_id)
#undef TUTTI_ONECCL_ATTR_VAL
// A rank and its device, for create_communicators().
template <class Device>
using rank_device_pair_t = pair_class<size_t, typename std::decay<Device>::type>;
template <class Device>
rank_device_pair_t<Device> attr_val(int rank, Device&& device) {
  return {static_cast<size_t>(rank), std::forward<Device>(device)};
}

struct allgather_attr : detail::operation<allgather_attr_id> {};
struct allgatherv_attr : detail::operation<allgatherv_attr_id> {};
struct alltoall_attr : detail::operation<alltoall_attr_id> {};
struct alltoallv_attr : detail::operation<alltoallv_attr_id> {};
struct barrier_attr : detail::operation<barrier_attr_id> {};
struct broadcast_attr : detail::operation<broadcast_attr_id> {};
struct gather_attr : detail::operation<gather_attr_id> {};
struct scatter_attr : detail::operation<scatter_attr_id> {};
struct allreduce_attr
    : detail::operation<allreduce_attr_id,
                        detail::slot<allreduce_attr_id, allreduce_attr_id::reduction_fn>> {};
struct reduce_attr : detail::operation<reduce_attr_id,
                                       detail::slot<reduce_attr_id, reduce_attr_id::reduction_fn>> {
};
struct reduce_scatter_attr
    : detail::operation<
          reduce_scatter_attr_id,
          detail::slot<reduce_scatter_attr_id, reduce_scatter_attr_id::reduction_fn>> {};
struct pt2pt_attr
    : detail::operation<pt2pt_attr_id, detail::slot<pt2pt_attr_id, pt2pt_attr_id::group_id>> {};
struct comm_attr : detail::attributes<detail::slot<comm_attr_id, comm_attr_id::version>,
                                      detail::slot<comm_attr_id, comm_attr_id::blocking>> {
  TUTTI_ONECCL_ACCESS(comm_attr_id)
};
struct comm_split_attr
    : detail::attributes<detail::slot<comm_split_attr_id, comm_split_attr_id::version>,
                         detail::slot<comm_split_attr_id, comm_split_attr_id::color>,
                         detail::slot<comm_split_attr_id, comm_split_attr_id::group>> {
  TUTTI_ONECCL_ACCESS(comm_split_attr_id)
};
struct kvs_attr : detail::attributes<detail::slot<kvs_attr_id, kvs_attr_id::version>,
                                     detail::slot<kvs_attr_id, kvs_attr_id::ip_port>> {
  TUTTI_ONECCL_ACCESS(kvs_attr_id)
};
struct init_attr : detail::attributes<detail::slot<init_attr_id, init_attr_id::version>> {
  TUTTI_ONECCL_ACCESS(init_attr_id)
};
struct datatype_attr : detail::attributes<detail::slot<datatype_attr_id, datatype_attr_id::version>,
                                          detail::slot<datatype_attr_id, datatype_attr_id::size>> {
  TUTTI_ONECCL_ACCESS(datatype_attr_id)
};
#undef TUTTI_ONECCL_ACCESS

static const allgather_attr default_allgather_attr{};
static const allgatherv_attr default_allgatherv_attr{};
static const allreduce_attr default_allreduce_attr{};
static const alltoall_attr default_alltoall_attr{};
static const alltoallv_attr default_alltoallv_attr{};
static const barrier_attr default_barrier_attr{};
static const broadcast_attr default_broadcast_attr{};
static const reduce_attr default_reduce_attr{};
static const reduce_scatter_attr default_reduce_scatter_attr{};
static const gather_attr default_gather_attr{};
static const scatter_attr default_scatter_attr{};
static const pt2pt_attr default_pt2pt_attr{};
static const comm_attr default_comm_attr{};
static const comm_split_attr default_comm_split_attr{};
static const kvs_attr default_kvs_attr{};
static const init_attr default_init_attr{};

template <class Attributes, class... Values>
Attributes create_operation_attr(const Values&... values) {
  return detail::made_of<Attributes>(values...);
}
template <class Attributes, class... Values>
Attributes create_coll_attr(const Values&... values) {
  return detail::made_of<Attributes>(values...);
}
template <class... Values>
comm_attr create_comm_attr(const Values&... values) {
  return detail::made_of<comm_attr>(values...);
}
template <class... Values>
comm_split_attr create_comm_split_attr(const Values&... values) {
  return detail::made_of<comm_split_attr>(values...);
}
template <class... Values>
kvs_attr create_kvs_attr(const Values&... values) {
  return detail::made_of<kvs_attr>(values...);
}
template <class... Values>
init_attr create_init_attr(const Values&... values) {
  return detail::made_of<init_attr>(values...);
}
template <class... Values>
datatype_attr create_datatype_attr(const Values&... values) {
  return detail::made_of<datatype_attr>(values...);
}

inline library_version get_library_version() {
  return {CCL_MAJOR_VERSION,      CCL_MINOR_VERSION, CCL_UPDATE_VERSION,    CCL_PRODUCT_STATUS,
          CCL_PRODUCT_BUILD_DATE, CCL_PRODUCT_FULL,  backend_traits::name()};
}
inline void init(const init_attr& = default_init_attr) {}

}  // namespace v1

namespace preview {
using v1::create_comm_split_attr;
}  // namespace preview
}  // namespace ccl
