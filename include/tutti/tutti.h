/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * Tutti: collective communication between the processes of a job.
 *
 * CONVENTIONS, which hold for every function unless its comment says otherwise
 *
 * Errors. Every function returns a tutti_status; TUTTI_OK is 0. After another value,
 *   tutti_last_error() gives a sentence that names what was given, what was expected and where.
 *   The place is the operation and, if a peer is the cause, its rank, process id and host. No C++
 *   exception leaves the library. No call waits for ever: each ends with its result, or with
 *   TUTTI_ERR_TIMEOUT, TUTTI_ERR_PEER_FAILED, TUTTI_ERR_MISMATCH or TUTTI_ERR_ABORTED, or with
 *   TUTTI_ERR_INTERRUPTED (tutti_set_interrupt_check). After one of the last four, or a timeout
 *   inside a collective, the communicator is broken. Further calls on it return the first cause at
 *   once; only tutti_comm_destroy and tutti_comm_shrink remain useful.
 *
 * Names of ranks. Texts name a rank by its number in its communicator, with its process id and
 *   host. If a communicator was made by tutti_comm_split or tutti_comm_shrink, or with
 *   tutti_comm_config.global_ranks, they add the group's name and the rank's number in the whole
 *   job: rank 2 of group "tp" (global rank 3, pid 77 on h).
 *
 * Fork. Communicators and requests belong to the process that made them. In a child made by fork(),
 *   every call on what it inherited is TUTTI_ERR_INVALID_USAGE, naming both processes. The
 *   exceptions are tutti_comm_destroy and tutti_request_free, which free the child's copy and touch
 *   nothing that the parent uses. Neither they nor the child's end are noticed by the parent or its
 *   peers. Nor can the child make communicators, unless the parent had none when it forked, or it
 *   calls exec.
 *
 * Callbacks (reductions, tuners, completion functions) that throw a C++ exception: it ends the call
 *   with TUTTI_ERR_INTERNAL, or TUTTI_ERR_OUT_OF_MEMORY for std::bad_alloc, and its text. An
 *   exception of a reduction or a tuner also breaks the communicator.
 *
 * Null. A null handle or output pointer gives TUTTI_ERR_INVALID_ARGUMENT. A null buffer is
 *   accepted only where its count is 0.
 *
 * Ownership. Handles belong to the caller from the function that makes them to the one that
 *   destroys them. Buffers stay the caller's. The library reads a send buffer and writes a receive
 *   buffer only between the start of an operation and its completion; meanwhile the caller must
 *   leave both alone. Strings returned are owned by the library. A call on a communicator that was
 *   destroyed is TUTTI_ERR_INVALID_USAGE, as long as few others were destroyed since.
 *
 * Counts are in elements of `type`, never in bytes, and may exceed 2^31. A buffer of more than 2^47
 *   bytes, or that ends beyond the last address, is TUTTI_ERR_INVALID_ARGUMENT. Pointers need no
 *   alignment. `ranks` below is tutti_comm_size(), `rank` is tutti_comm_rank().
 *
 * In place. Where a comment says so, the send and receive buffers may coincide in the way it says,
 *   on some ranks or on all. If memory that a call reads and writes on this rank overlaps in any
 *   other way, it is TUTTI_ERR_INVALID_ARGUMENT, and the text names both ranges. Each message and
 *   call is looked at by itself, even if others are under way.
 *
 * Order and threads. All ranks of a communicator make the same collective calls in the same order,
 *   with matching arguments. A mismatch is detected, and every rank gets an error with both
 *   signatures. It comes from that call, or from the next one that waits for others: small calls in
 *   which a rank only gives (a broadcast of its root, say) may end before any other rank has begun.
 *   One communicator, with its views and the starts of its persistent requests, is used from one
 *   thread at a time. Different communicators may be used from different threads at once. Functions
 *   that say "any thread", and test/wait on a request, may be called in other threads meanwhile.
 *
 * Requests and threads. tutti_request_test, _wait, _wait_for, _on_complete and _recv_info may be
 *   called in several threads at a time, also while the communicator is destroyed and after that.
 *   tutti_comm_destroy waits for threads that are in them, and for tutti_request_start, which fails
 *   from then on. tutti_request_free of a request is like a wait for it. But a request is started
 *   and freed while no other thread is in a call on it, nor begins one before that has returned.
 *
 * Forms. Each collective X has three forms. tutti_X blocks. tutti_iX gives a request, to be
 *   completed by tutti_request_wait (or _test until done). tutti_X_init gives a persistent request,
 *   which is started any number of times with tutti_request_start. Array arguments (counts,
 *   displacements) are copied by all three.
 *
 * Sums of 16- and 8-bit floating types are accumulated in 32-bit floats, in rank order, and rounded
 *   once. Integers wrap. A result that is not a number is the type's default quiet NaN. min and max
 *   give NaN if any input is NaN, and -0 counts as less than +0. Complex numbers are added part by
 *   part, and multiplied as (a + bi)(c + di) = (ac - bd) + (ad + bc)i whatever the parts are. Each
 *   of the six operations is rounded by itself, and each part that is no number is as said above.
 */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <stddef.h>
#include <stdint.h>

#include <tutti/version.h>

/* The functions that the library exports. */
#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status -------------------------------------------------------------------------------- */

typedef enum tutti_status {
  TUTTI_OK = 0,
  TUTTI_ERR_INVALID_ARGUMENT = 1, /* an argument or an environment variable is wrong */
  TUTTI_ERR_INVALID_USAGE = 2,    /* the call is not allowed in this state or order */
  TUTTI_ERR_UNSUPPORTED = 3,      /* this build or this release cannot do that */
  TUTTI_ERR_OUT_OF_MEMORY = 4,
  TUTTI_ERR_SYSTEM = 5,      /* the operating system refused something; the text says what */
  TUTTI_ERR_MISMATCH = 6,    /* ranks made different calls */
  TUTTI_ERR_PEER_FAILED = 7, /* a peer process died or left */
  TUTTI_ERR_TIMEOUT = 8,
  TUTTI_ERR_ABORTED = 9,    /* tutti_comm_abort, here or on another rank */
  TUTTI_ERR_TRUNCATED = 10, /* a message was longer than the receive buffer */
  TUTTI_ERR_INTERNAL = 11, /* a bug in Tutti: please report it with the text; or a callback threw */
  TUTTI_ERR_INTERRUPTED = 12 /* tutti_set_interrupt_check */
} tutti_status;

/* The text of the last error in this thread, "" if there was none; valid until the thread's next
 * failing call. Never NULL. */
TUTTI_API const char* tutti_last_error(void);
/* The name of a status, e.g. "TUTTI_ERR_TIMEOUT". Never NULL. */
TUTTI_API const char* tutti_status_name(tutti_status status);

/* ---- version ------------------------------------------------------------------------------- */

/* The version of the library that is loaded, as TUTTI_VERSION encodes it:
 * major * 10000 + minor * 100 + patch. Compare with TUTTI_VERSION, that of the header compiled
 * against. */
TUTTI_API int tutti_version(void);
/* That version as "major.minor.patch". */
TUTTI_API const char* tutti_version_string(void);

/* ---- element types and reductions ---------------------------------------------------------- */

typedef enum tutti_type {
  TUTTI_INT8 = 0,
  TUTTI_UINT8 = 1,
  TUTTI_INT16 = 2,
  TUTTI_UINT16 = 3,
  TUTTI_INT32 = 4,
  TUTTI_UINT32 = 5,
  TUTTI_INT64 = 6,
  TUTTI_UINT64 = 7,
  TUTTI_FLOAT16 = 8,      /* IEEE 754 binary16 */
  TUTTI_BFLOAT16 = 9,     /* upper half of a binary32 */
  TUTTI_FLOAT32 = 10,     /* IEEE 754 binary32 */
  TUTTI_FLOAT64 = 11,     /* IEEE 754 binary64 */
  TUTTI_FLOAT8_E4M3 = 12, /* OCP FP8 E4M3 (no infinities, max 448) */
  TUTTI_FLOAT8_E5M2 = 13, /* OCP FP8 E5M2 */
  TUTTI_COMPLEX64 = 14,   /* two binary32: the real part, then the imaginary one */
  TUTTI_COMPLEX128 = 15,  /* two binary64 */
  /* No type: with it a tutti_type holds any value in C++, too, and later types fit. */
  TUTTI_TYPE_RANGE = 0x7FFFFFFF
} tutti_type;

/* Size of one element in bytes; 0 for a value that is no type. */
TUTTI_API size_t tutti_type_size(tutti_type type);
/* Name of a type, e.g. "bfloat16"; "unknown" for a value that is no type. */
TUTTI_API const char* tutti_type_name(tutti_type type);

/* A reduction: one of the constants below, or a handle from tutti_op_create_*. */
typedef int32_t tutti_op;
enum {
  TUTTI_SUM = 0,
  TUTTI_PROD = 1,
  TUTTI_MIN = 2, /* complex numbers have no order, so no min and max */
  TUTTI_MAX = 3,
  TUTTI_AVG = 4,  /* sum divided by the number of ranks; integers truncate toward zero */
  TUTTI_BAND = 5, /* bitwise, integer types only, as are the next two */
  TUTTI_BOR = 6,
  TUTTI_BXOR = 7
};
/* Name of a reduction, e.g. "sum"; "unknown" for a value that is none of the constants above. */
TUTTI_API const char* tutti_op_name(tutti_op op);

/* A user's reduction: accumulator[i] = accumulator[i] (op) source[i] for i < count. It is called in
 * the thread that makes the call or in a worker thread, at any time between start and completion.
 * Ranks come in ascending order: the accumulator starts as a copy of the lowest rank's data. Must
 * be associative; need not be commutative. Must not call Tutti. */
typedef void (*tutti_reduce_fn)(const void* source, void* accumulator, size_t count,
                                tutti_type type, void* context);
/* Makes a reduction from a function. Local: each rank creates its own, in the same order. */
TUTTI_API tutti_status tutti_op_create_user(tutti_reduce_fn function, void* context, tutti_op* op);
/* Makes "multiply each rank's data by *scalar, then sum". `scalar` points to one element of `type`,
 * read now; ranks may give different values. Usable with that type only. */
TUTTI_API tutti_status tutti_op_create_premul_sum(const void* scalar, tutti_type type,
                                                  tutti_op* op);
/* Frees a created reduction once no operation uses it. */
TUTTI_API tutti_status tutti_op_destroy(tutti_op op);

/* ---- communicators ------------------------------------------------------------------------- */

/* A communicator: ranks that make calls together. */
typedef struct tutti_comm* tutti_comm_t;
/* A call that goes on by itself, or one that is made again and again. */
typedef struct tutti_request* tutti_request_t;

/* Names a communicator to be. One process makes it with tutti_get_unique_id and hands the bytes to
 * the others by any means; they contain a secret, so treat them like one. Good for exactly one
 * tutti_comm_create per rank. The process that made it keeps a thread and one or two descriptors
 * for it while it waits for ranks. The wait ends when they have met or tutti_unique_id_release() is
 * called. If none of them has come, it ends after TUTTI_ID_LIFETIME_MS (default 1 hour). */
typedef struct tutti_unique_id {
  unsigned char bytes[128]; /* to be handed on as they are */
} tutti_unique_id;
/* Makes an id and starts, in this process, the service at which the ranks meet. */
TUTTI_API tutti_status tutti_get_unique_id(tutti_unique_id* id);
/* Gives back an id that is not to be used after all. Ranks that wait for others at it get
 * TUTTI_ERR_ABORTED, those that come later find nobody. No effect once all ranks have met, or if it
 * was given back before. Any thread, any process that has the id. */
TUTTI_API tutti_status tutti_unique_id_release(const tutti_unique_id* id);

/* Makes the id of a place that all ranks know beforehand, so that nothing is handed on. Every rank
 * gives the same `place`, the name or address of rank 0's host and a free port there, "HOST:PORT".
 * Rank 0 serves there once it calls tutti_comm_create, and others may come first. The secret of
 * such an id is what TUTTI_MEETING_SECRET says on all ranks. Without that variable it is derived
 * from `place` alone, so that whoever reaches the port may join: a warning says so once. */
TUTTI_API tutti_status tutti_unique_id_at(const char* place, tutti_unique_id* id);

/* One kind of call, as a tuner is asked about it. `size` lets the struct grow. */
typedef struct tutti_tuner_query {
  size_t size;                   /* sizeof(tutti_tuner_query) of the library */
  const char* collective;        /* "allreduce", ..., as in `tutti info` */
  int32_t ranks;                 /* of the communicator */
  tutti_type type;               /* of the elements */
  size_t bytes;                  /* of count elements: of one block where there are several */
  size_t candidates;             /* how many algorithms apply: the length of the next two */
  const char* const* algorithms; /* their names, the fastest by the cost model first */
  const double* seconds;         /* what the cost model predicts for each */
} tutti_tuner_query;
/* Returns the name of the algorithm that such calls are to use, or NULL for the library's own
 * choice. For calls on memory of tutti_alloc the cost model may choose another that reads it where
 * it lies. Every rank is asked, once or more often, before its first call of a kind, in the thread
 * that makes the call. The answer must depend on nothing but the query and be the same on every
 * rank, or ranks get TUTTI_ERR_MISMATCH as for calls that differ. So the query has nothing in which
 * ranks may differ, such as where buffers lie. A name that is unknown, or of an algorithm that does
 * not apply, is passed over with a line in the log. All strings belong to whoever made them, and
 * must stay until the function is called again. It must not call Tutti. */
typedef const char* (*tutti_tuner_fn)(void* context, const tutti_tuner_query* query);
/* A tuner. CCL_ALLREDUCE and its like win over it, it wins over the tuning file and the cost model.
 */
typedef struct tutti_tuner {
  size_t size;           /* sizeof(tutti_tuner) */
  tutti_tuner_fn choose; /* not NULL */
  void* context;         /* handed to the function */
} tutti_tuner;

/* Options of a communicator. Start from TUTTI_COMM_CONFIG_INIT; a NULL config means just that.
 * `size` lets the struct grow: fields beyond it take their defaults. Fields that come after 1.0
 * have 0 for a default. If a program that was compiled for a later Tutti gives one another value, a
 * library that does not know it returns TUTTI_ERR_INVALID_ARGUMENT with both sizes. */
typedef struct tutti_comm_config {
  size_t size;        /* sizeof(tutti_comm_config) */
  int32_t timeout_ms; /* longest wait in one call; -1: from TUTTI_TIMEOUT_MS (default 30 minutes) */
  int32_t
      init_timeout_ms; /* for all ranks to arrive; -1: from TUTTI_INIT_TIMEOUT_MS (default 60 s) */
  int32_t strict;      /* 1: the same bits whatever the algorithm; -1: from TUTTI_STRICT */
  const char* name;    /* shown in errors and logs; NULL: "comm N"; copied */
  const tutti_tuner* tuner; /* on all ranks or none; not of those split off; NULL: none; copied */
  /* The next two are for tutti_comm_create; others know from their `comm`, and pass them over. */
  const int* global_ranks;   /* the number of each of the `ranks` ranks in the whole job (>= 0), for
                                texts; NULL: the communicator is the whole job's; copied */
  struct tutti_comm* parent; /* a communicator of all these ranks, used only while this one is made:
                                if it breaks meanwhile, that ends with its cause; NULL: none */
} tutti_comm_config;
/* A tutti_comm_config that leaves everything to the environment. */
#define TUTTI_COMM_CONFIG_INIT \
  { sizeof(tutti_comm_config), -1, -1, -1, NULL, NULL, NULL, NULL }

/* Makes a communicator of `ranks` processes (1 <= ranks), of which this is `rank` (0 <= rank <
 * ranks). Collective over those that hold the id. A missing, duplicate or out-of-range rank, or
 * ranks that disagree on `ranks`, is an error naming them on all that did arrive. */
TUTTI_API tutti_status tutti_comm_create(const tutti_unique_id* id, int rank, int ranks,
                                         const tutti_comm_config* config, tutti_comm_t* comm);
/* Makes the communicator of all processes of the job, as the launcher's environment describes it.
 * Launchers are `tutti run`, torchrun, Slurm's srun, MPICH's or Open MPI's mpirun, or RANK and
 * WORLD_SIZE set by hand; docs/cluster.md has them all. One process without any launcher gets a
 * communicator of size 1. */
TUTTI_API tutti_status tutti_comm_create_from_env(const tutti_comm_config* config,
                                                  tutti_comm_t* comm);
/* The color of a rank that gets no communicator of a split. */
#define TUTTI_NO_COLOR (-1)
/* Collective over `comm`. Ranks with the same color (>= 0) form a new communicator, ordered by key,
 * then by rank in `comm`. color TUTTI_NO_COLOR: take part, get *result = NULL. If `comm` breaks
 * meanwhile, by a death or tutti_comm_abort, the call ends with that error. */
TUTTI_API tutti_status tutti_comm_split(tutti_comm_t comm, int color, int key,
                                        const tutti_comm_config* config, tutti_comm_t* result);
/* Collective over the ranks of `comm` that have neither died nor destroyed it, whether or not a
 * failure has broken it. Makes a new communicator of them, in their order. `comm` stays as it is
 * and must still be destroyed, afterwards. Waits for every rank until it calls this, dies or
 * destroys `comm`, at most as long as config's init_timeout_ms says. After an error of this wait,
 * this rank cannot shrink `comm` any more. Whoever dies meanwhile is left out. Errors:
 * TUTTI_ERR_TIMEOUT, and TUTTI_ERR_PEER_FAILED if the ranks are on several hosts and the process
 * that made the id has died, as it kept them in touch. */
TUTTI_API tutti_status tutti_comm_shrink(tutti_comm_t comm, const tutti_comm_config* config,
                                         tutti_comm_t* result);
/* Collective over `comm` and over `newcomers` (1 or more) processes that call tutti_comm_join.
 * Makes a new communicator of the ranks of `comm`, in their order, and after them the newcomers.
 * `comm` stays as it is and must still be destroyed. `id` is of tutti_get_unique_id in any process,
 * good for one grow, and handed to the newcomers by the application. Ranks of `comm` that do not
 * know it may give NULL, if one gives it. If `comm` breaks meanwhile, by a death or
 * tutti_comm_abort, the call ends with that error. A newcomer that does not come before config's
 * init_timeout_ms is TUTTI_ERR_TIMEOUT, which names it. */
TUTTI_API tutti_status tutti_comm_grow(tutti_comm_t comm, const tutti_unique_id* id, int newcomers,
                                       const tutti_comm_config* config, tutti_comm_t* result);
/* Newcomer number `newcomer` (0 <= newcomer < newcomers) calls this, before or after the ranks call
 * tutti_comm_grow. It need not know how many they are: tutti_comm_rank and tutti_comm_size tell. If
 * ranks die before they call it, those that are left may grow with the same id, after a shrink. */
TUTTI_API tutti_status tutti_comm_join(const tutti_unique_id* id, int newcomer, int newcomers,
                                       const tutti_comm_config* config, tutti_comm_t* comm);
/* Frees the communicator; waits first for its outstanding operations (up to the timeout) and for
 * threads that are in functions on its requests. Returns the first error that broke it, if one did,
 * or TUTTI_ERR_MISMATCH if its last calls differ from those of a peer. It is freed either way. NULL
 * is accepted. Requests outlive it: they can be tested, waited for and freed, but persistent ones
 * not be started. A tutti_comm_abort or _state of another thread is waited for if it has begun
 * before; none may begin when this has returned. In a completion function of a request on the
 * communicator it is TUTTI_ERR_INVALID_USAGE.
 *
 * Peers are waited for only if this rank may have ended its last call before a peer began it (a
 * broadcast, say, or a scatter of its root). The wait lasts until they have, 50 ms at most, or a
 * second if a process on another host does not even answer. So if the last calls of ranks differ,
 * ranks get TUTTI_ERR_MISMATCH that still have the communicator, or are destroying it, when the
 * last of these calls is made. A rank that has destroyed it by then got TUTTI_OK; the others are
 * told all the same. If ranks make a different number of calls, those with more are told, and those
 * with fewer if they leave after them. (Ranks on several hosts compare with those that they have
 * exchanged messages with.) */
TUTTI_API tutti_status tutti_comm_destroy(tutti_comm_t comm);
/* Breaks the communicator for all ranks: every call in progress or to come, here and on the peers,
 * returns TUTTI_ERR_ABORTED with `reason` (may be NULL). Returns at once, needs nobody's help, any
 * thread. The handle must still be destroyed. */
TUTTI_API tutti_status tutti_comm_abort(tutti_comm_t comm, const char* reason);
/* Sets *rank to the number of this process in the communicator, from 0 to the number of ranks - 1.
 * Any thread. */
TUTTI_API tutti_status tutti_comm_rank(tutti_comm_t comm, int* rank);
/* Sets *ranks to how many processes the communicator has. Any thread. */
TUTTI_API tutti_status tutti_comm_size(tutti_comm_t comm, int* ranks);
/* Changes the longest wait of one call, in milliseconds (> 0; -1: none). */
TUTTI_API tutti_status tutti_comm_set_timeout(tutti_comm_t comm, int timeout_ms);
/* Sets *timeout_ms to the longest wait of one call, in milliseconds; -1: none. Any thread. */
TUTTI_API tutti_status tutti_comm_get_timeout(tutti_comm_t comm, int* timeout_ms);
/* The state of the communicator without making a call: TUTTI_OK, or the error that broke it, with
 * its text in tutti_last_error(). Any thread. */
TUTTI_API tutti_status tutti_comm_state(tutti_comm_t comm);

/* ---- devices ------------------------------------------------------------------------------- */

/* Buffers in the memory of a device, such as a GPU: docs/devices.md. */
typedef enum tutti_device_api {
  TUTTI_DEVICE_OPENCL = 1,    /* cl_context, cl_device_id, cl_command_queue */
  TUTTI_DEVICE_LEVEL_ZERO = 2 /* ze_context_handle_t, ze_device_handle_t, ze_command_queue_handle_t
                                 or, with TUTTI_QUEUE_IMMEDIATE, ze_command_list_handle_t */
} tutti_device_api;

/* A queue of a device, by the application's own handles. Start from TUTTI_QUEUE_INIT. */
typedef struct tutti_queue {
  size_t size;          /* sizeof(tutti_queue) */
  tutti_device_api api; /* what the handles are of */
  uint32_t flags;       /* of TUTTI_QUEUE_IMMEDIATE and its like, or 0 */
  void* context;        /* of OpenCL, this and `device` may be NULL: the queue knows */
  void* device;         /* to which the queue belongs */
  void* queue;          /* by whose order calls begin */
} tutti_queue;
/* A tutti_queue of which the handles are still to be given. */
#define TUTTI_QUEUE_INIT \
  { sizeof(tutti_queue), TUTTI_DEVICE_OPENCL, 0, NULL, NULL, NULL }
/* `queue` is an immediate command list. */
#define TUTTI_QUEUE_IMMEDIATE 1u
/* Every buffer is the device's. For drivers that cannot tell what a pointer is, as those of OpenCL
 * without unified shared memory, where the application allocates by clSVMAlloc. */
#define TUTTI_QUEUE_ALL_DEVICE 2u

/* Makes a *view of `comm`: the same communicator, in use with a device's queue. It is not
 * collective, and there may be several, of one queue or more. All functions take a view where they
 * take a communicator, with these differences:
 * - Buffers are device memory that the queue's context knows, or of the host as ever. Those of one
 *   call are all the one or all the other. Anything else is TUTTI_ERR_INVALID_ARGUMENT.
 * - A call begins, of its own accord, after what is in the queue when it is made. It puts nothing
 *   there but a mark. So what is enqueued later does not wait for the call: wait for the request,
 *   or have the queue wait for its event (tutti_request_event). A blocking call blocks the host.
 * - tutti_alloc gives device memory, which others read in collectives alone.
 * - tutti_comm_split and tutti_comm_shrink give communicators, not views.
 * Collectives on views and on the communicator are one order; each is on views of all or none.
 * A device that does not end is a TUTTI_ERR_TIMEOUT that names it. The handles in `queue` must
 * outlive the view. tutti_comm_destroy takes views before what they are views of. */
TUTTI_API tutti_status tutti_comm_view(tutti_comm_t comm, const tutti_queue* queue,
                                       tutti_comm_t* view);
/* Gets an event of the device's API (cl_event, ze_event_handle_t) for a queue to wait for. It is
 * signalled when the started operation on a view is complete. Ask before the view is destroyed. It
 * belongs to the request, until that is started again or freed. After an error, its waiters go on
 * or are abandoned as the API has it; the request says which. */
TUTTI_API tutti_status tutti_request_event(tutti_request_t request, void** event);

/* ---- interrupts ---------------------------------------------------------------------------- */

/* Whether this thread is to wait no longer: not 0 for yes. */
typedef int (*tutti_interrupt_fn)(void* context);
/* After this call the thread calls check(context) about every 50 ms while it waits inside any call
 * of this library. Once that gives another value than 0 the wait ends, and the call with
 * TUTTI_ERR_INTERRUPTED: so an interpreter gets to handle Ctrl-C. The awaited communicator is then
 * broken for all ranks: peers get TUTTI_ERR_ABORTED with a text that names this rank. A
 * communicator that was to be made is not made. One that is destroyed is freed; an operation whose
 * request is waited for is over. If the call succeeds in that moment all the same, it returns
 * TUTTI_OK, and the answer is forgotten. The check runs in the thread that waits, which holds no
 * lock of the library; it may call tutti_comm_abort, and nothing else of the library. NULL: none,
 * as in every new thread. */
TUTTI_API tutti_status tutti_set_interrupt_check(tutti_interrupt_fn check, void* context);

/* ---- memory -------------------------------------------------------------------------------- */

/* Gets memory of this process for use as any buffer, zeroed and present (no page faults later);
 * NULL for 0 bytes. It is aligned to 2 MiB from that size on, to 64 bytes below. From 16 KiB on it
 * is memory that the peers on this host read where it lies, if the system allows that. Collectives
 * on `comm` then copy less, and so do messages over 16 KiB from such memory to a rank that has
 * taken some, too. Large allreduces gain most if their buffers are such memory on all ranks. Mixed
 * with other memory it works as well, only not as fast. A forked child shares it with its parent.
 * Every rank calls it with the same `bytes`, in the same order among the calls on `comm`, so that
 * later releases can do more. It does not wait for them. */
TUTTI_API tutti_status tutti_alloc(tutti_comm_t comm, size_t bytes, void** memory);
/* Gives it back; tutti_comm_destroy does so with what is left. Memory that is not from `comm`, or
 * is freed already, is an error. NULL is accepted. */
TUTTI_API tutti_status tutti_free(tutti_comm_t comm, void* memory);

/* ---- requests ------------------------------------------------------------------------------ */

/* Sets *done to 1 if the operation is complete, else to 0, and helps it along. Returns the
 * operation's status once it is done. A non-blocking request stays valid until freed. */
TUTTI_API tutti_status tutti_request_test(tutti_request_t request, int* done);
/* Waits for completion and returns the operation's status. */
TUTTI_API tutti_status tutti_request_wait(tutti_request_t request);
/* Waits for at most timeout_ms (>= 0) milliseconds, then gives TUTTI_ERR_TIMEOUT; the operation
 * goes on, the communicator is not broken. */
TUTTI_API tutti_status tutti_request_wait_for(tutti_request_t request, int timeout_ms);
/* Starts a persistent request that is not active. */
TUTTI_API tutti_status tutti_request_start(tutti_request_t request);
/* A function to be called when an operation completes. It gets the operation's status, the text of
 * its error, empty if it has none, and the context that was given with the function. */
typedef void (*tutti_completion_fn)(tutti_status status, const char* error, void* context);
/* Calls function(status, error, context) once when the operation completes, in the thread that
 * completes it. That is a worker, a thread that starts, tests or waits for something on this
 * communicator, or this one if it has completed already. The function must be short and must not
 * wait on this communicator. The request itself is complete once it has returned, and can be waited
 * for, started again and freed from then on. Set it before starting a persistent request; it then
 * runs at every completion, until another is set, or NULL: none. */
TUTTI_API tutti_status tutti_request_on_complete(tutti_request_t request,
                                                 tutti_completion_fn function, void* context);
/* Frees a request; an active one is waited for first. NULL is accepted. */
TUTTI_API tutti_status tutti_request_free(tutti_request_t request);

/* ---- groups -------------------------------------------------------------------------------- */

/* This thread's collectives, sends and receives on any communicators, blocking and non-blocking,
 * are recorded between start and end. Each checks its arguments at once and returns; a call that is
 * refused is not part of the group. The outermost end begins all of them, each communicator's
 * collectives in the order given, without waiting in between; then it waits for the blocking ones.
 * So a group of sends alone is fine, and so are sends and receives that cross. Buffers, and the
 * tutti_recv_info of a blocking receive, must stay until the end. Groups nest; inner ends do
 * nothing.
 *
 * A request is handed out at once, and can be waited for, tested and freed from the end on,
 * whatever the end returns. Persistent requests do not take part: they are made and started as
 * ever. Calls that block by their nature are TUTTI_ERR_INVALID_USAGE in a group: tutti_barrier
 * (tutti_ibarrier is fine) and making, splitting or destroying a communicator. So is, from any
 * thread, destroying one on which a group has recorded calls.
 *
 * The end returns the error of the first call, in the order given, that failed. Its text says
 * which: "call 3 of 5 in the group: ...". The other calls take place all the same. A thread that
 * ends inside a group takes what was recorded with it. */
TUTTI_API tutti_status tutti_group_start(void);
/* Ends the group of this thread's last tutti_group_start, and begins its calls: see there. */
TUTTI_API tutti_status tutti_group_end(void);

/* ---- collectives --------------------------------------------------------------------------- */

/* Waits until every rank of the communicator has called it. */
TUTTI_API tutti_status tutti_barrier(tutti_comm_t comm);
TUTTI_API tutti_status tutti_ibarrier(tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_barrier_init(tutti_comm_t comm, tutti_request_t* request);

/* recv[i] = send of rank 0 [i] (op) ... (op) send of rank ranks-1 [i], on every rank.
 * send, recv: count elements. In place: send == recv. */
TUTTI_API tutti_status tutti_allreduce(const void* send, void* recv, size_t count, tutti_type type,
                                       tutti_op op, tutti_comm_t comm);
TUTTI_API tutti_status tutti_iallreduce(const void* send, void* recv, size_t count, tutti_type type,
                                        tutti_op op, tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_allreduce_init(const void* send, void* recv, size_t count,
                                            tutti_type type, tutti_op op, tutti_comm_t comm,
                                            tutti_request_t* request);

/* buffer (count elements) of rank `root` is copied to buffer on every rank. */
TUTTI_API tutti_status tutti_broadcast(void* buffer, size_t count, tutti_type type, int root,
                                       tutti_comm_t comm);
TUTTI_API tutti_status tutti_ibroadcast(void* buffer, size_t count, tutti_type type, int root,
                                        tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_broadcast_init(void* buffer, size_t count, tutti_type type, int root,
                                            tutti_comm_t comm, tutti_request_t* request);

/* recv = the send buffers of all ranks, one after the other in rank order.
 * send: count elements. recv: ranks * count. In place: send == recv + rank * count. */
TUTTI_API tutti_status tutti_allgather(const void* send, void* recv, size_t count, tutti_type type,
                                       tutti_comm_t comm);
TUTTI_API tutti_status tutti_iallgather(const void* send, void* recv, size_t count, tutti_type type,
                                        tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_allgather_init(const void* send, void* recv, size_t count,
                                            tutti_type type, tutti_comm_t comm,
                                            tutti_request_t* request);

/* recv = block `rank` of the reduction of the send buffers.
 * send: ranks * count elements. recv: count. In place: recv == send + rank * count. */
TUTTI_API tutti_status tutti_reduce_scatter(const void* send, void* recv, size_t count,
                                            tutti_type type, tutti_op op, tutti_comm_t comm);
TUTTI_API tutti_status tutti_ireduce_scatter(const void* send, void* recv, size_t count,
                                             tutti_type type, tutti_op op, tutti_comm_t comm,
                                             tutti_request_t* request);
TUTTI_API tutti_status tutti_reduce_scatter_init(const void* send, void* recv, size_t count,
                                                 tutti_type type, tutti_op op, tutti_comm_t comm,
                                                 tutti_request_t* request);

/* Reduces like allreduce, but only rank `root` gets the result; recv is ignored elsewhere. In place
 * at the root: send == recv. */
TUTTI_API tutti_status tutti_reduce(const void* send, void* recv, size_t count, tutti_type type,
                                    tutti_op op, int root, tutti_comm_t comm);
TUTTI_API tutti_status tutti_ireduce(const void* send, void* recv, size_t count, tutti_type type,
                                     tutti_op op, int root, tutti_comm_t comm,
                                     tutti_request_t* request);
TUTTI_API tutti_status tutti_reduce_init(const void* send, void* recv, size_t count,
                                         tutti_type type, tutti_op op, int root, tutti_comm_t comm,
                                         tutti_request_t* request);

/* Rank r contributes recv_counts[r] elements, which land at recv + recv_displs[r] (in elements;
 * NULL: one after the other). send: recv_counts[rank] elements. The arrays have `ranks` entries and
 * are equal on every rank. In place: send == recv + recv_displs[rank].
 * Blocks of recv must not overlap. */
TUTTI_API tutti_status tutti_allgatherv(const void* send, void* recv, const size_t* recv_counts,
                                        const size_t* recv_displs, tutti_type type,
                                        tutti_comm_t comm);
TUTTI_API tutti_status tutti_iallgatherv(const void* send, void* recv, const size_t* recv_counts,
                                         const size_t* recv_displs, tutti_type type,
                                         tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_allgatherv_init(const void* send, void* recv,
                                             const size_t* recv_counts, const size_t* recv_displs,
                                             tutti_type type, tutti_comm_t comm,
                                             tutti_request_t* request);

/* Does reduce_scatter with blocks of recv_counts[r] elements, one after the other in send. The
 * counts are equal on every rank. In place: recv is this rank's block of send. */
TUTTI_API tutti_status tutti_reduce_scatterv(const void* send, void* recv,
                                             const size_t* recv_counts, tutti_type type,
                                             tutti_op op, tutti_comm_t comm);
TUTTI_API tutti_status tutti_ireduce_scatterv(const void* send, void* recv,
                                              const size_t* recv_counts, tutti_type type,
                                              tutti_op op, tutti_comm_t comm,
                                              tutti_request_t* request);
TUTTI_API tutti_status tutti_reduce_scatterv_init(const void* send, void* recv,
                                                  const size_t* recv_counts, tutti_type type,
                                                  tutti_op op, tutti_comm_t comm,
                                                  tutti_request_t* request);

/* Block r of send goes to rank r, which stores it as block `rank` of its recv.
 * send, recv: ranks * count elements. In place: send == recv. */
TUTTI_API tutti_status tutti_alltoall(const void* send, void* recv, size_t count, tutti_type type,
                                      tutti_comm_t comm);
TUTTI_API tutti_status tutti_ialltoall(const void* send, void* recv, size_t count, tutti_type type,
                                       tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_alltoall_init(const void* send, void* recv, size_t count,
                                           tutti_type type, tutti_comm_t comm,
                                           tutti_request_t* request);

/* Does alltoall with send_counts[r] elements at send + send_displs[r] for rank r, and
 * recv_counts[r] at recv + recv_displs[r] from it. Displacements are in elements; NULL: one after
 * the other. Sizes that do not meet are a mismatch, which the receiver finds. In place: send ==
 * recv, with equal counts and displacements for both. Blocks of recv must not overlap. */
TUTTI_API tutti_status tutti_alltoallv(const void* send, const size_t* send_counts,
                                       const size_t* send_displs, void* recv,
                                       const size_t* recv_counts, const size_t* recv_displs,
                                       tutti_type type, tutti_comm_t comm);
TUTTI_API tutti_status tutti_ialltoallv(const void* send, const size_t* send_counts,
                                        const size_t* send_displs, void* recv,
                                        const size_t* recv_counts, const size_t* recv_displs,
                                        tutti_type type, tutti_comm_t comm,
                                        tutti_request_t* request);
TUTTI_API tutti_status tutti_alltoallv_init(const void* send, const size_t* send_counts,
                                            const size_t* send_displs, void* recv,
                                            const size_t* recv_counts, const size_t* recv_displs,
                                            tutti_type type, tutti_comm_t comm,
                                            tutti_request_t* request);

/* recv of rank `root` = the send buffers of all ranks in rank order. send: count elements. recv:
 * ranks * count, at the root; ignored elsewhere. In place at the root: send == recv + root * count.
 */
TUTTI_API tutti_status tutti_gather(const void* send, void* recv, size_t count, tutti_type type,
                                    int root, tutti_comm_t comm);
TUTTI_API tutti_status tutti_igather(const void* send, void* recv, size_t count, tutti_type type,
                                     int root, tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_gather_init(const void* send, void* recv, size_t count,
                                         tutti_type type, int root, tutti_comm_t comm,
                                         tutti_request_t* request);

/* Does gather with send_count elements from this rank; at the root, recv_counts[r] of them from
 * rank r at recv + recv_displs[r]. Sizes that do not meet are a mismatch, which the root finds.
 * Blocks of recv must not overlap. In place at the root: send == recv + recv_displs[root]. */
TUTTI_API tutti_status tutti_gatherv(const void* send, size_t send_count, void* recv,
                                     const size_t* recv_counts, const size_t* recv_displs,
                                     tutti_type type, int root, tutti_comm_t comm);
TUTTI_API tutti_status tutti_igatherv(const void* send, size_t send_count, void* recv,
                                      const size_t* recv_counts, const size_t* recv_displs,
                                      tutti_type type, int root, tutti_comm_t comm,
                                      tutti_request_t* request);
TUTTI_API tutti_status tutti_gatherv_init(const void* send, size_t send_count, void* recv,
                                          const size_t* recv_counts, const size_t* recv_displs,
                                          tutti_type type, int root, tutti_comm_t comm,
                                          tutti_request_t* request);

/* Block r of the root's send goes to rank r. send: ranks * count elements, at the root; ignored
 * elsewhere. recv: count. In place at the root: recv == send + root * count. */
TUTTI_API tutti_status tutti_scatter(const void* send, void* recv, size_t count, tutti_type type,
                                     int root, tutti_comm_t comm);
TUTTI_API tutti_status tutti_iscatter(const void* send, void* recv, size_t count, tutti_type type,
                                      int root, tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_scatter_init(const void* send, void* recv, size_t count,
                                          tutti_type type, int root, tutti_comm_t comm,
                                          tutti_request_t* request);

/* Does scatter with send_counts[r] elements at send + send_displs[r] for rank r, at the root;
 * recv_count elements here. Sizes that do not meet are a mismatch, which the receiver finds. In
 * place at the root: recv == send + send_displs[root]. */
TUTTI_API tutti_status tutti_scatterv(const void* send, const size_t* send_counts,
                                      const size_t* send_displs, void* recv, size_t recv_count,
                                      tutti_type type, int root, tutti_comm_t comm);
TUTTI_API tutti_status tutti_iscatterv(const void* send, const size_t* send_counts,
                                       const size_t* send_displs, void* recv, size_t recv_count,
                                       tutti_type type, int root, tutti_comm_t comm,
                                       tutti_request_t* request);
TUTTI_API tutti_status tutti_scatterv_init(const void* send, const size_t* send_counts,
                                           const size_t* send_displs, void* recv, size_t recv_count,
                                           tutti_type type, int root, tutti_comm_t comm,
                                           tutti_request_t* request);

/* ---- messages ------------------------------------------------------------------------------ */

/* Messages match by (source, tag) and arrive in the order sent; they are independent of collectives
 * and of one another's tags. send may return as soon as the buffer can be reused, whether or not
 * the receiver has called recv. */

/* The peer of a receive that takes messages of every rank. */
#define TUTTI_ANY_SOURCE (-1)
/* The tag of a receive that takes messages of every tag. */
#define TUTTI_ANY_TAG (-1)
/* The message that a receive has got. */
typedef struct tutti_recv_info {
  int source;   /* rank it came from */
  int tag;      /* its tag */
  size_t count; /* elements received, at most what was asked for */
} tutti_recv_info;

/* Sends count elements to rank `peer` (this rank itself included) with tag >= 0. */
TUTTI_API tutti_status tutti_send(const void* buffer, size_t count, tutti_type type, int peer,
                                  int tag, tutti_comm_t comm);
TUTTI_API tutti_status tutti_isend(const void* buffer, size_t count, tutti_type type, int peer,
                                   int tag, tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_send_init(const void* buffer, size_t count, tutti_type type, int peer,
                                       int tag, tutti_comm_t comm, tutti_request_t* request);
/* Sends like tutti_isend, but completes only once a receive of the peer has met the message,
 * however short that is. Not on a view. */
TUTTI_API tutti_status tutti_issend(const void* buffer, size_t count, tutti_type type, int peer,
                                    int tag, tutti_comm_t comm, tutti_request_t* request);
/* Receives at most count elements from rank `peer` or TUTTI_ANY_SOURCE with `tag` or TUTTI_ANY_TAG.
 * A longer message gives TUTTI_ERR_TRUNCATED; one of another type, of any length,
 * TUTTI_ERR_MISMATCH. `info` may be NULL. */
TUTTI_API tutti_status tutti_recv(void* buffer, size_t count, tutti_type type, int peer, int tag,
                                  tutti_comm_t comm, tutti_recv_info* info);
TUTTI_API tutti_status tutti_irecv(void* buffer, size_t count, tutti_type type, int peer, int tag,
                                   tutti_comm_t comm, tutti_request_t* request);
TUTTI_API tutti_status tutti_recv_init(void* buffer, size_t count, tutti_type type, int peer,
                                       int tag, tutti_comm_t comm, tutti_request_t* request);
/* Sends and receives at once, neither waiting for the other, as in a shift or an exchange of halos.
 * It sends send_count elements to rank `dest` and receives at most recv_count from `source`; the
 * buffers must not overlap. Both calls in a group do so, too, but this is shorter. Matches
 * tutti_send and tutti_recv of others. If both fail, the error is that of the send. `info`, of what
 * was received, may be NULL. */
TUTTI_API tutti_status tutti_sendrecv(const void* send, size_t send_count, int dest, int send_tag,
                                      void* recv, size_t recv_count, int source, int recv_tag,
                                      tutti_type type, tutti_comm_t comm, tutti_recv_info* info);
/* Gets the message of a completed receive request. */
TUTTI_API tutti_status tutti_request_recv_info(tutti_request_t request, tutti_recv_info* info);
/* Sets *found to 1 if a message has come that such a receive would take, else to 0; waits for
 * nothing. `info`, which may be NULL, then tells what it is, with the count that the sender gave,
 * in elements of the sender's type. The next receive from that source with that tag gets it.
 * TUTTI_ERR_PEER_FAILED: nothing has come, and all that could send it have left. */
TUTTI_API tutti_status tutti_iprobe(int peer, int tag, tutti_comm_t comm, int* found,
                                    tutti_recv_info* info);
/* Ends a started receive that no message has met. It is complete then, with TUTTI_OK and a
 * tutti_recv_info of source -1 and count 0, and *cancelled is 1. Anything else goes on, and
 * *cancelled is 0. */
TUTTI_API tutti_status tutti_request_cancel(tutti_request_t request, int* cancelled);

#ifdef __cplusplus
}
#endif

#endif /* TUTTI_TUTTI_H */
