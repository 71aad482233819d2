// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "env/values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tutti {
namespace {

template <typename Number>
bool parse_number(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

// The words of an enumeration, in the order of its values.
constexpr std::string_view kLogLevels[] = {"error", "warn", "info", "debug", "trace"};
constexpr std::string_view kLaunchers[] = {"auto", "hydra", "torchrun", "pmix", "none"};
constexpr std::string_view kKvsModes[] = {"pmi", "mpi"};
constexpr std::string_view kMnics[] = {"none", "local", "global"};
constexpr std::string_view kTraceLevels[] = {"calls", "steps"};
constexpr std::string_view kAuto = "auto";
constexpr Bounds<Bytes> kAnyBytes{0, std::numeric_limits<Bytes>::max()};
constexpr Bounds<Integer> kTimeLimits{1, INT32_MAX};  // bounds of variables that are a time limit
constexpr std::string_view kStoreTargets[] = {"auto", "cache", "memory"};

template <typename Enum>
bool parse_word(std::string_view text, std::span<const std::string_view> words, Enum& value) {
  const auto found = std::ranges::find(words, lower_case(text));
  if (found == words.end()) return false;
  value = static_cast<Enum>(found - words.begin());
  return true;
}

template <typename Enum>
std::string print_word(std::span<const std::string_view> words, Enum value) {
  return std::string(words[static_cast<size_t>(value)]);
}

std::string expected_word(std::span<const std::string_view> words) {
  std::string text = "one of ";
  for (const std::string_view word : words) {
    text.append(word).append(word == words.back() ? "" : ", ");
  }
  return text;
}

template <typename Limits, typename Value>
bool parse_or_auto(std::string_view text, const Limits& limits, std::optional<Value>& value) {
  if (lower_case(text) == kAuto) {
    value.reset();
    return true;
  }
  Value given{};
  if (!parse_value(text, limits, given)) return false;
  value = given;
  return true;
}

template <typename Value>
std::string print_or_auto(const std::optional<Value>& value) {
  return value.has_value() ? print_value(*value) : std::string(kAuto);
}

}  // namespace

bool parse_value(std::string_view text, const Bounds<Integer>& bounds, Integer& value) {
  Integer number = 0;
  if (!parse_number(text, number)) return false;
  if (number < bounds.lowest || number > bounds.highest) return false;
  value = number;
  return true;
}

bool parse_value(std::string_view text, const Bounds<Bytes>& bounds, Bytes& value) {
  const std::optional<uint64_t> number = parse_size(text);
  if (!number || *number < bounds.lowest || *number > bounds.highest) return false;
  value = *number;
  return true;
}

bool parse_value(std::string_view text, const NoBounds&, TimeLimit& value) {
  constexpr auto kNone = static_cast<Integer>(TimeLimit::kNone);
  Integer number = 0;
  if (!parse_value(text, {kNone, kTimeLimits.highest}, number)) return false;
  if (number != kNone && number < kTimeLimits.lowest) return false;
  value = static_cast<TimeLimit>(number);
  return true;
}

bool parse_value(std::string_view text, const NoBounds&, AutoBytes& value) {
  return parse_or_auto(text, kAnyBytes, value);
}

bool parse_value(std::string_view text, const NoBounds&, AutoBoolean& value) {
  return parse_or_auto(text, NoBounds{}, value);
}

bool parse_value(std::string_view text, const NoBounds&, Text& value) {
  value = text;
  return true;
}

bool parse_value(std::string_view text, const NoBounds&, Secret& value) {
  value.text = text;
  return true;
}

bool parse_value(std::string_view text, const NoBounds&, Boolean& value) {
  const std::string word = lower_case(text);
  const bool yes = word == "1" || word == "on" || word == "yes" || word == "true";
  const bool no = word == "0" || word == "off" || word == "no" || word == "false";
  if (yes || no) value = yes;
  return yes || no;
}

bool parse_value(std::string_view text, const NoBounds&, LogLevel& value) {
  return parse_word(text, kLogLevels, value);
}

bool parse_value(std::string_view text, const NoBounds&, Launcher& value) {
  return parse_word(text, kLaunchers, value);
}
bool parse_value(std::string_view text, const NoBounds&, KvsMode& value) {
  return parse_word(text, kKvsModes, value);
}
bool parse_value(std::string_view text, const NoBounds&, Mnic& value) {
  return parse_word(text, kMnics, value);
}
bool parse_value(std::string_view text, const NoBounds&, TraceLevel& value) {
  return parse_word(text, kTraceLevels, value);
}

bool parse_value(std::string_view text, const NoBounds&, StoreTarget& value) {
  return parse_word(text, kStoreTargets, value);
}

bool parse_value(std::string_view text, const NoBounds&, CoreList& value) {
  auto list = parse_core_list(lower_case(text));
  if (list) value = std::move(*list);
  return list.has_value();
}

bool parse_value(std::string_view text, const NoBounds&, CacheDomainChoice& value) {
  const auto choice = parse_cache_domain(lower_case(text));
  if (choice) value = *choice;
  return choice.has_value();
}

std::string print_value(Integer value) { return fmt::format("{}", value); }

std::string print_value(TimeLimit value) { return print_value(static_cast<Integer>(value)); }

std::string print_value(Bytes value) { return print_size(value); }
std::string print_value(const AutoBytes& value) { return print_or_auto(value); }
std::string print_value(const Text& value) { return value; }
std::string print_value(const Secret& value) { return value.text.empty() ? "" : "(not shown)"; }
std::string print_value(Boolean value) { return value ? "1" : "0"; }
std::string print_value(AutoBoolean value) { return print_or_auto(value); }
std::string print_value(LogLevel value) { return print_word(kLogLevels, value); }
std::string print_value(Launcher value) { return print_word(kLaunchers, value); }
std::string print_value(KvsMode value) { return print_word(kKvsModes, value); }
std::string print_value(Mnic value) { return print_word(kMnics, value); }
std::string print_value(TraceLevel value) { return print_word(kTraceLevels, value); }
std::string print_value(StoreTarget value) { return print_word(kStoreTargets, value); }
std::string print_value(const CoreList& value) { return value.automatic ? "auto" : value.text; }
std::string print_value(const CacheDomainChoice& value) {
  if (value.automatic) return "auto";
  return value.number == kNoCacheDomain ? "none" : fmt::format("{}", value.number);
}

std::string expected_value(const Bounds<Integer>& bounds, Integer) {
  return fmt::format("a whole number from {} to {}", bounds.lowest, bounds.highest);
}
std::string expected_value(const Bounds<Bytes>& bounds, Bytes) {
  return fmt::format("a size in bytes from {} to {}, such as 65536, 64k or 1m",
                     print_value(bounds.lowest), print_value(bounds.highest));
}
std::string expected_value(const NoBounds&, TimeLimit) {
  return fmt::format("{}, or {}", print_value(TimeLimit::kNone),
                     expected_value(kTimeLimits, Integer{}));
}
std::string expected_value(const NoBounds&, const AutoBytes&) {
  return fmt::format("{}, or {}", kAuto, expected_value(kAnyBytes, Bytes{}));
}
std::string expected_value(const NoBounds&, const Text&) { return "any text"; }
std::string expected_value(const NoBounds&, const Secret&) { return "any text"; }
std::string expected_value(const NoBounds&, Boolean) {
  return "one of 0, 1, off, on, no, yes, false, true";
}
std::string expected_value(const NoBounds& bounds, AutoBoolean) {
  return fmt::format("{}, or {}", kAuto, expected_value(bounds, Boolean{}));
}
std::string expected_value(const NoBounds&, LogLevel) { return expected_word(kLogLevels); }
std::string expected_value(const NoBounds&, Launcher) { return expected_word(kLaunchers); }
std::string expected_value(const NoBounds&, KvsMode) { return expected_word(kKvsModes); }
std::string expected_value(const NoBounds&, Mnic) { return expected_word(kMnics); }
std::string expected_value(const NoBounds&, TraceLevel) { return expected_word(kTraceLevels); }
std::string expected_value(const NoBounds&, StoreTarget) { return expected_word(kStoreTargets); }
std::string expected_value(const NoBounds&, const CoreList&) {
  return "auto, or cores such as 0,1,4-6";
}
std::string expected_value(const NoBounds&, const CacheDomainChoice&) {
  return "auto, none, or a number from 0 on";
}

}  // namespace tutti
