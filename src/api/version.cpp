// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The version of the library that is loaded.
#include <tutti/tutti.h>

#define TUTTI_TEXT_OF(x) #x
#define TUTTI_TEXT(x) TUTTI_TEXT_OF(x)

int tutti_version(void) { return TUTTI_VERSION; }

const char* tutti_version_string(void) {
  return TUTTI_TEXT(TUTTI_VERSION_MAJOR) "." TUTTI_TEXT(TUTTI_VERSION_MINOR) "." TUTTI_TEXT(
      TUTTI_VERSION_PATCH);
}
