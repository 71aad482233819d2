#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# env_test.sh ROOT: what the scripts and the modulefile of an installation do, in every shell that is
# here.
set -euo pipefail
root=$1

fail() {
  echo "env_test: $*" >&2
  exit 1
}

# What they should leave behind. Nothing was set before but PATH and one list with a stranger in it.
library=$(dirname "$(find "$root" -name libtutti.so)")
expected="CCL_ROOT=$root
PATH=$root/bin:/usr/bin:/bin
CPATH=$root/include
LIBRARY_PATH=$library
LD_LIBRARY_PATH=$library:/a stranger
PKG_CONFIG_PATH=$library/pkgconfig
CMAKE_PREFIX_PATH=$root"
clean=(env -i PATH=/usr/bin:/bin LD_LIBRARY_PATH='/a stranger')
# shellcheck disable=SC2016  # for the shells under test
show='for name in CCL_ROOT PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
do eval "echo \"$name=\$$name\""; done'

for shell in bash dash zsh ksh 'bash --posix'; do
  command -v "${shell%% *}" >/dev/null || continue
  read -ra words <<<"$shell"
  for name in vars.sh setvars.sh; do
    for way in ". '$root/env/$name'" "cd '$root/env' && . ./$name" \
      "set -eu; . '$root/env/$name'; . '$root/env/$name' --ccl-bundled-mpi=no"; do
      got=$("${clean[@]}" "${words[@]}" -c "$way; set +u; $show") || fail "$shell: $way: status $?"
      [ "$got" = "$expected" ] || fail "$shell: $way: gave"$'\n'"$got"$'\n'"expected"$'\n'"$expected"
    done
    got=$("${clean[@]}" "${words[@]}" -c "(. '$root/env/$name'; $show)")
    [ "$got" = "$expected" ] || fail "$shell: in a subshell, $name gave"$'\n'"$got"
  done
  left=$("${clean[@]}" "${words[@]}" -c ". '$root/env/vars.sh'; set" | grep _tutti || true)
  [ -z "$left" ] || fail "$shell: left behind: $left"
done

version=$("${clean[@]}" bash -c ". '$root/env/setvars.sh'; tutti --version")
[[ $version == tutti\ [0-9]* ]] || fail "the tutti command was not found: $version"

if command -v tclsh >/dev/null; then
  got=$(tclsh /dev/stdin "$root/modulefiles/tutti" <<'TCL'
proc module-whatis args {}
proc conflict args {}
proc setenv {name value} { puts "$name=$value" }
proc prepend-path {name value} { puts "$name+$value" }
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
TCL
  )
  expected="CCL_ROOT=$root
PATH+$root/bin
CPATH+$root/include
LIBRARY_PATH+$library
LD_LIBRARY_PATH+$library
PKG_CONFIG_PATH+$library/pkgconfig
CMAKE_PREFIX_PATH+$root"
  [ "$got" = "$expected" ] || fail "the modulefile gave"$'\n'"$got"
fi
