# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The build backend of the package: scikit-build-core, after a look at what the build needs.

PyTorch is not among the requirements: in an isolated environment pip would install another one of
several gigabytes. The one that is installed is found from there; see tutti_torch.py.
"""

import tutti_needs


def _core():
    from scikit_build_core import build

    return build


def get_requires_for_build_wheel(config_settings=None):
    tutti_needs.check(isolated=True)
    return _core().get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    tutti_needs.check(isolated=True)
    return _core().get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings=None):
    return _core().get_requires_for_build_sdist(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    tutti_needs.check()
    return _core().prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    tutti_needs.check()
    return _core().prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tutti_needs.check()
    return _core().build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    tutti_needs.check()
    return _core().build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    return _core().build_sdist(sdist_directory, config_settings)
