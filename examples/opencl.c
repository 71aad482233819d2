/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * An allreduce of memory of an OpenCL device: each rank fills it with its number, all get the sum.
 * What the queue holds before the call comes before it; what comes after waits for its event.
 *
 *   cc examples/opencl.c $(pkg-config --cflags --libs tutti) -lOpenCL -o opencl
 *   tutti run -n 4 ./opencl
 */
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <tutti/tutti.h>

enum { COUNT = 1000000 };

/* The first device of the first platform, or NULL. */
static cl_command_queue open_queue(void) {
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_context context = NULL;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return NULL;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return NULL;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  return context == NULL ? NULL : clCreateCommandQueue(context, device, 0, NULL);
}

/* Fills `numbers`, adds those of all ranks, and reads one sum. */
static tutti_status add(cl_command_queue commands, tutti_comm_t view, float* numbers, int rank,
                        float* sum) {
  const float mine = (float)rank;
  tutti_request_t request = NULL;
  void* event = NULL;
  clEnqueueSVMMemFill(commands, numbers, &mine, sizeof mine, COUNT * sizeof mine, 0, NULL, NULL);
  tutti_status status =
      tutti_iallreduce(numbers, numbers, COUNT, TUTTI_FLOAT32, TUTTI_SUM, view, &request);
  if (status == TUTTI_OK) status = tutti_request_event(request, &event);
  if (status == TUTTI_OK) {
    cl_event complete = (cl_event)event;
    clEnqueueSVMMemcpy(commands, CL_TRUE, sum, numbers + COUNT - 1, sizeof *sum, 1, &complete,
                       NULL);
    status = tutti_request_wait(request);
  }
  tutti_request_free(request);
  return status;
}

int main(void) {
  tutti_comm_t comm = NULL;
  tutti_comm_t view = NULL;
  void* numbers = NULL;
  float sum = 0;
  int rank = 0;
  int ranks = 0;
  tutti_queue queue = TUTTI_QUEUE_INIT;
  queue.queue = open_queue();
  if (queue.queue == NULL) {
    printf("there is no OpenCL device\n");
    return 0;
  }
  tutti_status status = tutti_comm_create_from_env(NULL, &comm);
  if (status == TUTTI_OK) status = tutti_comm_rank(comm, &rank);
  if (status == TUTTI_OK) status = tutti_comm_size(comm, &ranks);
  if (status == TUTTI_OK) status = tutti_comm_view(comm, &queue, &view);
  /* Of the device, as it is asked of a view. */
  if (status == TUTTI_OK) status = tutti_alloc(view, COUNT * sizeof(float), &numbers);
  if (status == TUTTI_OK)
    status = add((cl_command_queue)queue.queue, view, (float*)numbers, rank, &sum);
  if (status == TUTTI_OK) printf("rank %d of %d: the sum of all ranks is %g\n", rank, ranks, sum);

  if (status != TUTTI_OK) fprintf(stderr, "%s\n", tutti_last_error());
  if (numbers != NULL) tutti_free(view, numbers);
  tutti_comm_destroy(view);
  tutti_comm_destroy(comm);
  return status == TUTTI_OK ? 0 : 1;
}
