#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# Makes the folder TUTTI_PORTABLE that CMake links a wheel's binaries with: `make.sh POLICY FOLDER`.
# They then run on every system that has what POLICY (manylinux_2_28) promises. The compiler is the
# machine's own. What is there already is kept. The `python` in the PATH has auditwheel.
set -euo pipefail
policy=$1 folder=$(realpath -m "$2")
here=$(dirname "$(realpath "$0")")
stamp="$policy $(cat "$here"/*.{sh,py,c} | sha256sum) $(cc -dumpfullversion) $(getconf GNU_LIBC_VERSION)"
[ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -rf "$folder" && mkdir -p "$folder"

# What is not the system's is a part of our binaries, and seen by nobody.
inside=(-O2 -fPIC -fvisibility=hidden -ffunction-sections "-ffile-prefix-map=$folder=.")

# fmt's headers, as functions: the library of this machine is linked with a newer libstdc++.
make_fmt() {
  echo '#include <fmt/format.h>' | c++ -std=c++20 "${inside[@]}" -DFMT_HEADER_ONLY \
    -fkeep-inline-functions -x c++ -c - -o fmt.o
  ar rcs libfmt.a fmt.o
}

# The source of Debian's package, from where this machine's packages come; apt checks its signature.
fetch_hwloc() {
  local options=(-qq -o Dir::State::lists="$PWD/apt" -o APT::Sandbox::User=root
    -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null)
  mkdir -p apt/partial
  # shellcheck disable=SC2016  # these are of apt
  apt-get indextargets --format 'deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    'Origin: Debian' 'Label: Debian' | awk '!found && !/-updates/ { print; found = 1 }' >sources.list
  apt-get "${options[@]}" update
  apt-get "${options[@]}" source --download-only hwloc
}

# hwloc that looks at the kernel's files alone, as ours does: Debian's wants udev.
make_hwloc() {
  fetch_hwloc
  python3 -m tarfile -e hwloc_*.orig.tar.* hwloc
  cd hwloc/*
  ./configure --quiet CFLAGS="${inside[*]}" --disable-shared --enable-static --with-pic \
    --disable-{libudev,libxml2,pci,cairo,opencl,cuda,nvml,rsmi,levelzero,gl,plugin-dlopen,doxygen}
  make -s -j "${JOBS:-$(nproc)}" -C include
  make -s -j "${JOBS:-$(nproc)}" -C hwloc
  cp hwloc/.libs/libhwloc.a "$folder"
}

cd "$folder"
python "$here/stubs.py" "$policy" .
for name in compat start; do
  cc "${inside[@]}" -Wall -Wextra -Wconversion -c "$here/$name.c" -o "$name.o"
done
ar rcs libcompat.a compat.o start.o
make_fmt
(make_hwloc)
ln -s "$(cc -print-file-name=libsodium.a)" libsodium.a
rm -rf ./*.o apt sources.list hwloc*
echo "$stamp" >stamp
