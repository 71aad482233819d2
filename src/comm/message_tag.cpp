// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages in words, for errors.
#include "comm/message_tag.hpp"

#include <fmt/format.h>

#include "transports/names.hpp"

namespace tutti {
namespace {

std::string type_name_of(Tag tag) {
  const uint64_t type = tag >> kTypeShift & kTypeMask;
  return type < kDataTypes ? std::string(type_name(static_cast<DataType>(type)))
                           : fmt::format("type {}", type);
}

}  // namespace

std::string describe(const MessageArguments& arguments, const Transport& transport) {
  const std::string peer = arguments.peer == TUTTI_ANY_SOURCE
                               ? "any rank"
                               : short_name_of(arguments.peer, transport.process(arguments.peer));
  std::string tag = fmt::format("tag {}", arguments.tag);
  if (arguments.tag == TUTTI_ANY_TAG) tag = "any tag";
  if (is_hidden(arguments)) tag = "of a message in memory of a device";
  return fmt::format("{} ({} {} {} {}, {})", arguments.sends ? "send" : "recv", arguments.count,
                     type_name(arguments.type), arguments.sends ? "to" : "from", peer, tag);
}

Status rare_outcome(const MessageArguments& arguments, const Transfer& transfer,
                    tutti_recv_info* received, const Transport& transport) {
  if (transfer.status.ok() && is_hidden(arguments)) {
    *received = {.source = transfer.source,
                 .tag = arguments.tag,
                 .count = transfer.bytes / type_size(arguments.type)};
    return {};
  }
  if (!transfer.status.ok()) return transfer.status.with_context(describe(arguments, transport));
  return Status::format(Code::kMismatch, "{}: {} sent {}", describe(arguments, transport),
                        short_name_of(transfer.source, transport.process(transfer.source)),
                        type_name_of(transfer.tag));
}

}  // namespace tutti
