// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// How XLA calls functions of others, as far as xla.cpp uses it: the layout of what its FFI hands
// over, major version 0. Written down here so that neither building nor running needs jaxlib; a
// test compares it with the header of an installed one. Each struct may have more members than are
// named here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti_core::xla {

inline constexpr int kMajorVersion = 0;

struct Extension {
  size_t struct_size;
  int type;
  Extension* next;
};
inline constexpr int kMetadataExtension = 1;

struct Version {
  size_t struct_size;
  Extension* extensions;
  int major;
  int minor;
};

// A handler's words about itself when it is registered.
struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

// Codes of XLA's element types and of its errors.
enum Type : int {
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kC64 = 15,
  kBf16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8E5M2 = 19,
  kF8E4M3Fn = 20
};
enum ErrorCode : int {
  kCancelled = 1,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15
};

struct Error;  // XLA's own
struct ErrorToBe {
  size_t struct_size;
  Extension* extensions;
  const char* message;
  int code;
};

struct Api {
  size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorToBe*);
};

struct Buffer {
  size_t struct_size;
  Extension* extensions;
  int type;
  void* data;
  int64_t rank;
  int64_t* dims;
};
// Arguments or results.
struct Buffers {
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  int* kinds;
  void** buffers;
};

struct Text {
  const char* data;
  size_t size;
};
struct Scalar {
  int type;
  void* value;
};
inline constexpr int kScalarAttribute = 3;
struct Attributes {
  size_t struct_size;
  Extension* extensions;
  int64_t size;
  int* kinds;
  Text** names;
  void** values;
};

struct CallFrame {
  size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

}  // namespace tutti_core::xla
