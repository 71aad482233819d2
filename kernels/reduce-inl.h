// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The loop of every kernel, compiled once per target. Types and operations differ in a Math, which
// has
//   Element              the type in memory
//   Lane                 the type that is computed with, one lane per element; of a PairMath the
//                        Element, for it computes with two vectors for one of elements
//   kLong                whether decode and encode are so long that variants of the loop do not pay
//   kTogether            how many elements in a row are computed together, from a multiple of that
//                        number on; every count is a multiple of it
//   decode(d, v)         elements to lanes; d is the tag of the lanes
//   combine(d, a, b)     the operation
//   encode(d, v)         lanes to elements, with whatever ends the reduction
// Every element takes the same instructions wherever it stands, so its bits do not depend on the
// count or on alignment. Functions of the standard library stay out of this file. Compiled here, an
// inline one could be called elsewhere on a processor that lacks the target.
#if defined(TUTTI_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_KERNELS_REDUCE_INL_H_
#undef TUTTI_KERNELS_REDUCE_INL_H_
#else
#define TUTTI_KERNELS_REDUCE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#if TUTTI_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sources: a number known to the compiler, or any number.
struct One {
  const void* a;
  HWY_INLINE size_t size() const { return 1; }
  HWY_INLINE const void* operator[](size_t) const { return a; }
};
struct Two {
  const void* a;
  const void* b;
  HWY_INLINE size_t size() const { return 2; }
  HWY_INLINE const void* operator[](size_t s) const { return s == 0 ? a : b; }
};
struct Many {
  const void* const* sources;
  size_t k;
  HWY_INLINE size_t size() const { return k; }
  HWY_INLINE const void* operator[](size_t s) const { return sources[s]; }
};

// One lane goes through a variable: vectors are loaded from anywhere, but Highway takes a single
// element for one that is aligned.
template <class Math, class D>
HWY_INLINE auto load(const Math& math, D d, const void* source, size_t i) {
  using Element = typename Math::Element;
  const hn::Rebind<Element, D> memory;
  const uint8_t* from = static_cast<const uint8_t*>(source) + i * sizeof(Element);
  if constexpr (hn::MaxLanes(memory) == 1) {
    Element element;
    hwy::CopyBytes<sizeof(Element)>(from, &element);
    return math.decode(d, hn::LoadU(memory, &element));
  } else {
    return math.decode(d, hn::LoadU(memory, reinterpret_cast<const Element*>(from)));
  }
}

// Elements to memory, anywhere.
template <class D, class V>
HWY_INLINE void write(D memory, V elements, void* dst, size_t i) {
  using Element = hn::TFromD<D>;
  uint8_t* to = static_cast<uint8_t*>(dst) + i * sizeof(Element);
  if constexpr (hn::MaxLanes(memory) == 1) {
    Element element;
    hn::StoreU(elements, memory, &element);
    hwy::CopyBytes<sizeof(Element)>(&element, to);
  } else {
    hn::StoreU(elements, memory, reinterpret_cast<Element*>(to));
  }
}

// Writes past the caches, at a multiple of a vector, if elements fill a register that can be
// written so.
template <class D, class V>
HWY_INLINE void write_non_temporal(D memory, V elements, void* dst, size_t i) {
  if constexpr (hn::MaxLanes(memory) * sizeof(hn::TFromD<D>) >= 16) {
    hn::Stream(elements, memory, static_cast<hn::TFromD<D>*>(dst) + i);
  } else {
    write(memory, elements, dst, i);
  }
}

// Vectors have no arrays: on some targets their size is not known.
template <bool kNonTemporal, class D, class V>
HWY_INLINE void write_four(D memory, V v0, V v1, V v2, V v3, void* dst, size_t i) {
  const size_t n = hn::Lanes(memory);
  if constexpr (kNonTemporal) {
    write_non_temporal(memory, v0, dst, i);
    write_non_temporal(memory, v1, dst, i + n);
    write_non_temporal(memory, v2, dst, i + 2 * n);
    write_non_temporal(memory, v3, dst, i + 3 * n);
  } else {
    write(memory, v0, dst, i);
    write(memory, v1, dst, i + n);
    write(memory, v2, dst, i + 2 * n);
    write(memory, v3, dst, i + 3 * n);
  }
}

// The destination of results: one place, past the caches or not, ...
template <bool kNonTemporal>
struct Destination {
  void* dst;
  template <class D, class V>
  HWY_INLINE void put(D memory, V elements, size_t i) const {
    write(memory, elements, dst, i);
  }
  // At a multiple of a vector, if dst lies so that there is one.
  template <class D, class V>
  HWY_INLINE void put_four(D memory, V v0, V v1, V v2, V v3, size_t i) const {
    write_four<kNonTemporal>(memory, v0, v1, v2, v3, dst, i);
  }
  HWY_INLINE void end() const {
    if constexpr (kNonTemporal) hwy::FlushStream();
  }
};
// ... or two. The one past the caches is aligned like dst.
struct TwoDestinations {
  void* dst;
  void* copy;
  bool non_temporal;
  bool copy_non_temporal;
  template <class D, class V>
  HWY_INLINE void put(D memory, V elements, size_t i) const {
    write(memory, elements, dst, i);
    write(memory, elements, copy, i);
  }
  template <class D, class V>
  HWY_INLINE void put_four(D memory, V v0, V v1, V v2, V v3, size_t i) const {
    put_four_to(dst, non_temporal, memory, v0, v1, v2, v3, i);
    put_four_to(copy, copy_non_temporal, memory, v0, v1, v2, v3, i);
  }
  HWY_INLINE void end() const {
    if (non_temporal || copy_non_temporal) hwy::FlushStream();
  }

 private:
  template <class D, class V>
  static HWY_INLINE void put_four_to(void* to, bool non_temporal, D memory, V v0, V v1, V v2, V v3,
                                     size_t i) {
    if (non_temporal) {
      write_four<true>(memory, v0, v1, v2, v3, to, i);
    } else {
      write_four<false>(memory, v0, v1, v2, v3, to, i);
    }
  }
};

template <class Math, class D>
using MemoryTag = hn::Rebind<typename Math::Element, D>;

template <class Math, class D, class V, class To>
HWY_INLINE void store(const Math& math, D d, V v, const To& to, size_t i) {
  to.put(MemoryTag<Math, D>(), math.encode(d, v), i);
}

template <class Math, class Sources, class D>
HWY_INLINE auto fold(const Math& math, const Sources& sources, D d, size_t i) {
  auto v = load(math, d, sources[0], i);
  for (size_t s = 1; s < sources.size(); ++s) {
    v = math.combine(d, v, load(math, d, sources[s], i));
  }
  return v;
}

// Four vectors at a time, so that a source's pointer is fetched once for all of them. There are no
// prefetches: they gain nothing, even for sources that another core has just written.
template <class Math, class Sources, class D, class To>
HWY_INLINE void reduce_four(const Math& math, const Sources& sources, D d, const To& to, size_t i) {
  const size_t n = hn::Lanes(d);
  auto v0 = load(math, d, sources[0], i);
  auto v1 = load(math, d, sources[0], i + n);
  auto v2 = load(math, d, sources[0], i + 2 * n);
  auto v3 = load(math, d, sources[0], i + 3 * n);
  for (size_t s = 1; s < sources.size(); ++s) {
    const void* source = sources[s];
    v0 = math.combine(d, v0, load(math, d, source, i));
    v1 = math.combine(d, v1, load(math, d, source, i + n));
    v2 = math.combine(d, v2, load(math, d, source, i + 2 * n));
    v3 = math.combine(d, v3, load(math, d, source, i + 3 * n));
  }
  to.put_four(MemoryTag<Math, D>(), math.encode(d, v0), math.encode(d, v1), math.encode(d, v2),
              math.encode(d, v3), i);
}

// Fewer elements than a vector has, in smaller ones, of which the last overlaps its neighbour. That
// one is computed first and written last, for dst may be a source.
template <size_t kLanes, class Math, class Sources, class To>
HWY_INLINE void reduce_few(const Math& math, const Sources& sources, const To& to, size_t count) {
  const hn::CappedTag<typename Math::Lane, kLanes> d;
  if (count >= kLanes) {
    const size_t end = count - kLanes;
    const auto last = fold(math, sources, d, end);
    for (size_t i = 0; i < end; i += kLanes) store(math, d, fold(math, sources, d, i), to, i);
    store(math, d, last, to, end);
  } else if constexpr (kLanes > Math::kTogether) {
    reduce_few<HWY_MAX(Math::kTogether, kLanes / 4)>(math, sources, to, count);
  }
}

// The bytes of elements that stay together.
template <class Math>
inline constexpr size_t kBytesTogether = Math::kTogether * sizeof(typename Math::Element);

// Elements from dst to the first at a multiple of `bytes`, which is a power of two and at most a
// vector. It is `otherwise` if there is none at which elements that belong together begin.
template <class Math>
HWY_INLINE size_t elements_to_alignment(const void* dst, size_t bytes, size_t otherwise) {
  const size_t gap = (size_t{0} - reinterpret_cast<uintptr_t>(dst)) & (bytes - 1);
  return gap % kBytesTogether<Math> == 0 ? gap / sizeof(typename Math::Element) : otherwise;
}

// A vector's worth at each end is computed first and written last, so that the loop between them
// has whole vectors and aligned stores only. Elements that it shares with the ends get the same
// value twice. Nothing that is still to be read has been written, should dst be a source.
template <class Math, class Sources, class To>
HWY_INLINE void reduce_elements(const Math& math, const Sources& sources, const To& to,
                                size_t count) {
  using Element = typename Math::Element;
  const hn::ScalableTag<typename Math::Lane> d;
  const size_t n = hn::Lanes(d);
  if (count < n) {
    if constexpr (requires { typename Math::Single; }) {
      return reduce_elements(typename Math::Single{math.finish}, sources, to, count);
    } else {
      // Smaller ones of a target whose vectors have no fixed size: single elements.
      constexpr size_t kLeast = Math::kTogether;
      constexpr size_t kLanes = HWY_HAVE_SCALABLE ? kLeast : HWY_MAX(kLeast, hn::MaxLanes(d) / 4);
      return reduce_few<kLanes>(math, sources, to, count);
    }
  }
  const auto first = fold(math, sources, d, 0);
  const auto last = fold(math, sources, d, count - n);
  const size_t end = count - n;
  size_t i = elements_to_alignment<Math>(to.dst, n * sizeof(Element), n);
  if constexpr (!Math::kLong) {
    for (; i + 4 * n <= count; i += 4 * n) reduce_four(math, sources, d, to, i);
  }
  for (; i < end; i += n) store(math, d, fold(math, sources, d, i), to, i);
  to.end();
  store(math, d, first, to, 0);
  store(math, d, last, to, end);
}

template <class Math>
void reduce_with(const Math& math, void* dst, const void* const* sources, size_t k, size_t count,
                 const ReduceOptions& options) {
  // Stores past the caches must be aligned, which they can be if elements are.
  const auto offset = reinterpret_cast<uintptr_t>(dst);
  const bool aligned = offset % kBytesTogether<Math> == 0;
  if (options.copy != nullptr) {
    const hn::ScalableTag<typename Math::Lane> d;
    const uintptr_t vector = hn::Lanes(d) * sizeof(typename Math::Element);
    const bool alike = (offset - reinterpret_cast<uintptr_t>(options.copy)) % vector == 0;
    const TwoDestinations both = {dst, options.copy, options.non_temporal && aligned,
                                  options.copy_non_temporal && aligned && alike};
    return reduce_elements(math, Many{sources, k}, both, count);
  }
  if constexpr (!Math::kLong) {
    if (options.non_temporal && aligned) {
      return reduce_elements(math, Many{sources, k}, Destination<true>{dst}, count);
    }
    if (k == 2) {
      return reduce_elements(math, Two{sources[0], sources[1]}, Destination<false>{dst}, count);
    }
  }
  reduce_elements(math, Many{sources, k}, Destination<false>{dst}, count);
}

// ---- the parts of a Math ----

struct Add {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Add(a, b);
  }
};
struct Multiply {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Mul(a, b);
  }
};
struct Minimum {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Min(a, b);
  }
};
struct Maximum {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Max(a, b);
  }
};

// The last step on the accumulated lanes before they are encoded.
struct Keep {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> v) const {
    return v;
  }
};
template <class Lane>
struct DivideBy {
  Lane divisor;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> v) const {
    return hn::Div(v, hn::Set(d, divisor));
  }
};
template <class Lane>
struct MultiplyBy {
  Lane factor;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> v) const {
    return hn::Mul(v, hn::Set(d, factor));
  }
};

// A Format has Element, Lane, kLong, decode and encode, all static.
template <class Format, class Combine, class Finish = Keep>
struct Math {
  using Element = typename Format::Element;
  using Lane = typename Format::Lane;
  static constexpr bool kLong = Format::kLong;
  static constexpr size_t kTogether = 1;
  Finish finish;

  template <class D, class V>
  HWY_INLINE hn::Vec<D> decode(D d, V v) const {
    return Format::decode(d, v);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> combine(D d, hn::Vec<D> a, hn::Vec<D> b) const {
    return Combine()(d, a, b);
  }
  template <class D>
  HWY_INLINE auto encode(D d, hn::Vec<D> v) const {
    return Format::encode(d, finish(d, v));
  }
};

// Formats whose elements have half the size of what they are computed in; two share a lane. They
// are taken apart and put together where they lie, without instructions that move them across
// lanes. Format::Pairs has decode and encode, which returns and takes both vectors.
template <class V>
struct Pair {
  V even;
  V odd;
};
template <class Format, class Combine, class Finish>
struct PairMath {
  using Element = typename Format::Element;
  using Lane = Element;
  using Single = Math<Format, Combine, Finish>;  // math for fewer elements than a vector
  static constexpr bool kLong = Format::kLong;
  static constexpr size_t kTogether = 1;
  Finish finish;

  template <class D, class V>
  HWY_INLINE auto decode(D d, V v) const {
    return Format::Pairs::decode(d, v);
  }
  template <class D, class V>
  HWY_INLINE Pair<V> combine(D, Pair<V> a, Pair<V> b) const {
    const hn::DFromV<V> wide;
    return {Combine()(wide, a.even, b.even), Combine()(wide, a.odd, b.odd)};
  }
  template <class D, class V>
  HWY_INLINE auto encode(D d, Pair<V> v) const {
    const hn::DFromV<V> wide;
    return Format::Pairs::encode(d, Pair<V>{finish(wide, v.even), finish(wide, v.odd)});
  }
};

template <class Format, class Combine, class Finish>
struct MathOf {
  using Type = Math<Format, Combine, Finish>;
};
template <class Format, class Combine, class Finish>
  requires requires { typename Format::Pairs; }
struct MathOf<Format, Combine, Finish> {
  using Type = PairMath<Format, Combine, Finish>;
};

// Elements that are computed with as they are.
template <class T>
struct Plain {
  using Element = T;
  using Lane = T;
  static constexpr bool kLong = false;
  template <class D>
  static HWY_INLINE hn::Vec<D> decode(D, hn::Vec<D> v) {
    return v;
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> encode(D, hn::Vec<D> v) {
    return v;
  }
};

// ---- kernels ----

template <class Format, class Combine>
void reduce(void* dst, const void* const* sources, size_t k, size_t count,
            const ReduceOptions& options) {
  reduce_with(typename MathOf<Format, Combine, Keep>::Type{{}}, dst, sources, k, count, options);
}

// Floats only. A power of two has an exact reciprocal, by which multiplying gives the same bits and
// takes less time. Most jobs divide by powers of two.
template <class Format>
void average(void* dst, const void* const* sources, size_t k, size_t count,
             const ReduceOptions& options) {
  using Lane = typename Format::Lane;
  const auto divisor = static_cast<Lane>(options.divisor);
  if (options.divisor == 0) {
    reduce<Format, Add>(dst, sources, k, count, options);
  } else if ((options.divisor & (options.divisor - 1)) == 0) {
    const typename MathOf<Format, Add, MultiplyBy<Lane>>::Type math = {{1 / divisor}};
    reduce_with(math, dst, sources, k, count, options);
  } else {
    const typename MathOf<Format, Add, DivideBy<Lane>>::Type math = {{divisor}};
    reduce_with(math, dst, sources, k, count, options);
  }
}

template <class Format>
void scale(void* dst, const void* source, const void* scalar, size_t count) {
  using Lane = typename Format::Lane;
  const hn::CappedTag<Lane, 1> d;
  const Lane factor = hn::GetLane(load(Math<Format, Multiply>{{}}, d, scalar, 0));
  const Math<Format, Multiply, MultiplyBy<Lane>> math = {{factor}};
  reduce_elements(math, One{source}, Destination<false>{dst}, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();
#endif  // TUTTI_VECTOR_TARGET
#endif  // include guard of the target
