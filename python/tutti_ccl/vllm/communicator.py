# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The communicator of one of vLLM's groups of CPU workers, as vLLM makes it by its class's name."""

from vllm.config import get_current_vllm_config_or_none
from vllm.distributed.device_communicators.base_device_communicator import DeviceCommunicatorBase
from vllm.distributed.device_communicators.cpu_communicator import CpuCommunicator
from vllm.logger import init_logger

from . import SWITCH, experts
from .collectives import Collectives


class Communicator(Collectives, CpuCommunicator):
    # vLLM then gives tensor dictionaries to this class instead of sending them over Gloo.
    supports_tensor_dict = True

    def __init__(self, cpu_group, device=None, device_group=None, unique_name="",
                 use_all2all=False):
        # Not CpuCommunicator's, which sets up kernels of its own in shared memory.
        DeviceCommunicatorBase.__init__(self, cpu_group, device, device_group, unique_name,
                                        use_all2all=use_all2all)
        self.group_name = device_group.group_name
        if self.use_all2all:
            # Its calls come to all_gatherv and reduce_scatterv above.
            from vllm.distributed.device_communicators.all2all import AgRsAll2AllManager

            self.all2all_manager = AgRsAll2AllManager(self.cpu_group)
        kind = unique_name.split(":")[0]
        if kind == "dp":
            _synchronize_over_ccl()
        elif kind == "ep":
            experts.install()
        _tell(self.global_rank)


def _synchronize_over_ccl():
    """Engines agree on each step's tokens: over Gloo where that saves waiting for an accelerator,
    of which there is none."""
    config = get_current_vllm_config_or_none()
    if config is not None:
        config.parallel_config.disable_nccl_for_dp_synchronization = False


_told = False


def _tell(rank):
    """One line in a job, when the first group is made."""
    global _told
    if not _told and rank == 0:
        init_logger("vllm.tutti_ccl").info(
            "tutti_ccl: vLLM's CPU workers communicate over ccl; %s=0 turns it off", SWITCH)
    _told = True
