// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Element types and reductions as the library takes them, registered types, and reductions by a
// program's function.
#pragma once

#include <oneapi/ccl/communicator.hpp>

namespace ccl {
namespace detail {

// An element as the library moves it: so many of a type of its own.
// How many there are of something in one element. A product that 64 bits do not hold is the largest
// number, which the library refuses.
class unit_size {
 public:
  unit_size(size_t size) : size_(size) {}
  operator size_t() const { return size_; }
  friend size_t operator*(size_t count, unit_size unit) {
    return unit.size_ != 0 && count > SIZE_MAX / unit.size_ ? SIZE_MAX : count * unit.size_;
  }

 private:
  size_t size_;
};
struct moved_element {
  tutti_type type;
  unit_size unit;
};

// Sizes of registered types, by number.
struct registered_types {
  std::mutex mutex;
  std::map<int, size_t> sizes;
  int next = 1000;
};
inline registered_types& registered() {
  static registered_types types;
  return types;
}

inline bool is_predefined(datatype type) {
  return static_cast<int>(type) >= 0 &&
         static_cast<int>(type) <= static_cast<int>(datatype::bfloat16);
}

inline moved_element element_of(datatype type) {
  // Types by the numbers of oneCCL's enumeration; ours has bfloat16 before float32.
  static const tutti_type types[] = {TUTTI_INT8,    TUTTI_UINT8,   TUTTI_INT16,   TUTTI_UINT16,
                                     TUTTI_INT32,   TUTTI_UINT32,  TUTTI_INT64,   TUTTI_UINT64,
                                     TUTTI_FLOAT16, TUTTI_FLOAT32, TUTTI_FLOAT64, TUTTI_BFLOAT16};
  if (is_predefined(type)) return {types[static_cast<int>(type)], 1};
  registered_types& all = registered();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.sizes.find(static_cast<int>(type));
  if (found == all.sizes.end()) {
    throw invalid_argument("", "datatype",
                           string(std::to_string(static_cast<int>(type))) + " is not registered");
  }
  return {TUTTI_UINT8, found->second};
}

inline unit_size bytes_of(datatype type) {
  const moved_element element = element_of(type);
  return library().type_size(element.type) * element.unit;
}

// The library's type of a type that it can compute with.
inline tutti_type number_of(datatype type) {
  if (is_predefined(type)) return element_of(type).type;
  throw invalid_argument("", "reduction",
                         "a registered datatype is reduced by a function: reduction::custom");
}

// Made by reduction_create_pre_mul_sum: the library's own handle, which lies above all constants.
inline bool is_created(reduction op) { return static_cast<int>(op) >= 1000; }

inline tutti_op op_of(reduction op) {
  switch (op) {
    case reduction::sum: return TUTTI_SUM;
    case reduction::prod: return TUTTI_PROD;
    case reduction::min: return TUTTI_MIN;
    case reduction::max: return TUTTI_MAX;
    case reduction::avg: return TUTTI_AVG;
    default: break;
  }
  if (is_created(op) && op != reduction::none) return static_cast<tutti_op>(op);
  throw invalid_argument(
      "", "reduction",
      string(std::to_string(static_cast<int>(op))) + ": custom needs the attribute reduction_fn");
}

// A reduction by a program's function: ranks in ascending order, rank 0's data first.
struct custom_reduction {
  reduction_fn function;
  datatype type;
  std::string match_id;

  // `blocks`: one of `count` elements per rank, which begins at `offset` bytes of the buffer.
  void reduce(const char* blocks, int ranks, size_t count, void* result, size_t offset) const {
    const size_t bytes = count * bytes_of(type);
    std::memcpy(result, blocks, bytes);
    const fn_context context = {match_id.c_str(), offset};
    for (int rank = 1; rank < ranks; ++rank) {
      size_t out_count = count;
      function(blocks + static_cast<size_t>(rank) * bytes, count, result, &out_count, type,
               &context);
    }
  }
};

}  // namespace detail

namespace v1 {

// A type of `size` bytes: it can be moved, and reduced by a program's function.
inline datatype register_datatype(const datatype_attr& attr) {
  const size_t size = attr.get<datatype_attr_id::size>();
  if (size == 0) throw invalid_argument("", "register_datatype", "the attribute size is 0");
  detail::registered_types& all = detail::registered();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.sizes[all.next] = size;
  return static_cast<datatype>(all.next++);
}
inline void deregister_datatype(datatype type) {
  detail::registered_types& all = detail::registered();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (all.sizes.erase(static_cast<int>(type)) == 0) {
    throw invalid_argument("", "deregister_datatype",
                           string(std::to_string(static_cast<int>(type))) + " is not registered");
  }
}
inline size_t get_datatype_size(datatype type) { return detail::bytes_of(type); }

// Each rank's data is multiplied by *scalar, in host memory and read now, and then summed.
inline void reduction_create_pre_mul_sum(reduction* made, void* scalar, datatype type,
                                         scalar_residence_type, const communicator&) {
  tutti_op op = 0;
  detail::check(detail::library().op_create_premul_sum(scalar, detail::number_of(type), &op),
                "reduction_create_pre_mul_sum");
  *made = static_cast<reduction>(op);
}
inline void reduction_destroy(reduction made, const communicator&) {
  detail::check(detail::library().op_destroy(static_cast<tutti_op>(made)), "reduction_destroy");
}

}  // namespace v1
}  // namespace ccl
