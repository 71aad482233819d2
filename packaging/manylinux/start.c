// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Since glibc 2.34 a program's start leaves it to the library to run the program's constructors. An
// older library runs what the start names, or none. Every library, old and new, runs once what is
// named here. (Destructors are run by the dynamic linker.)

typedef int Main(int argc, char** argv, char** environment);
typedef void Constructor(int argc, char** argv, char** environment);

extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void) __attribute__((visibility("hidden")));

#ifdef __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif
extern int start_of_library(Main* main, int argc, char** argv, Constructor* init,
                            void (*fini)(void), void (*loader_fini)(void), void* stack_end);
__asm__(".symver start_of_library, __libc_start_main@" FIRST_VERSION);

static void run_constructors(int argc, char** argv, char** environment) {
  _init();
  for (Constructor** next = __init_array_start; next != __init_array_end; ++next) {
    (*next)(argc, argv, environment);
  }
}

int __libc_start_main(Main* main, int argc, char** argv, Constructor* init, void (*fini)(void),
                      void (*loader_fini)(void), void* stack_end) {
  (void)init;
  (void)fini;
  return start_of_library(main, argc, argv, run_constructors, 0, loader_fini, stack_end);
}
