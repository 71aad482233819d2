#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# Builds the library for 64-bit ARM on Debian on another processor, and runs by qemu the unit tests
# of what depends on the processor or computes alone: `make.sh [TEST_FOLDER...]`, as root.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

[ $# -gt 0 ] || set -- kernels sched algorithms
readonly root=build/aarch64/sysroot
readonly packages=libhwloc-dev,libhwy-dev,libsodium-dev,libfmt-dev,libcli11-dev,nlohmann-json3-dev,libgtest-dev,libgmock-dev

apt-get install -y -qq --no-install-recommends g++-aarch64-linux-gnu qemu-user debootstrap >/dev/null
if [ ! -e $root/ready ]; then
  rm -rf $root && mkdir -p $root
  # Fetches and checks packages. Nothing of theirs can run here, so they are only unpacked.
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  debootstrap --foreign --arch=arm64 --variant=minbase --include=$packages "$suite" $root \
    >build/aarch64/sysroot.log
  for package in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" $root; done
  # A cross compiler does not look into the folder of its architecture's headers.
  cp -r $root/usr/include/aarch64-linux-gnu/. $root/usr/include
  touch $root/ready
fi
cmake --preset aarch64 --log-level=WARNING >/dev/null
cmake --build build/aarch64 -j "${JOBS:-$(nproc)}" --target tutti "${@/#/test_}"
for folder; do
  qemu-aarch64 -L $root "build/aarch64/tests/test_$folder"
done
