#!/bin/sh
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# Source this file in bash, zsh, ksh or dash to build programs with this installation of Tutti, and
# to run them with it. It is installed as env/vars.sh and env/setvars.sh. Sourcing it again changes
# nothing. With the option --oneccl, programs written for oneCCL find our headers and libccl.so, and
# CCL_ROOT names their folder. dash hands no option to a sourced file: TUTTI_ONECCL=1 does the same.
# Options that oneCCL's scripts take are accepted and mean nothing here.

# The path of this file. dash tells a sourced file nothing, but holds it open while it reads it.
if [ -n "${BASH_VERSION-}" ]; then
  eval '_tutti_self=${BASH_SOURCE[0]}'
elif [ -n "${ZSH_VERSION-}" ]; then
  eval '_tutti_self=${(%):-%x}'
elif [ -n "${KSH_VERSION-}" ]; then
  eval '_tutti_self=${.sh.file}'
else
  _tutti_self=
  read -r _tutti_pid _tutti_rest </proc/self/stat
  for _tutti_fd in "/proc/$_tutti_pid/fd/"*; do
    _tutti_link=$(readlink "$_tutti_fd") || continue
    case $_tutti_link in
      */env/vars.sh | */env/setvars.sh) _tutti_self=$_tutti_link ;;
    esac
  done
  unset _tutti_pid _tutti_rest _tutti_fd _tutti_link
fi

# _tutti_prepend NAME DIRECTORY: puts the directory first in a list, unless it is there already.
_tutti_prepend() {
  _tutti_list=
  eval "_tutti_list=\${$1-}"
  case ":$_tutti_list:" in
    *":$2:"*) ;;
    *) eval "export $1=\"\$2\${_tutti_list:+:\$_tutti_list}\"" ;;
  esac
  unset _tutti_list
}

_tutti_oneccl=${TUTTI_ONECCL-}
for _tutti_option in "$@"; do
  [ "$_tutti_option" != --oneccl ] || _tutti_oneccl=1
done

if [ -r "$_tutti_self" ] &&
  _tutti_root=$(CDPATH='' cd "$(dirname "$_tutti_self")/@root_from_env@" && pwd -P); then
  export CCL_ROOT="$_tutti_root"
  _tutti_prepend PATH "$_tutti_root/@CMAKE_INSTALL_BINDIR@"
  _tutti_prepend CPATH "$_tutti_root/@CMAKE_INSTALL_INCLUDEDIR@"
  _tutti_prepend LIBRARY_PATH "$_tutti_root/@CMAKE_INSTALL_LIBDIR@"
  _tutti_prepend LD_LIBRARY_PATH "$_tutti_root/@CMAKE_INSTALL_LIBDIR@"
  _tutti_prepend PKG_CONFIG_PATH "$_tutti_root/@CMAKE_INSTALL_LIBDIR@/pkgconfig"
  _tutti_prepend CMAKE_PREFIX_PATH "$_tutti_root"
  if [ "$_tutti_oneccl" = 1 ]; then
    export CCL_ROOT="$_tutti_root/@CMAKE_INSTALL_LIBDIR@/tutti/oneccl"
    _tutti_prepend CPATH "$CCL_ROOT/include"
    _tutti_prepend LIBRARY_PATH "$CCL_ROOT/lib"
    _tutti_prepend LD_LIBRARY_PATH "$CCL_ROOT/lib"
    _tutti_prepend PKG_CONFIG_PATH "$CCL_ROOT/lib/pkgconfig"
    _tutti_prepend CMAKE_PREFIX_PATH "$CCL_ROOT"
  fi
else
  echo 'tutti: this file is to be sourced: . PREFIX/env/setvars.sh' >&2
fi
unset -f _tutti_prepend
unset _tutti_self _tutti_root _tutti_oneccl _tutti_option
