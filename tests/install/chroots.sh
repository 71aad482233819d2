#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# Tries the wheels of build/wheels on other systems: `chroots.sh [SUITE[=UBUNTU_MIRROR]...]`, as root,
# by debootstrap; the suites stay in build/chroots. Where a wheel fits the suite's Python, pip installs
# it, and two ranks sum arrays of numpy. Everywhere two ranks of the command that is in the wheel do.
# DEBOOTSTRAP_OPTIONS are handed on, such as --no-check-gpg where Ubuntu's keyring is not installed.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# make_chroot SUITE MIRROR: with Python and numpy.
make_chroot() {
  [ ! -e "build/chroots/$1/ready" ] || return 0
  rm -rf "build/chroots/$1"
  # shellcheck disable=SC2086  # several options
  debootstrap ${DEBOOTSTRAP_OPTIONS:-} --variant=minbase --components=main${2:+,universe} \
    --include=python3,python3-pip,python3-numpy "$1" "build/chroots/$1" \
    ${2:+"$2" /usr/share/debootstrap/scripts/jammy} >"build/chroots/$1.log"
  touch "build/chroots/$1/ready"
}

# Runs in the chroot.
inside() {
  set -euo pipefail
  rm -rf /tmp/site
  # shellcheck disable=SC1091  # of the chroot
  . /etc/os-release
  echo "$PRETTY_NAME, $(python3 --version), $(getconf GNU_LIBC_VERSION)"
  local tutti=/tmp/site/tutti_ccl/bin/tutti
  if pip install -q --no-index --only-binary :all: --find-links /wheels --target /tmp/site \
    tutti-ccl 2>/tmp/pip.log; then
    export PYTHONPATH=/tmp/site
    python3 -m tutti_ccl run -n 2 python3 /wheels/allreduce.py | grep 'ok: the sum of 2 ranks is 1'
    python3 -m tutti_ccl --version
  else
    echo 'no wheel for this Python: its files alone'
    set -- /wheels/tutti_ccl-*.whl
    python3 -m zipfile -e "$1" /tmp/site
    chmod +x $tutti
  fi
  $tutti info >/tmp/info
  head -n 2 /tmp/info
  $tutti run -n 2 $tutti bench allreduce -f 4 -t 64K
}

# What is mounted for it goes with the command.
try_in() {
  local root=build/chroots/$1 path
  for path in proc sys dev; do mount --rbind /$path "$root/$path"; done
  mkdir -p "$root/wheels"
  mount --bind build/wheels "$root/wheels"
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" bash -c "$(declare -f inside); inside"
}

if [ "${IN_NAMESPACE:-}" != yes ]; then
  IN_NAMESPACE=yes exec unshare -m --propagation private "$0" "$@"
fi
[ $# -gt 0 ] || set -- bullseye trixie
mkdir -p build/chroots
cp examples/python/allreduce.py build/wheels
for each; do
  suite=${each%%=*} mirror=
  [[ $each != *=* ]] || mirror=${each#*=}
  echo "== $suite"
  make_chroot "$suite" "$mirror"
  try_in "$suite"
done
