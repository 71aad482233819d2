// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Names, enumerations, element types and exceptions of oneCCL's C++ interface.
#pragma once

// Some of these are for programs, which rely on what oneCCL's header brings along.
#include <oneapi/ccl/config.h>
#include <stdint.h>
#include <stdlib.h>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ccl {
namespace v1 {

// A text, to and from std::string and const char*.
class string {
 public:
  string() = default;
  string(const char* text) : text_(text) {}
  string(std::string text) : text_(std::move(text)) {}
  const char* c_str() const { return text_.c_str(); }
  std::size_t length() const { return text_.size(); }
  operator std::string() const { return text_; }

  friend string operator+(const string& a, const string& b) { return a.text_ + b.text_; }
  friend bool operator==(const string& a, const string& b) { return a.text_ == b.text_; }
  friend bool operator!=(const string& a, const string& b) { return a.text_ != b.text_; }
  friend bool operator<(const string& a, const string& b) { return a.text_ < b.text_; }
  friend bool operator>(const string& a, const string& b) { return b < a; }
  friend bool operator<=(const string& a, const string& b) { return !(b < a); }
  friend bool operator>=(const string& a, const string& b) { return !(a < b); }
  friend std::ostream& operator<<(std::ostream& out, const string& a) { return out << a.text_; }

 private:
  std::string text_;
};

enum class reduction : int {
  sum = 0,
  prod = 1,
  min = 2,
  max = 3,
  avg = 4,
  custom = 5,
  predefined_ops = 6,
  max_ops = 0x7fffffff - 6,
  none = 0x7fffffff
};
enum class scalar_residence_type : int { scalar_device = 0, scalar_host_immediate = 1 };
enum class datatype : int {
  int8 = 0,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  last_predefined = bfloat16
};
enum class cl_backend_type : int { empty_backend = 0, dpcpp_sycl_l0 = 3 };

struct library_version {
  unsigned int major;
  unsigned int minor;
  unsigned int update;
  const char* product_status;
  const char* build_date;
  const char* full;
  string cl_backend_name;
};

// The context of a custom reduction: the call's match_id and where in the buffer, in bytes, the
// data begins.
struct fn_context {
  const char* match_id;
  const size_t offset;
};
// inout[i] = in[i] (op) inout[i] for i < in_count; *out_count (may be null) = elements of inout.
using reduction_fn = void (*)(const void* in, size_t in_count, void* inout, size_t* out_count,
                              datatype dtype, const fn_context* context);

// Two bytes that hold a number of the type.
template <int kind>
struct half_float {
  constexpr half_float() = default;
  constexpr half_float(uint16_t bits) : bits_(bits) {}
  uint16_t get_data() const { return bits_; }
  friend bool operator==(const half_float& a, const half_float& b) { return a.bits_ == b.bits_; }
  friend bool operator!=(const half_float& a, const half_float& b) { return a.bits_ != b.bits_; }

 private:
  uint16_t bits_ = 0;
};
using float16 = half_float<16>;
using bfloat16 = half_float<8>;

// The exception that the functions of ccl throw. what() names the function, what was given and what
// was expected; if a peer is the cause, it names that, too.
//
// Ownership and threads: has a copy of its text, so it can be kept and passed to other threads.
class exception : public std::exception {
 public:
  exception(const string& domain, const string& function, const string& info = "")
      : text_(joined(domain, function, info)) {}
  exception(const string& info = "") : text_(string("oneCCL: ") + info) {}
  exception(const char* info) : exception(string(info)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  static string joined(const string& domain, const string& function, const string& info) {
    string place = domain;
    if (domain.length() != 0 && function.length() != 0) place = place + "/";
    place = place + function;
    return string("oneCCL: ") + place + (place.length() != 0 && info.length() != 0 ? ": " : "") +
           info;
  }
  string text_;
};
// An argument is not what was expected; nothing was sent.
struct invalid_argument : exception {
  invalid_argument(const string& domain, const string& function, const string& info = "")
      : exception(domain, function, string("invalid argument ") + info) {}
};
// Host memory was lacking.
struct host_bad_alloc : exception {
  host_bad_alloc(const string& domain, const string& function)
      : exception(domain, function, "cannot allocate memory on host") {}
};
// oneCCL's class for what a library does not have; nothing here throws it.
struct unimplemented : exception {
  unimplemented(const string& domain, const string& function, const string& info = "")
      : exception(domain, function, string("not implemented ") + info) {}
};
// The call asks for what host memory has not, as a device's queue.
struct unsupported : exception {
  unsupported(const string& domain, const string& function, const string& info = "")
      : exception(domain, function, string("not supported ") + info) {}
};

}  // namespace v1

using namespace v1;

template <class T, class Allocator = std::allocator<T>>
using vector_class = std::vector<T, Allocator>;
template <class T, std::size_t N>
using array_class = std::array<T, N>;
using string_class = v1::string;
template <class Result, class... Arguments>
using function_class = std::function<Result(Arguments...)>;
template <class T, class Allocator = std::allocator<T>>
using list_class = std::list<T, Allocator>;
template <class Key, class T, class Compare = std::less<Key>,
          class Allocator = std::allocator<std::pair<const Key, T>>>
using map_class = std::map<Key, T, Compare, Allocator>;
using mutex_class = std::mutex;
template <class T, class U>
using pair_class = std::pair<T, U>;
template <class T>
using reference_wrapper_class = std::reference_wrapper<T>;
template <class... Types>
using tuple_class = std::tuple<Types...>;
template <class T>
using shared_ptr_class = std::shared_ptr<T>;
template <class T>
using unique_ptr_class = std::unique_ptr<T>;

// ---- C++ types and oneCCL's --------------------------------------------------------------------

template <class T>
struct native_type_info {
  static constexpr bool is_supported = false;
  static constexpr bool is_class = false;
};
template <datatype type>
struct type_info {
  static constexpr bool is_supported = false;
  static constexpr bool is_class = false;
};
template <class T, size_t bytes, datatype type, bool class_ = false, bool supported = false>
struct ccl_type_info_export {
  using native_type = T;
  using ccl_type = std::integral_constant<datatype, type>;
  static constexpr size_t size = bytes;
  static constexpr datatype dtype = type;
  static constexpr bool is_class = class_;
  static constexpr bool is_supported = supported;
};
// A type that stands for elements of a datatype, and one that is the datatype's own.
#define CCL_CLASS_TYPE_TRAITS(ccl_type, cpp_type, bytes, str)                \
  template <>                                                                \
  struct native_type_info<cpp_type>                                          \
      : public ccl_type_info_export<cpp_type, bytes, ccl_type, true, true> { \
    static constexpr const char* name() { return #str; }                     \
  };
#define CCL_TYPE_TRAITS(ccl_type, cpp_type, bytes, str)                                       \
  template <>                                                                                 \
  struct type_info<ccl_type> : ccl_type_info_export<cpp_type, bytes, ccl_type, false, true> { \
    static constexpr const char* name() { return #str; }                                      \
  };                                                                                          \
  template <>                                                                                 \
  struct native_type_info<cpp_type> : type_info<ccl_type> {};
#define TUTTI_ONECCL_TYPE(type, native) \
  CCL_TYPE_TRAITS(datatype::type, native, sizeof(native), type)
TUTTI_ONECCL_TYPE(int8, int8_t)
TUTTI_ONECCL_TYPE(uint8, uint8_t)
TUTTI_ONECCL_TYPE(int16, int16_t)
TUTTI_ONECCL_TYPE(uint16, uint16_t)
TUTTI_ONECCL_TYPE(int32, int32_t)
TUTTI_ONECCL_TYPE(uint32, uint32_t)
TUTTI_ONECCL_TYPE(int64, int64_t)
TUTTI_ONECCL_TYPE(uint64, uint64_t)
TUTTI_ONECCL_TYPE(float16, v1::float16)
TUTTI_ONECCL_TYPE(float32, float)
TUTTI_ONECCL_TYPE(float64, double)
TUTTI_ONECCL_TYPE(bfloat16, v1::bfloat16)
#undef TUTTI_ONECCL_TYPE

// Whether buffers of T, or of what T points to, may be given without a datatype.
template <class T>
constexpr bool is_supported() {
  return native_type_info<typename std::remove_pointer<T>::type>::is_supported;
}
template <class T>
constexpr bool is_class() {
  return native_type_info<typename std::remove_pointer<T>::type>::is_class;
}
template <class T>
constexpr bool is_native_type_supported() {
  return is_supported<T>() && !is_class<T>();
}
template <class T>
constexpr bool is_class_supported() {
  return is_supported<T>() && is_class<T>();
}

// ---- devices, which host memory has not --------------------------------------------------------

// A stand-in for a native handle if there is none.
struct empty_t {};

// A driver, a device and a part of it by their numbers; as a text "[1:0:3]", where * is none.
using index_type = uint32_t;
using device_index_type = std::tuple<index_type, index_type, index_type>;
static constexpr index_type unused_index_value = std::numeric_limits<index_type>::max();
enum device_index_enum { driver_index_id, device_index_id, subdevice_index_id };
inline v1::string to_string(const device_index_type& device) {
  std::string text;
  for (const index_type index :
       {std::get<driver_index_id>(device), std::get<device_index_id>(device),
        std::get<subdevice_index_id>(device)}) {
    text += text.empty() ? "[" : ":";
    text += index == unused_index_value ? "*" : std::to_string(index);
  }
  return text + "]";
}
inline device_index_type from_string(const v1::string& text) {
  index_type indices[3];
  const char* at = text.c_str();
  for (int i = 0; i < 3; ++i) {
    bool good = *at++ == (i == 0 ? '[' : ':');
    if (good && *at == '*') {
      indices[i] = unused_index_value;
      ++at;
    } else if (good) {
      char* end = nullptr;
      const unsigned long long number = std::strtoull(at, &end, 10);
      good = *at >= '0' && *at <= '9' && number < unused_index_value;
      indices[i] = static_cast<index_type>(number);
      at = end;
    }
    if (!good || (i == 2 && std::strcmp(at, "]") != 0)) {
      throw invalid_argument("", "from_string", text + ": expected [1:0:3], or * for a number");
    }
  }
  return device_index_type(indices[0], indices[1], indices[2]);
}

// The kinds of native objects, of which there is the empty one alone.
#define CL_BACKEND_TYPE ccl::cl_backend_type::empty_backend
template <cl_backend_type>
struct backend_info {};
template <>
struct backend_info<cl_backend_type::empty_backend> {
  static constexpr cl_backend_type type() { return cl_backend_type::empty_backend; }
  static constexpr const char* name() { return "EMPTY"; }
};
using backend_traits = backend_info<cl_backend_type::empty_backend>;
#define TUTTI_ONECCL_NATIVE(kind)                                \
  template <cl_backend_type>                                     \
  struct generic_##kind##_type {};                               \
  template <>                                                    \
  struct generic_##kind##_type<cl_backend_type::empty_backend> { \
    using handle_t = empty_t;                                    \
    using ccl_native_t = empty_t;                                \
  };                                                             \
  using unified_##kind##_type = generic_##kind##_type<cl_backend_type::empty_backend>;
TUTTI_ONECCL_NATIVE(device)
TUTTI_ONECCL_NATIVE(context)
TUTTI_ONECCL_NATIVE(platform)
TUTTI_ONECCL_NATIVE(stream)
TUTTI_ONECCL_NATIVE(event)
#undef TUTTI_ONECCL_NATIVE
template <class T>
struct api_type_info {
  static constexpr bool is_supported() { return std::is_same<T, empty_t>::value; }
  static constexpr bool is_class() { return is_supported(); }
};
template <class T>
constexpr bool is_stream_supported() {
  return api_type_info<T>::is_supported();
}
template <class T>
constexpr bool is_event_supported() {
  return api_type_info<T>::is_supported();
}
template <class T>
constexpr bool is_device_supported() {
  return api_type_info<typename std::decay<T>::type>::is_supported();
}
template <class T>
constexpr bool is_context_supported() {
  return api_type_info<typename std::decay<T>::type>::is_supported();
}

// Bases of classes that are not to be copied, or not to be moved.
template <class Derived>
class non_copyable {
 public:
  non_copyable(const non_copyable&) = delete;
  non_copyable& operator=(const non_copyable&) = delete;

 protected:
  non_copyable() = default;
  ~non_copyable() = default;
};
template <class Derived>
class non_movable {
 public:
  non_movable(non_movable&&) = delete;
  non_movable& operator=(non_movable&&) = delete;

 protected:
  non_movable() = default;
  ~non_movable() = default;
};

}  // namespace ccl
