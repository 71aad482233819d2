// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A message: its arguments, the tag that it carries, and how a receive reads that.
#pragma once

#include <string>

#include "core/types.hpp"
#include "transports/transport.hpp"

namespace tutti {

struct MessageArguments {
  bool sends = false;
  bool synchronous = false;  // a started send that is done only once its receive has taken it
  DataType type = DataType::kUint8;
  int peer = 0;            // TUTTI_ANY_SOURCE for a receive from anybody
  int tag = 0;             // TUTTI_ANY_TAG for a receive with any tag
  void* buffer = nullptr;  // only read by a send
  uint64_t count = 0;
};
// The arguments in words: "recv (16 float32 from rank 3, tag 7)".
std::string describe(const MessageArguments& arguments, const Transport& transport);

// A message's tag, from the lowest bit: 31 bits of the user's tag, then one that hides it from the
// user's receives (comm/announced.hpp). 8 bits of the element type follow, so that a receive can
// match by the first and compare the last; an announcement adds its number.
inline constexpr Tag kUserTag = 0x7fffffff;
inline constexpr Tag kHiddenTag = 0x80000000;
inline constexpr Tag kMatchedTag = kUserTag | kHiddenTag;
inline constexpr int kTypeShift = 32;
inline constexpr Tag kTypeMask = 0xff;
inline constexpr int kAnnouncedShift = 40;

inline Tag tag_of(const MessageArguments& arguments) {
  return static_cast<Tag>(arguments.type) << kTypeShift |
         (arguments.tag == TUTTI_ANY_TAG ? 0 : static_cast<Tag>(arguments.tag));
}

// Whether it is a message of the library's own: its tag has its kind in place of the user's tag.
constexpr bool is_hidden(const MessageArguments& arguments) {
  return arguments.tag < TUTTI_ANY_TAG;
}

// The outcome of a transfer that is done, and has failed or met more than its type: why it failed,
// or what came instead. A hidden message has ended well.
Status rare_outcome(const MessageArguments& arguments, const Transfer& transfer,
                    tutti_recv_info* received, const Transport& transport);

// How a transfer that is done has ended. If it is a receive, `received` tells what came, unless it
// is null.
[[gnu::always_inline]] inline Status outcome(const MessageArguments& arguments,
                                             const Transfer& transfer, tutti_recv_info* received,
                                             const Transport& transport) {
  const bool of_its_type =
      arguments.sends || transfer.tag >> kTypeShift == static_cast<Tag>(arguments.type);
  if (!transfer.status.ok() || !of_its_type) [[unlikely]]
    return rare_outcome(arguments, transfer, received, transport);
  if (!arguments.sends && received != nullptr) {
    *received = {.source = transfer.source,
                 .tag = static_cast<int>(transfer.tag & kUserTag),
                 .count = transfer.bytes / type_size(arguments.type)};
  }
  return {};
}

}  // namespace tutti
