// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The reference kernels: what the vectorised ones must give, bit for bit. Also used where the
// processor has no instruction set that they are compiled for.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/divide.hpp"
#include "kernels/reduce_host.hpp"
#include "kernels/small_float.hpp"

namespace tutti {
namespace {

// A Format has Value, in which is computed, and load and store of one element.
template <class T>
struct Native {
  using Value = T;
  static constexpr size_t kBytes = sizeof(T);
  static T load(const void* element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  static void store(T value, void* element) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
    }
    std::memcpy(element, &value, sizeof value);
  }
};

template <class T>
struct Complex {
  T real;
  T imaginary;
};

template <class T>
struct Pairs {
  using Value = Complex<T>;
  static constexpr size_t kBytes = sizeof(Value);
  static Value load(const void* element) {
    return {Native<T>::load(element),
            Native<T>::load(static_cast<const char*>(element) + sizeof(T))};
  }
  static void store(Value value, void* element) {
    Native<T>::store(value.real, element);
    Native<T>::store(value.imaginary, static_cast<char*>(element) + sizeof(T));
  }
};

template <class Small>
struct Converted {
  using Value = float;
  static constexpr size_t kBytes = sizeof(typename Small::Bits);
  static float load(const void* element) {
    return Small::decode(Native<typename Small::Bits>::load(element));
  }
  static void store(float value, void* element) {
    Native<typename Small::Bits>::store(Small::encode(value), element);
  }
};

struct Add {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  template <class T>
  static Complex<T> combine(Complex<T> a, Complex<T> b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
};
struct Multiply {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
  template <class T>
  static Complex<T> combine(Complex<T> a, Complex<T> b) {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
};
template <bool kLess>
struct Select {
  template <class T>
  static T combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) == kLess ? a : b;
    }
    return (a < b) == kLess ? a : b;
  }
};
using Minimum = Select<true>;
using Maximum = Select<false>;
struct And {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T combine(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T>
T average(T sum, uint32_t divisor) {
  if constexpr (std::is_floating_point_v<T>)
    return sum / static_cast<T>(divisor);
  else
    return divide(sum, divisor);
}

template <class T>
Complex<T> average(Complex<T> sum, uint32_t divisor) {
  return {average(sum.real, divisor), average(sum.imaginary, divisor)};
}

template <class Format, class Op, bool kAverage>
void reduce(void* dst, const void* const* sources, size_t k, size_t count,
            const ReduceOptions& options) {
  for (size_t i = 0; i < count; ++i) {
    const size_t offset = i * Format::kBytes;
    auto value = Format::load(static_cast<const char*>(sources[0]) + offset);
    for (size_t s = 1; s < k; ++s) {
      value = Op::combine(value, Format::load(static_cast<const char*>(sources[s]) + offset));
    }
    if (kAverage && options.divisor != 0) value = average(value, options.divisor);
    Format::store(value, static_cast<char*>(dst) + offset);
    if (options.copy != nullptr) Format::store(value, static_cast<char*>(options.copy) + offset);
  }
}

template <class Format>
void scale(void* dst, const void* source, const void* scalar, size_t count) {
  const auto factor = Format::load(scalar);
  for (size_t i = 0; i < count; ++i) {
    const auto value = Format::load(static_cast<const char*>(source) + i * Format::kBytes);
    Format::store(Multiply::combine(value, factor), static_cast<char*>(dst) + i * Format::kBytes);
  }
}

// The operations that all types have.
template <class Format>
ReduceKernel unordered(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kPremulSum: return reduce<Format, Add, false>;
    case ReduceOp::kProd: return reduce<Format, Multiply, false>;
    case ReduceOp::kAvg: return reduce<Format, Add, true>;
    default: return nullptr;
  }
}

template <class Format>
ReduceKernel arithmetic(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin: return reduce<Format, Minimum, false>;
    case ReduceOp::kMax: return reduce<Format, Maximum, false>;
    default: return unordered<Format>(op);
  }
}

template <class Format>
ReduceKernel integer(ReduceOp op) {
  switch (op) {
    case ReduceOp::kBand: return reduce<Format, And, false>;
    case ReduceOp::kBor: return reduce<Format, Or, false>;
    case ReduceOp::kBxor: return reduce<Format, Xor, false>;
    default: return arithmetic<Format>(op);
  }
}

}  // namespace

ReduceKernel reduce_kernel_scalar(ReduceOp op, DataType type) {
  switch (type) {
    case DataType::kInt8: return integer<Native<int8_t>>(op);
    case DataType::kUint8: return integer<Native<uint8_t>>(op);
    case DataType::kInt16: return integer<Native<int16_t>>(op);
    case DataType::kUint16: return integer<Native<uint16_t>>(op);
    case DataType::kInt32: return integer<Native<int32_t>>(op);
    case DataType::kUint32: return integer<Native<uint32_t>>(op);
    case DataType::kInt64: return integer<Native<int64_t>>(op);
    case DataType::kUint64: return integer<Native<uint64_t>>(op);
    case DataType::kFloat16: return arithmetic<Converted<Float16>>(op);
    case DataType::kBfloat16: return arithmetic<Converted<Bfloat16>>(op);
    case DataType::kFloat32: return arithmetic<Native<float>>(op);
    case DataType::kFloat64: return arithmetic<Native<double>>(op);
    case DataType::kFloat8E4M3: return arithmetic<Converted<Float8E4M3>>(op);
    case DataType::kFloat8E5M2: return arithmetic<Converted<Float8E5M2>>(op);
    case DataType::kComplex64: return unordered<Pairs<float>>(op);
    case DataType::kComplex128: return unordered<Pairs<double>>(op);
  }
  return nullptr;
}

ScaleKernel scale_kernel_scalar(DataType type) {
  switch (type) {
    case DataType::kInt8: return scale<Native<int8_t>>;
    case DataType::kUint8: return scale<Native<uint8_t>>;
    case DataType::kInt16: return scale<Native<int16_t>>;
    case DataType::kUint16: return scale<Native<uint16_t>>;
    case DataType::kInt32: return scale<Native<int32_t>>;
    case DataType::kUint32: return scale<Native<uint32_t>>;
    case DataType::kInt64: return scale<Native<int64_t>>;
    case DataType::kUint64: return scale<Native<uint64_t>>;
    case DataType::kFloat16: return scale<Converted<Float16>>;
    case DataType::kBfloat16: return scale<Converted<Bfloat16>>;
    case DataType::kFloat32: return scale<Native<float>>;
    case DataType::kFloat64: return scale<Native<double>>;
    case DataType::kFloat8E4M3: return scale<Converted<Float8E4M3>>;
    case DataType::kFloat8E5M2: return scale<Converted<Float8E5M2>>;
    case DataType::kComplex64: return scale<Pairs<float>>;
    case DataType::kComplex128: return scale<Pairs<double>>;
  }
  return nullptr;
}

}  // namespace tutti
