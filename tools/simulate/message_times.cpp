// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "tools/simulate/message_times.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace tutti::simulate {
namespace {

std::optional<uint64_t> size_of(std::string_view text) {
  uint64_t bytes = 0;
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc()) return {};
  std::string unit(behind, text.data() + text.size());
  for (char& letter : unit) letter = static_cast<char>(letter | 0x20);  // to lower case
  if (unit.ends_with("b")) unit.pop_back();
  const size_t power = unit.empty() ? 0 : std::string_view("kmg").find(unit) + 1;
  const bool known = unit.empty() || (unit.size() == 1 && power > 0);
  if (!known || bytes >> (63 - 10 * power) != 0) return {};
  return bytes << (10 * power);
}

std::optional<MessageTime> time_of(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  const std::optional<uint64_t> bytes = size_of(text.substr(0, equals));
  double us = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data() + equals + 1, end, us);
  if (!bytes || error != std::errc() || behind != end || !std::isfinite(us) || us <= 0) return {};
  return MessageTime{*bytes, us * 1e-6};
}

}  // namespace

double MessageTimes::byte_s() const {
  const MessageTime& last = times_.back();
  const MessageTime& before = times_[times_.size() - 2];
  return (last.seconds - before.seconds) / static_cast<double>(last.bytes - before.bytes);
}

double MessageTimes::at(uint64_t bytes) const {
  const auto above = std::ranges::lower_bound(times_, bytes, {}, &MessageTime::bytes);
  if (above == times_.begin()) return above->seconds;
  const MessageTime& below = *(above - 1);
  const auto more = static_cast<double>(bytes - below.bytes);
  if (above == times_.end()) return below.seconds + more * byte_s();
  const auto between = static_cast<double>(above->bytes - below.bytes);
  return below.seconds + (above->seconds - below.seconds) * more / between;
}

double MessageTimes::beyond_s(uint64_t bytes, double line_byte_s) const {
  if (times_.empty()) return 0;
  return std::max(0.0, at(bytes) - alpha_s() - static_cast<double>(bytes) * line_byte_s);
}

Result<MessageTimes> parse_message_times(const std::vector<std::string>& texts) {
  std::vector<MessageTime> times;
  for (const std::string& text : texts) {
    const std::optional<MessageTime> time = time_of(text);
    if (!time) {
      return Status::format(Code::kInvalidArgument,
                            "'{}': expected a size and microseconds above 0, such as 16kb=6.8",
                            text);
    }
    if (!times.empty() && time->bytes <= times.back().bytes) {
      return Status::format(Code::kInvalidArgument, "'{}': expected a size above the {} before it",
                            text, times.back().bytes);
    }
    times.push_back(*time);
  }
  if (times.size() < 2) {
    return Status::format(Code::kInvalidArgument,
                          "{} size: expected two or more, the shortest first", times.size());
  }
  if (times.back().seconds <= times[times.size() - 2].seconds) {
    return Status::format(Code::kInvalidArgument,
                          "'{}': expected more time than '{}', for the rate of the line",
                          texts.back(), texts[texts.size() - 2]);
  }
  return MessageTimes(std::move(times));
}

}  // namespace tutti::simulate
