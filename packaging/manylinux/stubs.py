#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Makes libraries to link with that offer what an older system's do: `stubs.py POLICY FOLDER`.

Of each library of the C and C++ runtimes of this machine, a stub is left: the same symbols without
anything in them, as far as their versions are among those that auditwheel's POLICY (manylinux_2_28)
allows. What is linked with these asks for no newer one, so it runs where that policy promises.
"""

import importlib.resources
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

# What these machines call their dynamic linker.
LINKERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
LIBRARIES = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libstdc++.so.6",
             "libgcc_s.so.1", LINKERS[platform.machine()])
KINDS = {"STT_OBJECT": "object", "STT_TLS": "tls_object"}  # anything else is a function
SECTIONS = {"object": ".data", "tls_object": '.section .tbss,"awT",@nobits', "function": ".text"}


def allowed_versions(policy):
    """Of each prefix, such as GLIBC, the versions that auditwheel accepts."""
    file = importlib.resources.files("auditwheel.policy") / "manylinux-policy.json"
    policies = {each["name"]: each for each in json.loads(file.read_text(encoding="utf-8"))}
    if policy not in policies:
        sys.exit(f"stubs.py: auditwheel has no policy {policy!r}; it has {', '.join(policies)}")
    return policies[policy]["symbol_versions"][platform.machine()]


def in_order(version):
    return [int(part) for part in re.findall(r"\d+", version)]


class Symbol:
    def __init__(self, entry, version):
        self.name, self.version, self.place = entry.name, version, (entry["st_shndx"], entry["st_value"])
        self.kind, self.bind = KINDS.get(entry["st_info"]["type"], "function"), entry["st_info"]["bind"]
        self.size = entry["st_size"]


def symbols_of(elf, allowed):
    """The defined symbols with an allowed version."""
    names = {each["vd_ndx"]: next(iter(auxiliaries)).name
             for each, auxiliaries in elf.get_section_by_name(".gnu.version_d").iter_versions()}
    versions = elf.get_section_by_name(".gnu.version")
    for index, entry in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
        number = versions.get_symbol(index)["ndx"]
        if not isinstance(number, int) or entry["st_shndx"] in ("SHN_UNDEF", "SHN_ABS"):
            continue
        version = names[number & 0x7FFF]
        prefix, _, rest = version.partition("_")
        if rest in allowed.get(prefix, ()):
            yield Symbol(entry, version)


def assembly(symbols):
    """A name's newest version is the one that a program gets which asks for none. Names that mean one
    place go on doing so: where a program has a copy of that variable, all of them mean the copy."""
    newest, places = {}, {}
    for symbol in sorted(symbols, key=lambda symbol: in_order(symbol.version)):
        newest[symbol.name] = symbol.version
        places.setdefault((symbol.kind, symbol.place), []).append(symbol)
    number = 0
    for (kind, _), here in places.items():
        size = max(symbol.size for symbol in here)
        yield SECTIONS[kind]
        yield ".balign 16"
        for symbol in here:
            number += 1
            at = "@@" if newest[symbol.name] == symbol.version else "@"
            yield f".{'weak' if symbol.bind == 'STB_WEAK' else 'globl'} s{number}"
            yield f".type s{number}, %{kind}\ns{number}:\n.size s{number}, {symbol.size}"
            yield f".symver s{number}, {symbol.name}{at}{symbol.version}, remove"
        yield f".zero {max(size, 1)}"
    yield '.section .note.GNU-stack, "", %progbits'


def make_stub(library, allowed, folder):
    found = subprocess.run(["cc", f"-print-file-name={library}"], capture_output=True, text=True, check=True)
    with open(found.stdout.strip(), "rb") as file:
        symbols = list(symbols_of(ELFFile(file), allowed))
    source, versions = folder / f"{library}.s", folder / f"{library}.map"
    source.write_text("\n".join(assembly(symbols)) + "\n", encoding="utf-8")
    versions.write_text("".join(f"{name} {{}};\n" for name in sorted({each.version for each in symbols})),
                        encoding="utf-8")
    subprocess.run(["cc", "-shared", "-nostdlib", f"-Wl,-soname,{library},--version-script,{versions}",
                    source, "-o", folder / library], check=True)
    source.unlink()
    versions.unlink()


def main():
    policy, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    allowed = allowed_versions(policy)
    for library in LIBRARIES:
        make_stub(library, allowed, folder)
    # By the names that a compiler asks for. What the older libraries lack follows them, as in the
    # compilers of Red Hat's for its older systems. Functions that are in libc.so.6 today were in
    # libraries of their own.
    (folder / "libm.so").write_text("INPUT(libm.so.6)\n")
    (folder / "libstdc++.so").write_text("INPUT(libstdc++.so.6 -l:libstdc++.a)\n")
    (folder / "libc.so").write_text(
        "INPUT(libcompat.a libc.so.6 libpthread.so.0 libdl.so.2 librt.so.1 -l:libc_nonshared.a "
        f"AS_NEEDED({LINKERS[platform.machine()]}))\n")


if __name__ == "__main__":
    main()
