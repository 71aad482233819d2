#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# install_test.sh BUILD: installs the build to a folder of its own, and uses it from there as a
# stranger would: with find_package, with pkg-config, and by looking at what it exports,
# and through the scripts that users source.
set -euo pipefail
build=$1
here=$(dirname "$(readlink -f "$0")")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

fail() {
  echo "install_test: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$prefix/root" >/dev/null
library=$(find "$prefix/root" -name libtutti.so)
[ -n "$library" ] || fail 'no libtutti.so was installed'

soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libtutti.so.1 ] || fail "the soname is '$soname', should be libtutti.so.1"

# The name of the version itself is the one symbol that is no function of ours.
strangers=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^(tutti_|TUTTI_1\.0$)' || true)
[ -z "$strangers" ] || fail "exported besides tutti_*: $strangers"
nm -D --defined-only "$library" | grep ' tutti_allreduce' >/dev/null || fail 'tutti_allreduce is not exported'

cmake -S "$here/consumer" -B "$prefix/consumer" -DCMAKE_PREFIX_PATH="$prefix/root" >/dev/null
cmake --build "$prefix/consumer" >/dev/null
"$prefix/consumer/consumer"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix/root" -name tutti.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs tutti)"
cc "$here/consumer/consumer.c" -o "$prefix/by_pkg_config" "${flags[@]}" \
  -Wl,-rpath,"$(dirname "$library")"
"$prefix/by_pkg_config"

# Moved, to a folder whose name has a space, for which pkg-config writes a backslash.
moved="$prefix/another place"
cp -r "$prefix/root" "$moved"
cmake -S "$here/consumer" -B "$prefix/moved" -DCMAKE_PREFIX_PATH="$moved" >/dev/null
cmake --build "$prefix/moved" >/dev/null
"$prefix/moved/consumer"
moved_library=$(find "$moved" -name libtutti.so)
moved_words=$(PKG_CONFIG_PATH=$(dirname "$moved_library")/pkgconfig pkg-config --cflags --libs tutti)
moved_flags=()
eval "moved_flags+=($moved_words)"
cc -std=c99 "$here/consumer/consumer.c" -o "$prefix/by_moved" "${moved_flags[@]}" \
  -Wl,-rpath,"$(dirname "$moved_library")"
ldd "$prefix/by_moved" | grep -F "$moved/" >/dev/null || fail 'a moved installation is not the one that is used'
"$prefix/by_moved"
"$moved/bin/tutti" run -n 1 "$prefix/by_moved"

archive=$(dirname "$library")/libtutti.a
if [ -e "$archive" ]; then
  strangers=$(nm --defined-only --extern-only "$archive" 2>/dev/null | awk 'NF == 3 && $2 != "W" &&
    $2 != "V" && $2 != "u" {print $3}' | grep -v '^tutti_' || true)
  [ -z "$strangers" ] || fail "libtutti.a defines besides tutti_*: $strangers"
  mkdir "$prefix/sources"
  cp -r "$here/static" "$here/consumer" "$prefix/sources"
  cmake -S "$prefix/sources/static" -B "$prefix/static" -DCMAKE_PREFIX_PATH="$prefix/root" >/dev/null
  cmake --build "$prefix/static" >/dev/null
  readelf -d "$prefix/static/consumer" | grep libtutti >/dev/null && fail 'libtutti.so is needed all the same'
  "$prefix/static/consumer"
  # In C++, whose own names are those of the library inside.
  read -ra others <<<"$(pkg-config --cflags --libs --static tutti | sed 's/-ltutti//')"
  c++ -std=c++20 "$here/../../examples/cpp/allreduce.cpp" "$archive" -o "$prefix/static_cpp" \
    "${others[@]}"
  "$prefix/root/bin/tutti" run -n 2 "$prefix/static_cpp" >"$prefix/said"
  grep -q 'of 2: the sum of all ranks is 1' "$prefix/said" ||
    fail 'a C++ program with libtutti.a gives a wrong sum'
fi

for page in tutti tutti-run tutti-bench tutti-perf tutti-benchmark tutti-verify; do
  [ -s "$prefix/root/share/man/man1/$page.1" ] || fail "there is no page of $page"
done
for file in LICENSE docs/variables.md examples/allreduce.c; do
  [ -s "$prefix/root/share/doc/tutti/$file" ] || fail "there is no $file"
done
for file in monitoring/{alerts.yml,grafana.json,tutti-watch.service} bpftrace/{call_latency,late_rank}.bt; do
  [ -s "$prefix/root/share/tutti/$file" ] || fail "there is no $file"
done
grep -qF -- '\-n,\-\-ranks' "$prefix/root/share/man/man1/tutti-run.1" || fail 'a page lacks options'

for example in "$here"/../../examples/cpp/*.cpp; do
  c++ -std=c++20 -Wall -Wextra -Werror "$example" -o "$prefix/example" "${flags[@]}" \
    -Wl,-rpath,"$(dirname "$library")"
  "$prefix/root/bin/tutti" run -n 2 "$prefix/example" >"$prefix/said" || fail "$example fails"
  grep -q 'rank 1' "$prefix/said" || fail "$example says: $(cat "$prefix/said")"
done

"$prefix/root/bin/tutti" --version | grep '^tutti [0-9]' >/dev/null || fail 'the tutti command does not run'

"$here/env_test.sh" "$prefix/root"
"$here/oneccl_test.sh" "$prefix/root"
