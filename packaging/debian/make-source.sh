#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# make-source.sh FOLDER: what dpkg-buildpackage takes, of the commit that is checked out: in FOLDER
# tutti_VERSION.orig.tar.xz, and tutti-VERSION/ with these files as its debian/.
set -euo pipefail
[ $# = 1 ] || { echo 'usage: make-source.sh FOLDER' >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1"
folder=$(readlink -f "$1")
cd "$here/../.."
version=$(dpkg-parsechangelog -l "$here/changelog" -S Version)
version=${version%-*}
git archive --prefix="tutti-$version/" HEAD | xz -0 >"$folder/tutti_$version.orig.tar.xz"
rm -rf "$folder/tutti-$version"
tar -xf "$folder/tutti_$version.orig.tar.xz" -C "$folder"
cp -r "$here" "$folder/tutti-$version/debian"
rm "$folder/tutti-$version/debian/make-source.sh"
echo "cd $folder/tutti-$version && dpkg-buildpackage -b -uc"
