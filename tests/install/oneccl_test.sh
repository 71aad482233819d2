#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# oneccl_test.sh ROOT: programs that know only oneCCL, built and run with an installation: by
# setvars.sh --oneccl, find_package(oneCCL) and pkg-config; and nothing of it lies where it would
# stand in the way of Intel's.
set -euo pipefail
root=$1
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "oneccl_test: $*" >&2
  exit 1
}

oneccl=$(dirname "$(find "$root" -path '*/tutti/oneccl/lib' -type d)")
[ -e "$oneccl/libccl.so.2" ] || fail "no libccl.so.2 in $oneccl"
elsewhere=$(find "$root" -not -path "$oneccl/*" \( -name 'libccl*' -o -path '*/oneapi*' \))
[ -z "$elsewhere" ] || fail "outside $oneccl: $elsewhere"
soname=$(readelf -d "$oneccl/lib/libccl.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libccl.so.2 ] || fail "the soname is '$soname', should be libccl.so.2"
strangers=$(nm -D --defined-only "$oneccl/lib/libccl.so.2" | awk '{print $3}' |
  grep -v '^oneccl' || true)
[ -z "$strangers" ] || fail "exported besides oneccl*: $strangers"
# As Intel's: a program that asks for a version is warned of wherever the library has none.
readelf -d "$oneccl/lib/libccl.so.2" | grep -q VERDEF && fail 'the symbols of libccl.so.2 have versions'

cp "$here"/oneccl/* "$work"
clean=(env -i PATH=/usr/bin:/bin HOME="$work")
# shellcheck disable=SC2016  # for the shells under test
"${clean[@]}" bash -euc '
  . "$1/env/setvars.sh" --oneccl
  cd "$2"
  cc -std=c99 -pedantic -Wall -Werror program.c -lccl -o by_vars && ./by_vars
  c++ -std=c++14 -Wall -Werror program.cpp -lccl -o by_vars_cpp && ./by_vars_cpp
  cc program.c $(pkg-config --cflags --libs ccl) -o by_pkg_config && ./by_pkg_config
  cmake -S . -B build >/dev/null && cmake --build build >/dev/null && build/program &&
    build/program_cpp' bash "$root" "$work" || fail 'a program of oneCCL does not build or run'
