# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The C++ side of the backend: becomes the extension for the PyTorch that runs.

PyTorch has no stable interface for backends. One that was built for another series would crash
later, in a place that tells nothing.
"""

import importlib
import os
import re
import sys

import torch


def _folder(version):
    """ "torch_2_13" of "2.13.0+cpu": the releases of a series have one C++ interface. Before a release
    it changes from day to day. What follows "+" names the accelerator, which we do not touch."""
    public = version.split("+")[0]
    series = ".".join(public.split(".")[:2]) if re.fullmatch(r"[\d.]+", public) else public
    return "torch_" + re.sub(r"\W", "_", series)


def _load():
    try:
        places = importlib.import_module("tutti_ccl_torch").__path__
    except ModuleNotFoundError:
        raise ImportError("tutti_ccl is installed without its backend for PyTorch; type: "
                          "pip install 'tutti-ccl[torch]'") from None
    there = sorted(name for place in places for name in os.listdir(place) if name[:6] == "torch_")
    wanted = _folder(torch.__version__)
    if wanted not in there:
        built_for = ", ".join(name[6:].replace("_", ".") for name in there)
        raise ImportError(
            f"tutti_ccl was built for PyTorch {built_for}, but this is PyTorch {torch.__version__}. "
            "Build it for this one, in a checkout of Tutti: pip install --force-reinstall --no-deps ."
        )
    return importlib.import_module(f"tutti_ccl_torch.{wanted}._C")


sys.modules[__name__] = _load()
