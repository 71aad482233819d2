// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The contributions of a round of an exchange, as they go to each member: in rank order, each as
// what differs from the one before. Ranks say nearly the same of themselves, and each of n ranks
// gets all n contributions.
//
// A frame's body holds one or more of the following. Numbers have 7 bits per byte, the lowest
// first; the last byte lacks its highest bit:
//   how many contributions are the same as the one before them (before the first: an empty one);
//   unless the body ends here, a contribution that differs: its length and then, until it is
//   complete, how many bytes are the same as those at their place in the contribution before, how
//   many are not, and these.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bootstrap/wire.hpp"

namespace tutti::bootstrap {

using Contributions = std::vector<std::vector<std::byte>>;
using Bodies = std::vector<std::vector<std::byte>>;

// The bodies of as few frames as they fit.
Bodies pack_contributions(const Contributions& contributions);
// Appends the contributions of the next body to `all`, up to `most` in all. False if the body has
// none, too many, or is malformed.
bool take_contributions(std::span<const std::byte> body, size_t most, Contributions& all);

}  // namespace tutti::bootstrap
