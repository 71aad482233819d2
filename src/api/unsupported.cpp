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
tutti_status tutti_alloc(tutti_comm_t, size_t, void**) { return unsupported("tutti_alloc"); }
tutti_status tutti_free(tutti_comm_t, void*) { return unsupported("tutti_free"); }
tutti_status tutti_allgatherv(const void*, void*, const size_t*, const size_t*, tutti_type,
                              tutti_comm_t) {
  return unsupported("tutti_allgatherv");
}
tutti_status tutti_iallgatherv(const void*, void*, const size_t*, const size_t*, tutti_type,
                               tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_iallgatherv");
}
tutti_status tutti_allgatherv_init(const void*, void*, const size_t*, const size_t*, tutti_type,
                                   tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_allgatherv_init");
}
tutti_status tutti_reduce_scatterv(const void*, void*, const size_t*, tutti_type, tutti_op,
                                   tutti_comm_t) {
  return unsupported("tutti_reduce_scatterv");
}
tutti_status tutti_ireduce_scatterv(const void*, void*, const size_t*, tutti_type, tutti_op,
                                    tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_ireduce_scatterv");
}
tutti_status tutti_reduce_scatterv_init(const void*, void*, const size_t*, tutti_type, tutti_op,
                                        tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_reduce_scatterv_init");
}
tutti_status tutti_alltoallv(const void*, const size_t*, const size_t*, void*, const size_t*,
                             const size_t*, tutti_type, tutti_comm_t) {
  return unsupported("tutti_alltoallv");
}
tutti_status tutti_ialltoallv(const void*, const size_t*, const size_t*, void*, const size_t*,
                              const size_t*, tutti_type, tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_ialltoallv");
}
tutti_status tutti_alltoallv_init(const void*, const size_t*, const size_t*, void*, const size_t*,
                                  const size_t*, tutti_type, tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_alltoallv_init");
}
tutti_status tutti_gatherv(const void*, size_t, void*, const size_t*, const size_t*, tutti_type,
                           int, tutti_comm_t) {
  return unsupported("tutti_gatherv");
}
tutti_status tutti_igatherv(const void*, size_t, void*, const size_t*, const size_t*, tutti_type,
                            int, tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_igatherv");
}
tutti_status tutti_gatherv_init(const void*, size_t, void*, const size_t*, const size_t*,
                                tutti_type, int, tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_gatherv_init");
}
tutti_status tutti_scatterv(const void*, const size_t*, const size_t*, void*, size_t, tutti_type,
                            int, tutti_comm_t) {
  return unsupported("tutti_scatterv");
}
tutti_status tutti_iscatterv(const void*, const size_t*, const size_t*, void*, size_t, tutti_type,
                             int, tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_iscatterv");
}
tutti_status tutti_scatterv_init(const void*, const size_t*, const size_t*, void*, size_t,
                                 tutti_type, int, tutti_comm_t, tutti_request_t*) {
  return unsupported("tutti_scatterv_init");
}

}  // extern "C"
