/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0 */
#ifndef TUTTI_VERSION_H
#define TUTTI_VERSION_H

/* The one place where the version stands: CMake, the library and the Python package read it here.
 */
#define TUTTI_VERSION_MAJOR 1
/* Raised by what is added. */
#define TUTTI_VERSION_MINOR 0
/* Raised by what is mended. */
#define TUTTI_VERSION_PATCH 0
#define TUTTI_VERSION \
  (TUTTI_VERSION_MAJOR * 10000 + TUTTI_VERSION_MINOR * 100 + TUTTI_VERSION_PATCH)

#endif /* TUTTI_VERSION_H */
