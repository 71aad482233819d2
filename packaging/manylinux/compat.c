// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// What the headers of a new C library have programs call and an older library lacks, said with what
// that has. It is linked into each of our binaries, and none of them shows it.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// glibc 2.33: until then these were macros over functions that have the version of `struct stat` as
// an argument.
struct stat;
int __xstat(int version, const char* path, struct stat* out);
int __fxstat(int version, int file, struct stat* out);
int __lxstat(int version, const char* path, struct stat* out);
int __fxstatat(int version, int folder, const char* path, struct stat* out, int flags);

#ifdef __x86_64__
enum { kStatVersion = 1 };
#else
enum { kStatVersion = 0 };
#endif

int stat(const char* path, struct stat* out) { return __xstat(kStatVersion, path, out); }
int fstat(int file, struct stat* out) { return __fxstat(kStatVersion, file, out); }
int lstat(const char* path, struct stat* out) { return __lxstat(kStatVersion, path, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStatVersion, folder, path, out, flags);
}

// glibc 2.30.
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// glibc 2.32: libstdc++ counts references without atomic instructions while there is one thread.
// Here it never hears of that.
char __libc_single_threaded = 0;

// glibc 2.30: waits until a clock's time. Older functions know CLOCK_REALTIME alone; so does
// libstdc++ where these lack, which therefore looks at its own clock again after each wait.
static struct timespec real_time(clockid_t clock, const struct timespec* until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += 1000000000;
    --real.tv_sec;
  } else if (real.tv_nsec >= 1000000000) {
    real.tv_nsec -= 1000000000;
    ++real.tv_sec;
  }
  return real;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  const struct timespec real = real_time(clock, until);
  return pthread_cond_timedwait(condition, mutex, &real);
}
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec real = real_time(clock, until);
  return pthread_mutex_timedlock(mutex, &real);
}
