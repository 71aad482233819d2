# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""The parts of docs/pytorch.md that are found by doing: the table of calls, and the error texts.

`python python/tests/pytorch_page.py` writes them anew; test_docs.py compares.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import cells
import programs
from ranks import Ranks

PAGE = programs.ROOT / "docs" / "pytorch.md"
TABLE = re.compile(r"(<!-- table of calls -->\n)(.*?)(<!-- end -->)", re.DOTALL)
TEXT = re.compile(r"(<!-- error: (\w+) -->\n```text\n)(.*?)(```)", re.DOTALL)

START = """
import datetime, os, time, torch, torch.distributed as dist
dist.init_process_group("ccl", timeout=datetime.timedelta(seconds=2))
rank = dist.get_rank()
dist.barrier()
"""
# What a program does in each of two ranks, to be told so.
MISTAKES = {
    "died": "os._exit(1) if rank else dist.all_reduce(torch.ones(3))",
    "left": "dist.destroy_process_group() if rank else dist.all_reduce(torch.ones(3))",
    "late": "time.sleep(4) if rank else dist.all_reduce(torch.ones(3))",
    "differ": """
try:
    dist.all_reduce(torch.ones(4 if rank else 3))
except RuntimeError:
    if rank == 0:
        raise""",
    "message": "dist.recv(torch.zeros(4), 0) if rank else dist.send(torch.ones(8), 1)",
    "type": "dist.all_reduce(torch.ones(3), op=dist.ReduceOp.BAND)",
    "shape": "dist.all_gather_into_tensor(torch.zeros(5), torch.ones(3))",
}
# Programs of one process, which fail before there is a group.
BEGINNINGS = {
    "launcher": "import torch.distributed as dist; dist.init_process_group('ccl')",
    "port": """
        import os, socket, torch.distributed as dist
        taken = socket.socket()
        taken.bind(("", 0))
        taken.listen()
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1",
                          MASTER_PORT=str(taken.getsockname()[1]))
        dist.init_process_group("ccl")""",
    "absent": """
        import datetime, sys, torch.distributed as dist
        dist.init_process_group("ccl", init_method=f"file://{sys.argv[1]}", rank=0, world_size=3,
                                timeout=datetime.timedelta(seconds=1))""",
    "unknown": """
        import os
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
        import torch.distributed as dist
        store = dist.HashStore()
        dist.init_process_group("ccl", store=store, rank=0, world_size=1)""",
    "version": """
        import torch
        torch.__version__ = "2.12.0"
        import tutti_ccl.torch""",
}
LAUNCHERS = re.compile("RANK|WORLD_SIZE|LOCAL_|MASTER_|PMI|OMPI|SLURM")


def error_in(output):
    """The last error of a traceback, with what differs from run to run made the same."""
    found = re.findall(r"^(?:\[rank\d\]: )?(?:\w+\.)*(\w*Error: .*)$", output, re.MULTILINE)
    assert found, output
    text = re.sub(r"\(pid \d+ on [^)]*\)", "(pid 4242 on node0)", found[0].strip())
    # Whoever finds the difference names itself first.
    text = re.sub(r"(calls: )(rank 1 .*), (rank 0 .*)( \()", r"\1\3, \2\4", text)
    text = re.sub(r"port: \d+", "port: 29500", text)
    text = re.sub(r"\d\.\d s ago", "2.0 s ago", text)
    return re.sub(r"PyTorch 2\.1[2-9],", "PyTorch 2.13,", text)


def provoke(key):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.py"
        if key in MISTAKES:
            program.write_text(START + MISTAKES[key], encoding="utf-8")
            return error_in(programs.run(program)[1])
        program.write_text(textwrap.dedent(BEGINNINGS[key]), encoding="utf-8")
        kept = {k: v for k, v in os.environ.items() if not LAUNCHERS.search(k)}
        done = subprocess.run([sys.executable, program, f"{folder}/store"], env=kept, text=True,
                              capture_output=True, timeout=60)
        return error_in(done.stderr)


def on_page(text):
    return textwrap.fill(text, 98, break_long_words=False, break_on_hyphens=False)


def write():
    page = PAGE.read_text(encoding="utf-8")
    two = Ranks(2)
    page = TABLE.sub(lambda m: m[1] + "\n".join(cells.table(two)) + "\n" + m[3], page)
    two.close()
    page = TEXT.sub(lambda m: m[1] + on_page(provoke(m[2])) + "\n" + m[4], page)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    write()
