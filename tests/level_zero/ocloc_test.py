#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Compiles the device kernels for Intel's GPUs with their offline compiler, and looks at what it says
of each: `ocloc_test.py FOLDER_OF_MODULES`. No kernel may need scratch memory, and each must have the
width that its device is best at. A kernel that spills is compiled first: the check must find it.
"""

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
# How many work-items a thread may have, and whether the device has 64-bit floats.
DEVICES = {
    "pvc": {"width": {32, 16}, "fp64": True},
    "acm-g10": {"width": {32, 16, 8}, "fp64": False},
    "ats-m150": {"width": {32, 16, 8}, "fp64": False},
    "tgllp": {"width": {32, 16, 8}, "fp64": False},
    "skl": {"width": {32, 16, 8}, "fp64": True},
}
# The variants that are launched; and in them, what is never: averages of 8 bits take the scalar one.
LAUNCHED = ("_Scalar.spv", "_Vector.spv")
NEVER_LAUNCHED = {(f"{kind}_Vector", "avg") for kind in ("int8", "uint8", "float8_e4m3", "float8_e5m2")}
OPTIONS = "-cl-intel-allow-zebin -ze-opt-greater-than-4GB-buffer-required"
HERE = Path(__file__).parent


def compile_for(device, source, folder, arguments):
    """The compiler's output for the device: an ELF file."""
    command = ["ocloc", "compile", "-file", str(source), "-device", device, "-output_no_suffix",
               "-output", "out", "-out_dir", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    out = folder / "out"
    if done.returncode != 0 or not out.exists():
        raise RuntimeError(f"{device}: {source.name} does not compile: {done.stdout}{done.stderr}")
    content = out.read_bytes()
    out.unlink()
    return content


def section(elf, wanted):
    """The text of a section of an ELF file of 64 bits."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    for header in headers:
        begin = headers[names][4] + header[0]
        if elf[begin:elf.index(b"\0", begin)].decode() == wanted:
            return elf[header[4]:header[4] + header[5]].decode()
    raise RuntimeError(f"no section {wanted}")


def kernels_of(elf):
    """Of each kernel its name, its width, and whether it has scratch memory."""
    kernels = section(elf, ".ze_info").split("\nkernels_misc_info:")[0]
    for kernel in kernels.split("\n  - name:")[1:]:
        name = kernel.split("\n")[0].strip()
        width = int(re.search(r"simd_size:\s*(\d+)", kernel).group(1))
        yield name, width, re.search(r"\btype:\s*scratch\b", kernel) is not None


def complaints(device, module, folder):
    arguments = ["-spirv_input", "-options", OPTIONS]
    for name, width, scratch in kernels_of(compile_for(device, module, folder, arguments)):
        if scratch and (module.stem, name) not in NEVER_LAUNCHED:
            yield f"{device}: {module.stem}: {name} needs scratch memory"
        if width not in DEVICES[device]["width"]:
            yield f"{device}: {module.stem}: {name} is {width} wide"


def control(device, folder):
    """Whether a kernel that spills is found out."""
    arguments = ["-options", "-cl-std=CL2.0", "-internal_options", "-cl-intel-allow-zebin"]
    elf = compile_for(device, HERE / "spilling.cl", folder, arguments)
    return all(scratch for _, _, scratch in kernels_of(elf))


def main():
    modules = sorted(p for p in Path(sys.argv[1]).glob("*.spv") if p.name.endswith(LAUNCHED))
    if not shutil.which("ocloc"):
        print("skipped: ocloc is not installed (Debian: intel-opencl-icd)")
        return SKIPPED
    if not modules:
        print(f"no modules in {sys.argv[1]}")
        return 1
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for device, traits in DEVICES.items():
            if not control(device, folder):
                found.append(f"{device}: the kernel that spills was not found out")
            for module in modules:
                if traits["fp64"] or not module.stem.startswith("float64"):
                    found += complaints(device, module, folder)
    print("\n".join(found) or f"{len(modules)} modules for {len(DEVICES)} devices: nothing spills")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
