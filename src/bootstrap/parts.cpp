// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/parts.hpp"

#include <algorithm>
#include <cstdint>

namespace tutti::bootstrap {
namespace {

using Bytes = std::vector<std::byte>;

// Fewer bytes that are the same in between are not worth the two numbers.
constexpr size_t kLeastSame = 4;

void put_number(Bytes& bytes, size_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<std::byte>(number | 0x80));
  bytes.push_back(static_cast<std::byte>(number));
}

// False if there is none below 2^28.
bool take_number(std::span<const std::byte>& body, size_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 28 && !body.empty(); shift += 7) {
    const auto next = static_cast<size_t>(body.front());
    body = body.subspan(1);
    number |= (next & 0x7f) << shift;
    if (next < 0x80) return true;
  }
  return false;
}

// The number of bytes from `at` on that are the same in both.
size_t same_from(const Bytes& before, const Bytes& part, size_t at) {
  const size_t end = std::min(before.size(), part.size());
  size_t next = at;
  while (next < end && before[next] == part[next]) ++next;
  return next - at;
}

void put_difference(Bytes& body, const Bytes& before, const Bytes& part) {
  put_number(body, part.size());
  for (size_t at = 0; at < part.size();) {
    const size_t same = same_from(before, part, at);
    at += same;
    size_t end = at;
    while (end < part.size()) {
      const size_t next = same_from(before, part, end);
      if (next >= kLeastSame) break;
      end += next + 1;
    }
    end = std::min(end, part.size());
    put_number(body, same);
    put_number(body, end - at);
    body.insert(body.end(), part.begin() + static_cast<ptrdiff_t>(at),
                part.begin() + static_cast<ptrdiff_t>(end));
    at = end;
  }
}

bool take_difference(std::span<const std::byte>& body, const Bytes& before, Bytes& part) {
  size_t length = 0;
  if (!take_number(body, length) || length > kMostGatherBytes) return false;
  while (part.size() < length) {
    const size_t at = part.size();
    size_t same = 0;
    size_t fresh = 0;
    if (!take_number(body, same) || !take_number(body, fresh)) return false;
    const bool fits = same + fresh > 0 && at + same + fresh <= length &&
                      (same == 0 || at + same <= before.size()) && fresh <= body.size();
    if (!fits) return false;
    const auto copied = before.begin() + static_cast<ptrdiff_t>(same > 0 ? at : 0);
    part.insert(part.end(), copied, copied + static_cast<ptrdiff_t>(same));
    part.insert(part.end(), body.begin(), body.begin() + static_cast<ptrdiff_t>(fresh));
    body = body.subspan(fresh);
  }
  return true;
}

}  // namespace

Bodies pack_parts(const Parts& parts) {
  Bodies bodies;
  const auto append = [&](const Bytes& bytes) {
    if (bodies.empty() || bodies.back().size() + bytes.size() > kMostBodyBytes) {
      bodies.emplace_back();
    }
    bodies.back().insert(bodies.back().end(), bytes.begin(), bytes.end());
  };
  const Bytes none;
  const Bytes* before = &none;
  size_t repeats = 0;
  Bytes next;
  for (const Bytes& part : parts) {
    if (part == *before) {
      ++repeats;
      continue;
    }
    next.clear();
    put_number(next, repeats);
    put_difference(next, *before, part);
    append(next);
    before = &part;
    repeats = 0;
  }
  if (repeats > 0) {
    next.clear();
    put_number(next, repeats);
    append(next);
  }
  return bodies;
}

bool take_parts(std::span<const std::byte> body, size_t most, Parts& all) {
  const size_t had = all.size();
  while (!body.empty()) {
    size_t repeats = 0;
    if (!take_number(body, repeats) || all.size() + repeats > most) return false;
    const Bytes before = all.empty() ? Bytes() : all.back();
    all.insert(all.end(), repeats, before);
    if (body.empty()) break;
    if (all.size() == most) return false;
    Bytes part;
    if (!take_difference(body, before, part)) return false;
    all.push_back(std::move(part));
  }
  return all.size() > had;
}

}  // namespace tutti::bootstrap
