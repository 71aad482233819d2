# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""vLLM on CPUs over ``ccl``: vLLM calls ``register`` in each of its processes (entry point
"vllm.general_plugins"); docs/inference.md says what changes. TUTTI_VLLM=0 leaves vLLM as it is.

Nobody but vLLM imports this module. Whatever is missing, vLLM goes on as without it.
"""

import os

SWITCH = "TUTTI_VLLM"
COMMUNICATOR = "tutti_ccl.vllm.communicator.Communicator"
# The backend of vLLM's platform for CPUs if nobody has changed it.
GLOO = "gloo"


def register():
    if os.environ.get(SWITCH, "").lower() in ("0", "off", "no", "false"):
        return
    from vllm.logger import init_logger
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    try:
        _take(type(current_platform))
    except Exception as error:  # whatever it is, the models can be served over Gloo
        init_logger("vllm.tutti_ccl").warning(
            "vLLM goes on without tutti_ccl, over Gloo and its own kernels: %s (%s=0 ends this "
            "line)", error, SWITCH)


def _take(platform):
    backend = getattr(platform, "dist_backend", None)
    name = getattr(platform, "get_device_communicator_cls", None)
    if backend is None or name is None:
        import vllm

        raise RuntimeError(
            f"{platform.__name__} of vLLM {vllm.__version__} lacks dist_backend or "
            "get_device_communicator_cls, which vLLM 0.32 has")
    if name() == COMMUNICATOR:
        return
    if backend != GLOO:
        raise RuntimeError(f"the backend of {platform.__name__} is {backend} already, expected "
                           f"{GLOO}: another plug-in has set it")
    # In time to say so if the extension cannot be loaded, or vLLM's classes are others.
    from . import communicator  # noqa: F401

    platform.dist_backend = "ccl"
    platform.get_device_communicator_cls = classmethod(lambda cls: COMMUNICATOR)
