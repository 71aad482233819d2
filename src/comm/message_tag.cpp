// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages in words, for errors.
#include "comm/message_tag.hpp"

#include <fmt/format.h>

#include "transports/names.hpp"

namespace tutti {
namespace {

uint64_t type_in(Tag tag) { return tag >> kTypeShift & kTypeMask; }

// "16 float32".
std::string describe_sent(const Transfer& transfer) {
  const uint64_t type = type_in(transfer.tag);
  if (type >= kDataTypes) return fmt::format("{} bytes of type {}", transfer.sent, type);
  const auto known = static_cast<DataType>(type);
  const bool announced = transfer.tag >> kAnnouncedShift != 0;  // without its bytes
  if (announced) return fmt::format("{} in memory of a device", type_name(known));
  return fmt::format("{} {}", transfer.sent / type_size(known), type_name(known));
}

// Whether a message has come, complete or in part, that is not of the receive's type.
bool is_of_another_type(const MessageArguments& arguments, const Transfer& transfer) {
  const bool came = transfer.status.ok() || transfer.status.code() == Code::kTruncated;
  return came && !arguments.sends && !is_hidden(arguments) &&
         type_in(transfer.tag) != static_cast<uint64_t>(arguments.type);
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
  const bool fails = !transfer.status.ok() && !is_of_another_type(arguments, transfer);
  if (fails) return transfer.status.with_context(describe(arguments, transport));
  return Status::format(Code::kMismatch, "{}: {} sent {}", describe(arguments, transport),
                        short_name_of(transfer.source, transport.process(transfer.source)),
                        describe_sent(transfer));
}

}  // namespace tutti
