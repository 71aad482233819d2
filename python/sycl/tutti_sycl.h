/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * libtutti_sycl.so, which the PyTorch backend opens where it is there: what a SYCL queue is to its
 * driver. PyTorch's streams on XPU are such queues, and only SYCL's headers say how they look.
 */
#ifndef TUTTI_SYCL_H
#define TUTTI_SYCL_H

#include <tutti/tutti.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in all of `native` but its size, with handles that live as long as the queue, a
 * sycl::queue*. 0; or 1, and why it cannot be done as a text of less than `bytes` in `error`. */
int tutti_sycl_queue(void* queue, tutti_queue* native, char* error, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
