// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "core/status.hpp"

#include <system_error>

namespace tutti {

namespace {

constexpr std::string_view kUnknown = "unknown status";

}  // namespace

bool is_error(Code code) { return code != Code::kOk && code_name(code) != kUnknown; }

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "TUTTI_OK";
    case Code::kInvalidArgument: return "TUTTI_ERR_INVALID_ARGUMENT";
    case Code::kInvalidUsage: return "TUTTI_ERR_INVALID_USAGE";
    case Code::kUnsupported: return "TUTTI_ERR_UNSUPPORTED";
    case Code::kOutOfMemory: return "TUTTI_ERR_OUT_OF_MEMORY";
    case Code::kSystem: return "TUTTI_ERR_SYSTEM";
    case Code::kMismatch: return "TUTTI_ERR_MISMATCH";
    case Code::kPeerFailed: return "TUTTI_ERR_PEER_FAILED";
    case Code::kTimeout: return "TUTTI_ERR_TIMEOUT";
    case Code::kAborted: return "TUTTI_ERR_ABORTED";
    case Code::kTruncated: return "TUTTI_ERR_TRUNCATED";
    case Code::kInternal: return "TUTTI_ERR_INTERNAL";
    case Code::kInterrupted: return "TUTTI_ERR_INTERRUPTED";
  }
  return kUnknown;
}

Status Status::system(int error_number, std::string_view what) {
  const Code code = error_number == ENOMEM ? Code::kOutOfMemory : Code::kSystem;
  return format(code, "{}: {}", what, std::generic_category().message(error_number));
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return {};
  return format(code(), "{}: {}", context, message());
}

}  // namespace tutti
