#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# sdist_test.sh: packs what git tracks, as it is now, in two folders without .git, at two times.
# Both give the same source distribution, which has every file, and which plain CMake configures.
# 77 where there is no git or no scikit-build-core.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$(readlink -f "$0")")/../.."
python=$PWD/.venv/bin/python  # where ./dev installs
[ -x "$python" ] || python=python3
"$python" -c 'import scikit_build_core' 2>/dev/null || exit 77
[ -e .git ] || exit 77  # an unpacked archive
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "sdist_test: $*" >&2
  exit 1
}

state=$(git stash create)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
one() {  # FOLDER TIME: of all files
  mkdir -p "$1/source"
  git archive "${state:-HEAD}" | tar -x -C "$1/source"
  find "$1/source" -exec touch -d "$2" {} +
  (cd "$1/source" && "$python" -c \
    'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$1" >/dev/null)
}
one "$work/a" 2020-01-01
one "$work/another-folder" 2024-02-02
packed=$(echo "$work"/a/*.tar.gz)
cmp "$packed" "$work/another-folder/$(basename "$packed")" || fail 'two times give other bytes'

mkdir "$work/unpacked"
tar -xf "$packed" -C "$work/unpacked" --strip-components=1
lacking=$(diff -rq -x .ci -x PKG-INFO "$work/a/source" "$work/unpacked" || true)
[ -z "$lacking" ] || fail "the source distribution is not what git has: $lacking"
cmake -S "$work/unpacked" -B "$work/build" >"$work/log" 2>&1 ||
  fail "CMake does not configure it: $(cat "$work/log")"
