/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * How the C++ interface reaches the library: through one function of libccl.so, so that -lccl is
 * all that a program has to be linked with.
 */
#ifndef TUTTI_ONECCL_DETAIL_FUNCTIONS_H
#define TUTTI_ONECCL_DETAIL_FUNCTIONS_H

#include <stddef.h>
#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls that have a match_id. The n-th with an id on one rank is the n-th with it on every other,
 * in whatever order the ranks make them. A matcher belongs to a communicator. */
struct tutti_oneccl_matcher;
/* One of them, from its start to its end. Owned by whoever started it, until it is freed. */
struct tutti_oneccl_call;
/* Begins the operation on `comm`, in any thread; as a non-blocking function of tutti.h. */
typedef tutti_status (*tutti_oneccl_begin_fn)(void* context, tutti_comm_t comm,
                                              tutti_request_t* request);

/* NULL if memory is lacking. Is destroyed before `comm`, when all its calls have been freed. */
struct tutti_oneccl_matcher* tutti_oneccl_matcher_create(tutti_comm_t comm);
void tutti_oneccl_matcher_destroy(struct tutti_oneccl_matcher* matcher);
/* In the thread that uses the communicator, outside of groups; waits for nobody. `begin` is called
 * once, before the call is complete, unless the call fails before. */
tutti_status tutti_oneccl_match(struct tutti_oneccl_matcher* matcher, const char* match_id,
                                tutti_oneccl_begin_fn begin, void* context,
                                struct tutti_oneccl_call** call);
/* They do what tutti_request_test, tutti_request_wait and tutti_request_free do; `in_group`: this
 * thread is in a group. After an error its text is in tutti_oneccl_match_error() of this thread. */
tutti_status tutti_oneccl_match_test(struct tutti_oneccl_call* call, int in_group, int* done);
tutti_status tutti_oneccl_match_wait(struct tutti_oneccl_call* call, int in_group);
void tutti_oneccl_match_free(struct tutti_oneccl_call* call);
const char* tutti_oneccl_match_error(void);

#ifdef __cplusplus
}
#endif

/* Every function of tutti.h, and of the above, that <oneapi/ccl.hpp> calls. New ones go to the
 * end. */
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
  X(igather)                                                                             \
  X(oneccl_matcher_create) X(oneccl_matcher_destroy) X(oneccl_match)                     \
  X(oneccl_match_test) X(oneccl_match_wait) X(oneccl_match_free) X(oneccl_match_error)   \
  X(unique_id_at)
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
