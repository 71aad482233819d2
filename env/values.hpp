// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How each type of variable is read, printed and described. A new type needs one overload of each
// of the three functions.
#pragma once

#include <string>
#include <string_view>

#include "core/size_text.hpp"
#include "env/env.hpp"

namespace tutti {

// The bounds of a variable as the table has them; types without bounds have NoBounds, to which the
// table's 0, 0 converts.
template <typename T>
struct Bounds {
  T lowest;
  T highest;
};
struct NoBounds {
  int lowest;
  int highest;
};

template <typename T>
struct BoundsOf {
  using Type = NoBounds;
};
template <>
struct BoundsOf<Integer> {
  using Type = Bounds<Integer>;
};
template <>
struct BoundsOf<Bytes> {
  using Type = Bounds<Bytes>;
};

// False if `text`, which has no space around it, is not a value of the type within the bounds;
// `value` is then unchanged.
bool parse_value(std::string_view text, const Bounds<Integer>& bounds, Integer& value);
bool parse_value(std::string_view text, const Bounds<Bytes>& bounds, Bytes& value);
bool parse_value(std::string_view text, const NoBounds& bounds, TimeLimit& value);
bool parse_value(std::string_view text, const NoBounds& bounds, AutoBytes& value);
bool parse_value(std::string_view text, const NoBounds& bounds, Text& value);
bool parse_value(std::string_view text, const NoBounds& bounds, Secret& value);
bool parse_value(std::string_view text, const NoBounds& bounds, Boolean& value);
bool parse_value(std::string_view text, const NoBounds& bounds, AutoBoolean& value);
bool parse_value(std::string_view text, const NoBounds& bounds, LogLevel& value);
bool parse_value(std::string_view text, const NoBounds& bounds, Launcher& value);
bool parse_value(std::string_view text, const NoBounds& bounds, KvsMode& value);
bool parse_value(std::string_view text, const NoBounds& bounds, Mnic& value);
bool parse_value(std::string_view text, const NoBounds& bounds, TraceLevel& value);
bool parse_value(std::string_view text, const NoBounds& bounds, StoreTarget& value);
bool parse_value(std::string_view text, const NoBounds& bounds, CoreList& value);
bool parse_value(std::string_view text, const NoBounds& bounds, CacheDomainChoice& value);

// The value as it could be given, but for that of a Secret.
std::string print_value(Integer value);
std::string print_value(TimeLimit value);
std::string print_value(Bytes value);
std::string print_value(const AutoBytes& value);
std::string print_value(const Text& value);
std::string print_value(const Secret& value);
std::string print_value(Boolean value);
std::string print_value(AutoBoolean value);
std::string print_value(LogLevel value);
std::string print_value(Launcher value);
std::string print_value(KvsMode value);
std::string print_value(Mnic value);
std::string print_value(TraceLevel value);
std::string print_value(StoreTarget value);
std::string print_value(const CoreList& value);
std::string print_value(const CacheDomainChoice& value);

// The legal values, after "expected ". The value only selects the overload.
std::string expected_value(const Bounds<Integer>& bounds, Integer);
std::string expected_value(const Bounds<Bytes>& bounds, Bytes);
std::string expected_value(const NoBounds& bounds, TimeLimit);
std::string expected_value(const NoBounds& bounds, const AutoBytes&);
std::string expected_value(const NoBounds& bounds, const Text&);
std::string expected_value(const NoBounds& bounds, const Secret&);
std::string expected_value(const NoBounds& bounds, Boolean);
std::string expected_value(const NoBounds& bounds, AutoBoolean);
std::string expected_value(const NoBounds& bounds, LogLevel);
std::string expected_value(const NoBounds& bounds, Launcher);
std::string expected_value(const NoBounds& bounds, KvsMode);
std::string expected_value(const NoBounds& bounds, Mnic);
std::string expected_value(const NoBounds& bounds, TraceLevel);
std::string expected_value(const NoBounds& bounds, StoreTarget);
std::string expected_value(const NoBounds& bounds, const CoreList&);
std::string expected_value(const NoBounds& bounds, const CacheDomainChoice&);

}  // namespace tutti
