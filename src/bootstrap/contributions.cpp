// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "bootstrap/contributions.hpp"

#include <algorithm>

#include "core/exchange.hpp"

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
size_t same_from(const Bytes& before, const Bytes& contribution, size_t at) {
  const size_t end = std::min(before.size(), contribution.size());
  size_t next = at;
  while (next < end && before[next] == contribution[next]) ++next;
  return next - at;
}

void put_difference(Bytes& body, const Bytes& before, const Bytes& contribution) {
  put_number(body, contribution.size());
  for (size_t at = 0; at < contribution.size();) {
    const size_t same = same_from(before, contribution, at);
    at += same;
    size_t end = at;
    while (end < contribution.size()) {
      const size_t next = same_from(before, contribution, end);
      if (next >= kLeastSame) break;
      end += next + 1;
    }
    end = std::min(end, contribution.size());
    put_number(body, same);
    put_number(body, end - at);
    body.insert(body.end(), contribution.begin() + static_cast<ptrdiff_t>(at),
                contribution.begin() + static_cast<ptrdiff_t>(end));
    at = end;
  }
}

bool take_difference(std::span<const std::byte>& body, const Bytes& before, Bytes& contribution) {
  size_t length = 0;
  if (!take_number(body, length) || length > kMostGatherBytes) return false;
  while (contribution.size() < length) {
    const size_t at = contribution.size();
    size_t same = 0;
    size_t fresh = 0;
    if (!take_number(body, same) || !take_number(body, fresh)) return false;
    const bool fits = same + fresh > 0 && at + same + fresh <= length &&
                      (same == 0 || at + same <= before.size()) && fresh <= body.size();
    if (!fits) return false;
    const auto copied = before.begin() + static_cast<ptrdiff_t>(same > 0 ? at : 0);
    contribution.insert(contribution.end(), copied, copied + static_cast<ptrdiff_t>(same));
    contribution.insert(contribution.end(), body.begin(),
                        body.begin() + static_cast<ptrdiff_t>(fresh));
    body = body.subspan(fresh);
  }
  return true;
}

}  // namespace

Bodies pack_contributions(const Contributions& contributions) {
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
  for (const Bytes& contribution : contributions) {
    if (contribution == *before) {
      ++repeats;
      continue;
    }
    next.clear();
    put_number(next, repeats);
    put_difference(next, *before, contribution);
    append(next);
    before = &contribution;
    repeats = 0;
  }
  if (repeats > 0) {
    next.clear();
    put_number(next, repeats);
    append(next);
  }
  return bodies;
}

bool take_contributions(std::span<const std::byte> body, size_t most, Contributions& all) {
  const size_t had = all.size();
  while (!body.empty()) {
    size_t repeats = 0;
    if (!take_number(body, repeats) || all.size() + repeats > most) return false;
    const Bytes before = all.empty() ? Bytes() : all.back();
    all.insert(all.end(), repeats, before);
    if (body.empty()) break;
    if (all.size() == most) return false;
    Bytes contribution;
    if (!take_difference(body, before, contribution)) return false;
    all.push_back(std::move(contribution));
  }
  return all.size() > had;
}

}  // namespace tutti::bootstrap
