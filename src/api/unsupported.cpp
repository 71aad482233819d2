// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What tutti.h declares and this release does not do: each says so.
#include "api/guard.hpp"

namespace {

tutti_status unsupported(std::string_view function) {
  return tutti::guard([&] {
    return tutti::Status::format(tutti::Code::kUnsupported, "{} is not in this release ({})",
                                 function, tutti_version_string());
  });
}

}  // namespace

extern "C" {

tutti_status tutti_comm_shrink(tutti_comm_t, const tutti_comm_config*, tutti_comm_t*) {
  return unsupported("tutti_comm_shrink");
}

}  // extern "C"
