#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# reproduce.sh [OPTION OF wheel.sh ...]: makes once more what wheel.sh with these options has left in
# build/wheels, and compares every byte. The second build is of what git tracks, in another folder
# with a longer name, with other dates, another umask, time zone and language, and no cache.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$(realpath "$0")")/.."

readonly again=$PWD/build/reproduced/in-another-folder
rm -rf "$again" && mkdir -p "$again/build" build/wheel-environments
state=$(git stash create)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
ln -s "$PWD/build/wheel-environments" "$again/build"
(
  export SOURCE_DATE_EPOCH TZ=XXX-9:30 LC_ALL=C CCACHE_DISABLE=1
  umask 077
  git archive "${state:-HEAD}" | tar --no-same-permissions -xC "$again"
  find "$again" -type f -exec touch -d 2001-02-03 {} +
  "$again/packaging/wheel.sh" "$@"
)

differing=0
for file in build/release/{libtutti.so,bin/tutti,static/libtutti.a} build/wheels/*.{whl,tar.gz,json}; do
  if cmp "$file" "$again/$file"; then
    echo "the same: $(sha256sum "$file")"
  else
    differing=1
  fi
done
exit $differing
