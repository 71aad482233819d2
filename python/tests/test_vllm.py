# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""vLLM's plug-in takes CPUs alone, and never keeps vLLM from going on. vLLM is imitated, as far as
the plug-in looks at it; where it is installed, the last test makes its own classes."""

import importlib.metadata
import importlib.util
import textwrap

import pytest
import torch
from test_frameworks import run, write

VLLM = {
    "__init__.py": "__version__ = '0.0.1'",
    "logger.py": """
        class Logger:
            def warning(self, text, *values):
                print("warning:", text % values)
            info = warning
        def init_logger(name):
            assert name.startswith("vllm."), "has no handler"
            return Logger()
    """,
    "config.py": "def get_current_vllm_config_or_none(): pass",
    "distributed/__init__.py": "",
    "distributed/device_communicators/__init__.py": "",
    "distributed/device_communicators/base_device_communicator.py": """
        class DeviceCommunicatorBase: pass
    """,
    "distributed/device_communicators/cpu_communicator.py": """
        from .base_device_communicator import DeviceCommunicatorBase
        class CpuCommunicator(DeviceCommunicatorBase): pass
    """,
}
CPU = """
    class CpuPlatform:
        dist_backend = "gloo"
        def is_cpu(self): return True
        @classmethod
        def get_device_communicator_cls(cls): return "theirs"
    current_platform = CpuPlatform()
"""
REGISTER = """
    from tutti_ccl.vllm import register
    register()
    register()  # vLLM may call it again
    from vllm.platforms import current_platform as platform
    print(platform.dist_backend, platform.get_device_communicator_cls())
"""
OURS = "ccl tutti_ccl.vllm.communicator.Communicator"
THEIRS = "gloo theirs"


def registered(folder, platform=CPU, files=VLLM, **variables):
    write(folder / "vllm", files | {"platforms.py": platform})
    status, text = run(folder, REGISTER, **variables)
    assert status == 0, text
    return text.strip()


def test_the_platform_for_cpus_is_given_the_backend_and_the_class(tmp_path):
    assert registered(tmp_path) == OURS


@pytest.mark.parametrize("value", ["0", "off", "No"])
def test_the_plug_in_can_be_switched_off(tmp_path, value):
    assert registered(tmp_path, TUTTI_VLLM=value) == THEIRS


def test_other_platforms_are_left_alone(tmp_path):
    assert registered(tmp_path, CPU.replace("return True", "return False")) == THEIRS


def test_a_vllm_without_the_plug_points_goes_on_with_a_line(tmp_path):
    write(tmp_path / "vllm", VLLM | {"platforms.py": CPU.replace('dist_backend = "gloo"', "pass")})
    status, text = run(tmp_path, "from tutti_ccl.vllm import register\nregister()")
    assert status == 0 and text.startswith(
        "warning: vLLM goes on without tutti_ccl, over Gloo and its own kernels: CpuPlatform of "
        "vLLM 0.0.1 lacks dist_backend or get_device_communicator_cls"), text


def test_a_vllm_with_other_classes_goes_on_with_a_line(tmp_path):
    base = "distributed/device_communicators/base_device_communicator.py"
    text = registered(tmp_path, files=VLLM | {base: "class Other: pass"})
    assert "goes on without tutti_ccl" in text and "DeviceCommunicatorBase" in text, text
    assert text.endswith(THEIRS), text


def test_a_backend_that_another_plug_in_chose_stays(tmp_path):
    text = registered(tmp_path, CPU.replace('"gloo"', '"other"'))
    assert "the backend of CpuPlatform is other already, expected gloo" in text, text
    assert text.endswith("other theirs"), text


def test_vllm_finds_the_plug_in_and_nobody_else_imports_it():
    points = importlib.metadata.entry_points(group="vllm.general_plugins", name="tutti_ccl")
    assert [point.value for point in points] == ["tutti_ccl.vllm:register"]


def test_nothing_of_vllm_is_imported_with_the_backend(tmp_path):
    write(tmp_path / "vllm", {"__init__.py": "raise AssertionError('imported')"})
    status, text = run(tmp_path, """
        import tutti_ccl.torch
        assert not [name for name in sys.modules if "vllm" in name]
    """)
    assert status == 0, text


class Kernel:
    """Looks up weights by number, as vLLM's kernel does, and knows nothing of other ranks."""

    def apply(self, output, hidden_states, w1, topk_weights, topk_ids, expert_map,
              apply_router_weight_on_input):
        assert topk_ids.dtype == torch.int32 and topk_weights.dtype == torch.float32
        chosen = w1[topk_ids.long()] * hidden_states[:, None]
        if not apply_router_weight_on_input:
            chosen = chosen * topk_weights[..., None]
        output.copy_(chosen.sum(1))


@pytest.mark.parametrize("chosen, weights_are_applied", [(2, False), (1, False), (1, True)])
def test_ranks_with_whole_experts_sum_to_what_one_rank_with_all_gives(chosen, weights_are_applied):
    from tutti_ccl.vllm.experts import by_own_numbers

    numbers = torch.arange(6, dtype=torch.int32)
    weights, inputs = torch.rand(6, 5), torch.rand(7, 5)
    routed = {"hidden_states": inputs, "apply_router_weight_on_input": weights_are_applied,
              "topk_weights": torch.rand(7, chosen),
              "topk_ids": (torch.arange(7 * chosen, dtype=torch.int32) % 6).view(7, chosen)}
    apply = by_own_numbers(Kernel.apply)

    def outputs(**experts):
        output = torch.full_like(inputs, torch.nan)
        apply(Kernel(), output=output, **experts, **routed)
        return output

    parts = []
    for mine in ([0, 3, 4, 5], [1, 2]):
        expert_map = torch.full_like(numbers, -1)
        expert_map[mine] = numbers[:len(mine)]
        parts.append(outputs(w1=weights[mine], expert_map=expert_map))
    torch.testing.assert_close(sum(parts), outputs(w1=weights, expert_map=None))


def is_installed(name):
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None  # not merely a folder of that name


@pytest.mark.skipif(not is_installed("vllm"), reason="vllm is not installed")
def test_the_installed_vllm_has_what_the_plug_in_needs(tmp_path):
    status, text = run(tmp_path, """
        import vllm.platforms
        from vllm.platforms.cpu import CpuPlatform
        vllm.platforms._current_platform = CpuPlatform()
""" + textwrap.indent(textwrap.dedent(REGISTER), 8 * " "))
    assert status == 0 and text.strip().endswith(OURS), text
