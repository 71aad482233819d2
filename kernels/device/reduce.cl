// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions of 1 to 8 sources with one write, for one type and variant; OpenCL C 1.2. The compiler
// is told TYPE_<name> and WIDTH, the elements of 16 bytes, or 1; and BLOCKS.
// kernels/device/modules.hpp describes its arguments. Each element takes the same instructions
// wherever it stands, and gives the bits of kernels/reduce_reference.cpp. No extension is needed,
// but for BLOCKS and float64.
#pragma OPENCL FP_CONTRACT OFF
#ifdef TYPE_float64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if WIDTH == 1
#define OF(type) type
#define FIRST(v) (v)
#else
#define OF(type) JOIN(type, WIDTH)
#define FIRST(v) ((v).s0)
#endif
#define CONVERT(type) JOIN(convert_, OF(type))
#define AS(type) JOIN(as_, OF(type))

// ---- types: ELEMENT in memory, LANE in which is computed, a lane's BITS and its SIGNED ----
#if defined(TYPE_int8) || defined(TYPE_uint8)
#define ELEMENT uchar
#define ORDERED char
#elif defined(TYPE_int16) || defined(TYPE_uint16)
#define ELEMENT ushort
#define ORDERED short
#elif defined(TYPE_int32) || defined(TYPE_uint32)
#define ELEMENT uint
#define ORDERED int
#elif defined(TYPE_int64) || defined(TYPE_uint64)
#define ELEMENT ulong
#define ORDERED long
#elif defined(TYPE_float16) || defined(TYPE_bfloat16)
#define ELEMENT ushort
#elif defined(TYPE_float8_e4m3) || defined(TYPE_float8_e5m2)
#define ELEMENT uchar
#elif defined(TYPE_float32)
#define ELEMENT float
#elif defined(TYPE_float64)
#define ELEMENT double
#endif

#ifdef ORDERED
// ---- integers, as unsigned ones, which wrap ----
#define LANE ELEMENT
#define DECODE(v) (v)
#define ENCODE(v) (v)
#define ADD(a, b) ((a) + (b))
#if WIDTH == 1  // of which the small ones would become int, which does not wrap
#define MULTIPLY(a, b) ((WIDE)(a) * (WIDE)(b))
#else
#define MULTIPLY(a, b) ((a) * (b))
#endif
#if defined(TYPE_uint8) || defined(TYPE_uint16) || defined(TYPE_uint32) || defined(TYPE_uint64)
#define LESS(a, b) ((a) < (b))
#define DIVIDE(v, divisor) divide(v, divisor)
#else
#define LESS(a, b) (AS(ORDERED)(a) < AS(ORDERED)(b))
#define DIVIDE(v, divisor) divide_signed(v, divisor)
#endif
#define LESSER(a, b) (LESS(b, a) ? (b) : (a))
#define GREATER(a, b) (LESS(a, b) ? (b) : (a))

#if defined(TYPE_int64) || defined(TYPE_uint64)
#define WIDE ulong
#else
#define WIDE uint
#endif
OF(ELEMENT) divide(OF(ELEMENT) sum, uint divisor) {
  return CONVERT(ELEMENT)(CONVERT(WIDE)(sum) / (OF(WIDE))(divisor));
}
// Toward zero, by magnitudes: the most negative number is no exception.
OF(ELEMENT) divide_signed(OF(ELEMENT) sum, uint divisor) {
  const OF(ELEMENT) zero = (OF(ELEMENT))(0);
  const OF(ORDERED) none = (OF(ORDERED))(0);
  const OF(ELEMENT) negated = (OF(ELEMENT))(zero - sum);
  const OF(ELEMENT) quotient = divide(AS(ORDERED)(sum) < none ? negated : sum, divisor);
  return AS(ORDERED)(sum) < none ? (OF(ELEMENT))(zero - quotient) : quotient;
}

#else
// ---- floating point ----
#ifdef TYPE_float64
#define LANE double
#define BITS ulong
#define SIGNED long
#define DEFAULT_NAN 0x7FF8000000000000UL
#else
#define LANE float
#define BITS uint
#define SIGNED int
#define DEFAULT_NAN 0x7FC00000U
#endif
typedef OF(LANE) lane;
typedef OF(BITS) bits;

// Not a number: no comparison of the kind that a compiler might reason away.
#ifdef TYPE_float64
#define MAGNITUDE(v) (AS(BITS)(v) & 0x7FFFFFFFFFFFFFFFUL)
#define IS_NAN(v) (MAGNITUDE(v) > 0x7FF0000000000000UL)
#else
#define MAGNITUDE(v) (AS(BITS)(v) & 0x7FFFFFFFU)
#define IS_NAN(v) (MAGNITUDE(v) > 0x7F800000U)
#endif
lane with_default_nan(lane v) { return AS(LANE)(IS_NAN(v) ? (bits)(DEFAULT_NAN) : AS(BITS)(v)); }

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
// Equal lanes may be zeros of both signs: takes that with the sign, or without.
lane lesser(lane a, lane b) {
  const lane equal = AS(LANE)(AS(BITS)(a) | AS(BITS)(b));
  const lane least = a == b ? equal : (a < b ? a : b);
  return IS_NAN(a) ? a : (IS_NAN(b) ? b : least);
}
lane greater(lane a, lane b) {
  const lane equal = AS(LANE)(AS(BITS)(a) & AS(BITS)(b));
  const lane most = a == b ? equal : (a < b ? b : a);
  return IS_NAN(a) ? a : (IS_NAN(b) ? b : most);
}
#define LESSER(a, b) lesser(a, b)
#define GREATER(a, b) greater(a, b)

#ifdef TYPE_float64
#define DIVIDE(v, divisor) ((v) / (lane)(divisor))
#else
// A device's division may be off by some units in the last place, unless the divisor is a power of
// two. So a quotient that is nearly right is corrected by what it leaves, which fma() gives exactly,
// and compared with its neighbour on that side. Between two normal numbers there are no ties.
lane divide_by_any(lane v, float divisor) {
  const lane magnitude = AS(LANE)(MAGNITUDE(v));
  const lane by = (lane)(divisor);
  const lane inverse = (lane)(1.0f / divisor);
  const lane close = magnitude * inverse;
  const lane quotient = fma(fma(-close, by, magnitude), inverse, close);
  const lane left = fma(-quotient, by, magnitude);
  const bits code = AS(BITS)(quotient);
  const bits next = left < 0.0f ? code - 1U : code + 1U;
  const lane left_by_next = fabs(fma(-AS(LANE)(next), by, magnitude));
  const OF(SIGNED) to_even = AS(SIGNED)(code << 31);
  const bits nearer = left_by_next < fabs(left) ? next : code;
  const bits result = left_by_next == fabs(left) ? (to_even < 0 ? next : code) : nearer;
  const bits sign = AS(BITS)(v) & 0x80000000U;
  return AS(BITS)(magnitude) >= 0x7F800000U || left == 0.0f
             ? (AS(BITS)(magnitude) >= 0x7F800000U ? v : AS(LANE)(code | sign))
             : AS(LANE)(result | sign);
}
lane divide_float(lane v, uint divisor) {
  if ((divisor & (divisor - 1U)) == 0U) return v * (lane)(1.0f / (float)divisor);
  return divide_by_any(v, (float)divisor);
}
#define DIVIDE(v, divisor) divide_float(v, divisor)
#endif

#if defined(TYPE_float32) || defined(TYPE_float64)
#define DECODE(v) (v)
#define ENCODE(v) with_default_nan(v)
#elif defined(TYPE_bfloat16)
lane decode(OF(ushort) code) { return AS(float)(CONVERT(uint)(code) << 16); }
OF(ushort) encode(lane v) {
  const bits b = AS(uint)(with_default_nan(v));
  return CONVERT(ushort)((b + 0x7FFFU + ((b >> 16) & 1U)) >> 16);
}
#define DECODE(v) decode(v)
#define ENCODE(v) encode(v)
#else
#if defined(TYPE_float16)
#define EXPONENT_BITS 5
#define MANTISSA_BITS 10
#define LARGEST 0x7BFFU
#define OVERFLOWS 0x7C00U
#define NAN_CODE 0x7E00U
#elif defined(TYPE_float8_e4m3)
#define EXPONENT_BITS 4
#define MANTISSA_BITS 3
#define LARGEST 0x7EU
#define OVERFLOWS 0x7FU
#define NAN_CODE 0x7FU
#else
#define EXPONENT_BITS 5
#define MANTISSA_BITS 2
#define LARGEST 0x7BU
#define OVERFLOWS 0x7CU
#define NAN_CODE 0x7EU
#endif
#define SIGN_SHIFT (EXPONENT_BITS + MANTISSA_BITS)
#define BIAS ((1U << (EXPONENT_BITS - 1)) - 1U)
#define DROPPED (23 - MANTISSA_BITS)
#define REBIAS ((127U - BIAS) << 23)
// The binary32 number whose last place is that of the format's denormals.
#define DENORMAL_UNIT ((127U + 1U - BIAS - MANTISSA_BITS + 23U) << 23)

lane decode(OF(ELEMENT) code) {
  const bits wide_code = CONVERT(uint)(code);
  const bits magnitude = wide_code & ((1U << SIGN_SHIFT) - 1U);
  const bits sign = (wide_code >> SIGN_SHIFT) << 31;
  const bits normal = (magnitude << DROPPED) + REBIAS;
  // A denormal is an offset from the unit, which leaves the exact value.
  const bits denormal = AS(uint)(AS(float)(magnitude + DENORMAL_UNIT) - AS(float)((bits)(DENORMAL_UNIT)));
  const bits finite = magnitude < (1U << MANTISSA_BITS) ? denormal : normal;
#if OVERFLOWS == NAN_CODE
  const bits special = (bits)(DEFAULT_NAN);
#else
  const bits special = magnitude == OVERFLOWS ? (bits)(0x7F800000U) : (bits)(DEFAULT_NAN);
#endif
  return AS(float)((magnitude > LARGEST ? special : finite) | sign);
}
OF(ELEMENT) encode(lane v) {
  const bits magnitude = MAGNITUDE(v);
  const bits odd = (magnitude >> DROPPED) & 1U;
  const bits normal = (magnitude - REBIAS + ((1U << (DROPPED - 1)) - 1U) + odd) >> DROPPED;
  const bits denormal =
      AS(uint)(AS(float)(magnitude) + AS(float)((bits)(DENORMAL_UNIT))) - (bits)(DENORMAL_UNIT);
  const bits rounded = magnitude < ((128U - BIAS) << 23) ? denormal : normal;
  const bits code = rounded > LARGEST ? (bits)(OVERFLOWS) : rounded;
  const bits sign = (AS(uint)(v) >> 31) << SIGN_SHIFT;
#if OVERFLOWS == NAN_CODE
  const bits result = code == NAN_CODE || IS_NAN(v) ? (bits)(NAN_CODE) : code | sign;
#else
  const bits result = IS_NAN(v) ? (bits)(NAN_CODE) : code | sign;
#endif
  return CONVERT(ELEMENT)(result);
}
#define DECODE(v) decode(v)
#define ENCODE(v) encode(v)
#endif
#endif  // floating point

// ---- memory ----
typedef OF(ELEMENT) elements;
#define MEMORY __global uchar*

#if WIDTH == 1
typedef struct __attribute__((packed)) { ELEMENT value; } unaligned;
#define WHOLE(count) (count)
#define LENGTH(count) (count)
elements get(const MEMORY from, ulong i, ulong whole) {
  return ((const __global unaligned*)from)[i].value;
}
void put(MEMORY to, ulong i, ulong whole, elements v) { ((__global unaligned*)to)[i].value = v; }
#else
// One work-item for each 16 bytes; after those, one for each element that is left.
#define WHOLE(count) ((count) / WIDTH)
#define LENGTH(count) ((count) / WIDTH + (count) % WIDTH)
#ifdef BLOCKS
// Lane l of a sub-group gets the units l, l + 16, ...: of 4 bytes, or 8, so that no element is torn.
#if defined(TYPE_int64) || defined(TYPE_uint64) || defined(TYPE_float64)
#define UNIT ulong
#define UNITS ulong2
#define READ intel_sub_group_block_read_ul2
#define WRITE intel_sub_group_block_write_ul2
#else
#define UNIT uint
#define UNITS uint4
#define READ intel_sub_group_block_read4
#define WRITE intel_sub_group_block_write4
#endif
UNITS __attribute__((overloadable, convergent)) READ(const __global UNIT*);
void __attribute__((overloadable, convergent)) WRITE(__global UNIT*, UNITS);
#define GROUP_ATTRIBUTE __attribute__((intel_reqd_sub_group_size(16)))
// Whether all of the sub-group that work-item i belongs to have 16 bytes; groups begin at multiples.
#define IN_BLOCKS(i, whole) (((i) | 15UL) < (whole))
#define BEGIN(i) (((i) & ~15UL) * 16UL)
#endif
elements get(const MEMORY from, ulong i, ulong whole) {
#ifdef BLOCKS
  if (IN_BLOCKS(i, whole)) return AS(ELEMENT)(READ((const __global UNIT*)(from + BEGIN(i))));
#endif
  if (i < whole) return ((const __global elements*)from)[i];
  return (elements)(((const __global ELEMENT*)from)[whole * WIDTH + (i - whole)]);
}
void put(MEMORY to, ulong i, ulong whole, elements v) {
#ifdef BLOCKS
  if (IN_BLOCKS(i, whole)) {
    WRITE((__global UNIT*)(to + BEGIN(i)), JOIN(as_, UNITS)(v));
    return;
  }
#endif
  if (i < whole) {
    ((__global elements*)to)[i] = v;
  } else {
    ((__global ELEMENT*)to)[whole * WIDTH + (i - whole)] = FIRST(v);
  }
}
#endif
#ifndef GROUP_ATTRIBUTE
#define GROUP_ATTRIBUTE
#endif

// ---- kernels ----
#define LANES_OF(source) DECODE(get(source, i, whole))
#define FOLD(n, combine) \
  if (k > n) v = combine(v, LANES_OF(source##n));
#define KERNEL_OF(name, combine, first, write)                                                   \
  __kernel GROUP_ATTRIBUTE void name(MEMORY dst, const MEMORY source0, const MEMORY source1,     \
                                     const MEMORY source2, const MEMORY source3,                 \
                                     const MEMORY source4, const MEMORY source5,                 \
                                     const MEMORY source6, const MEMORY source7, uint k,         \
                                     ulong count, uint divisor) {                                \
    const ulong i = get_global_id(0);                                                            \
    const ulong whole = WHOLE(count);                                                            \
    if (i >= LENGTH(count)) return;                                                              \
    OF(LANE) v = first;                                                                          \
    FOLD(1, combine)                                                                             \
    FOLD(2, combine)                                                                             \
    FOLD(3, combine)                                                                             \
    FOLD(4, combine)                                                                             \
    FOLD(5, combine)                                                                             \
    FOLD(6, combine)                                                                             \
    FOLD(7, combine)                                                                             \
    write;                                                                                       \
  }
#define KERNEL(name, combine, finish) \
  KERNEL_OF(name, combine, LANES_OF(source0), put(dst, i, whole, ENCODE(finish)))

KERNEL(sum, ADD, v)
KERNEL(prod, MULTIPLY, v)
KERNEL(vmin, LESSER, v)
KERNEL(vmax, GREATER, v)
KERNEL(avg, ADD, DIVIDE(v, divisor))
#ifdef ORDERED
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
KERNEL(band, AND, v)
KERNEL(bor, OR, v)
KERNEL(bxor, XOR, v)
#endif

// ---- parts of a reduction of more sources, which pass on lanes: small floats would be rounded ----
#if WIDTH == 1 && defined(EXPONENT_BITS) || WIDTH == 1 && defined(TYPE_bfloat16)
#define PASSED(memory) (((__global float*)(memory))[i])
#define BEGINS(name, combine) KERNEL_OF(name, combine, LANES_OF(source0), PASSED(dst) = v)
#define GOES_ON(name, combine) KERNEL_OF(name, combine, PASSED(source0), PASSED(dst) = v)
#define ENDS(name, combine, finish) \
  KERNEL_OF(name, combine, PASSED(source0), put(dst, i, whole, ENCODE(finish)))
BEGINS(sum_begins, ADD)
GOES_ON(sum_goes_on, ADD)
ENDS(sum_ends, ADD, v)
ENDS(avg_ends, ADD, DIVIDE(v, divisor))
BEGINS(prod_begins, MULTIPLY)
GOES_ON(prod_goes_on, MULTIPLY)
ENDS(prod_ends, MULTIPLY, v)
#endif

#if defined(TYPE_float64) || defined(TYPE_int64) || defined(TYPE_uint64)
#define SCALAR JOIN(as_, ELEMENT)(scalar)
#elif defined(TYPE_float32)
#define SCALAR as_float((uint)scalar)
#else
#define SCALAR ((ELEMENT)scalar)
#endif
__kernel GROUP_ATTRIBUTE void scale(MEMORY dst, const MEMORY source, ulong count, ulong scalar) {
  const ulong i = get_global_id(0);
  const ulong whole = WHOLE(count);
  if (i >= LENGTH(count)) return;
  const OF(LANE) factor = DECODE((elements)(SCALAR));
  put(dst, i, whole, ENCODE(MULTIPLY(LANES_OF(source), factor)));
}
