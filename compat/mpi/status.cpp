// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

#include <cstdint>
#include <cstring>

#include "request.hpp"

namespace tutti_mpi {
namespace {

// MPI_internal: two ints for the bytes, one for whether it was cancelled.
constexpr int kCancelled = 2;

}  // namespace

size_t bytes_in(const MPI_Status& status) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, status.MPI_internal, sizeof(bytes));
  return bytes;
}
void set_bytes(MPI_Status& status, size_t bytes) {
  const uint64_t wide = bytes;
  std::memcpy(status.MPI_internal, &wide, sizeof(wide));
}

void write(const Outcome& outcome, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = outcome.source;
  status->MPI_TAG = outcome.tag;
  set_bytes(*status, outcome.bytes);
  status->MPI_internal[kCancelled] = outcome.cancelled ? 1 : 0;
}

void write_empty(MPI_Status* status) {
  write(Outcome(), status);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI_ANYTIME(Test_cancelled, (const MPI_Status* status, int* flag),
                  *flag = status->MPI_internal[kCancelled])
TUTTI_MPI_ANYTIME(Status_set_cancelled, (MPI_Status * status, int flag),
                  status->MPI_internal[kCancelled] = flag != 0 ? 1 : 0)
#define TUTTI_MPI_FIELD(name, field)                                           \
  TUTTI_MPI_ANYTIME(Status_get_##name, (const MPI_Status* status, int* value), \
                    *value = status->field)                                    \
  TUTTI_MPI_ANYTIME(Status_set_##name, (MPI_Status * status, int value), status->field = value)
TUTTI_MPI_FIELD(source, MPI_SOURCE)
TUTTI_MPI_FIELD(tag, MPI_TAG)
TUTTI_MPI_FIELD(error, MPI_ERROR)
