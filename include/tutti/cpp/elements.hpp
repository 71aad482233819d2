// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Which C++ types are elements, what a buffer is, and the reductions.
#pragma once

#include <tutti/cpp/error.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

namespace tutti {
inline namespace api {

// The bits of the floating types that C++20 lacks.
enum class float16 : uint16_t {};
// The bits of bfloat16.
enum class bfloat16 : uint16_t {};
// The bits of an 8-bit float with 4 bits of exponent.
enum class float8_e4m3 : uint8_t {};
// The bits of an 8-bit float with 5 bits of exponent.
enum class float8_e5m2 : uint8_t {};

// The tutti_type of a C++ type, as `value`. Specialise it for types of your own that have the bits
// of one of ours, as in template <> struct tutti::element<my_half> { static constexpr tutti_type
// value = TUTTI_FLOAT16; };
template <typename T>
struct element {};

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TUTTI_ELEMENT(type, name)               \
  template <>                                   \
  struct element<type> {                        \
    static constexpr tutti_type value = (name); \
  };
TUTTI_ELEMENT(float, TUTTI_FLOAT32)
TUTTI_ELEMENT(double, TUTTI_FLOAT64)
TUTTI_ELEMENT(float16, TUTTI_FLOAT16)
TUTTI_ELEMENT(bfloat16, TUTTI_BFLOAT16)
TUTTI_ELEMENT(float8_e4m3, TUTTI_FLOAT8_E4M3)
TUTTI_ELEMENT(float8_e5m2, TUTTI_FLOAT8_E5M2)
TUTTI_ELEMENT(std::complex<float>, TUTTI_COMPLEX64)
TUTTI_ELEMENT(std::complex<double>, TUTTI_COMPLEX128)
TUTTI_ELEMENT(std::byte, TUTTI_UINT8)
#ifdef __FLT16_MANT_DIG__
TUTTI_ELEMENT(_Float16, TUTTI_FLOAT16)
#endif
#ifdef __STDCPP_BFLOAT16_T__
TUTTI_ELEMENT(decltype(0.0bf16), TUTTI_BFLOAT16)
#endif
#undef TUTTI_ELEMENT
// NOLINTEND(bugprone-macro-parentheses)

// Integers by their size and sign; bool and char as bytes.
template <std::integral T>
struct element<T> {
  static_assert(sizeof(T) <= 8, "there are no elements of more than 64 bits");
  static constexpr int size_log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  static constexpr bool has_sign = std::is_signed_v<T> && !std::is_same_v<T, char>;
  static constexpr auto value = static_cast<tutti_type>(2 * size_log2 + (has_sign ? 0 : 1));
};

template <typename T>
concept Element = requires {
                    { element<T>::value } -> std::convertible_to<tutti_type>;
                  };

// Elements in a row: std::vector, std::array, std::span, an array, Memory.
template <typename T>
concept Buffer = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
                 Element<std::remove_cv_t<std::ranges::range_value_t<T>>>;
// A buffer that can be written.
template <typename T>
concept Writable = Buffer<T> && !
std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<T>>>;
// The type of the elements of a buffer.
template <Buffer T>
using element_of = std::remove_cv_t<std::ranges::range_value_t<T>>;
template <typename T, typename U>
concept SameElements = Buffer<T> && Buffer<U> && std::same_as<element_of<T>, element_of<U>>;

// A reduction of the library, or a view of one of the user's.
struct Op {
  tutti_op handle;
};
inline constexpr Op sum{TUTTI_SUM};    // the sum
inline constexpr Op prod{TUTTI_PROD};  // the product
inline constexpr Op min{TUTTI_MIN};    // the least element
inline constexpr Op max{TUTTI_MAX};    // the greatest element
inline constexpr Op avg{TUTTI_AVG};    // the sum, divided by the number of ranks
inline constexpr Op band{TUTTI_BAND};  // bitwise and
inline constexpr Op bor{TUTTI_BOR};    // bitwise or
inline constexpr Op bxor{TUTTI_BXOR};  // bitwise exclusive or

// A reduction of the user's, which owns it. Every rank makes its own, in the same order.
class Reduction {
 public:
  // function(std::span<const T> source, std::span<T> accumulator); see tutti_op_create_user. An
  // exception of it ends the call.
  template <Element T, typename Function>
  static Reduction of(Function function) {
    Reduction made;
    auto* kept = new Function(std::move(function));
    made.function_ = {kept, [](void* memory) { delete static_cast<Function*>(memory); }};
    const tutti_reduce_fn call = [](const void* source, void* accumulator, size_t count, tutti_type,
                                    void* context) {
      (*static_cast<Function*>(context))(std::span(static_cast<const T*>(source), count),
                                         std::span(static_cast<T*>(accumulator), count));
    };
    Throw::give(tutti_op_create_user(call, kept, &made.handle_));
    return made;
  }
  // Each rank's data times `factor`, then summed.
  template <Element T>
  static Reduction premul_sum(T factor) {
    Reduction made;
    Throw::give(tutti_op_create_premul_sum(&factor, element<T>::value, &made.handle_));
    return made;
  }

  Reduction(Reduction&& other) noexcept
      : function_(std::move(other.function_)), handle_(std::exchange(other.handle_, kNone)) {}
  Reduction& operator=(Reduction&& other) noexcept {
    std::swap(function_, other.function_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Reduction() {
    if (handle_ != kNone) tutti_op_destroy(handle_);
  }
  operator Op() const { return {handle_}; }

 private:
  static constexpr tutti_op kNone = -1;
  Reduction() : function_(nullptr, nullptr) {}

  std::unique_ptr<void, void (*)(void*)> function_;
  tutti_op handle_ = kNone;
};

}  // namespace api
}  // namespace tutti
