/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * How the C++ interface reaches the library: through one function of libccl.so, so that -lccl is
 * all that a program has to be linked with.
 */
#ifndef TUTTI_ONECCL_DETAIL_FUNCTIONS_H
#define TUTTI_ONECCL_DETAIL_FUNCTIONS_H

#include <stddef.h>
#include <tutti/tutti.h>

/* Every function of tutti.h that <oneapi/ccl.hpp> calls. New ones go to the end. */
/* clang-format off */
#define TUTTI_ONECCL_FUNCTIONS(X)                                                        \
  X(last_error) X(status_name) X(type_size)                                              \
  X(op_create_premul_sum) X(op_destroy)                                                  \
  X(get_unique_id) X(comm_create) X(comm_create_from_env) X(comm_split) X(comm_destroy)  \
  X(comm_rank) X(comm_size)                                                              \
  X(request_test) X(request_wait) X(request_free) X(group_start) X(group_end)            \
  X(ibarrier) X(iallreduce) X(ibroadcast) X(iallgather) X(ireduce_scatter) X(ireduce)    \
  X(iallgatherv) X(ialltoall) X(ialltoallv) X(iscatter) X(isend) X(irecv)                \
  X(alltoall) X(allgather) X(gather)                                                     \
  X(igather)
/* clang-format on */

#ifdef __cplusplus
extern "C" {

struct tutti_oneccl_functions {
  size_t size; /* of the table that the library has */
#define TUTTI_ONECCL_MEMBER(name) decltype(&::tutti_##name) name;
  TUTTI_ONECCL_FUNCTIONS(TUTTI_ONECCL_MEMBER)
#undef TUTTI_ONECCL_MEMBER
};

TUTTI_API const struct tutti_oneccl_functions* onecclTuttiFunctions(void);

}  // extern "C"
#endif

#endif /* TUTTI_ONECCL_DETAIL_FUNCTIONS_H */
