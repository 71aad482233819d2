#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Makes of wheels that have everything one of the core and one of PyTorch's part: `split.py OUT RAW...`

The RAW ones are of one state of the sources and one Python, each built against another PyTorch, or
one without. The core is the same in all of them. What is built with Python's stable interface says so in its name. The
other one has an extension for each PyTorch (python/tutti_ccl/_C.py finds the one that fits).
"""

import base64
import configparser
import copy
import email
import email.policy
import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

CORE, TORCH = "tutti_ccl", "tutti_ccl_torch"
UNFOLDED = email.policy.compat32.clone(max_line_length=0)
STABLE = "cp312-abi3"  # what nanobind's STABLE_ABI makes


class Raw:
    """A wheel as it was built: its files by name, without those that describe it."""

    def __init__(self, path):
        self.name, self.version, *tags = Path(path).stem.split("-")
        self.python, self.abi, self.platform = tags[-3:]
        about = f"{self.name}-{self.version}.dist-info/"
        with zipfile.ZipFile(path) as archive:
            files = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
        self.date = files[about + "WHEEL"][0].date_time
        self.metadata = email.message_from_bytes(files[about + "METADATA"][1], policy=UNFOLDED)
        self.entry_points = configparser.ConfigParser(delimiters="=")
        self.entry_points.read_string(files[about + "entry_points.txt"][1].decode())
        self.licences = {name.removeprefix(about): file for name, file in files.items()
                         if name.startswith(about + "licenses/")}
        self.files = {name: file for name, file in files.items() if not name.startswith(about)}

    def is_core(self, name):
        return name.split("/")[0] == CORE

    def torch(self):
        """The requirement of PyTorch, such as torch==2.13.*; nothing where its part was left out."""
        requires = self.metadata.get_all("Requires-Dist", [])
        return next((each for each in requires if each.startswith("torch")), "")


def requirement(raws):
    """What fits one of the wheels."""
    raws = [raw for raw in raws if raw.torch()]
    if len(raws) == 1:
        return raws[0].torch()
    series = [re.fullmatch(r"torch==(\d+)\.(\d+)\.\*", raw.torch()) for raw in raws]
    if None in series:
        sys.exit("split.py: a PyTorch before its release goes into a wheel of its own: "
                 + ", ".join(raw.torch() for raw in raws))
    first, *_, last = sorted(tuple(map(int, each.groups())) for each in series)
    return "torch>=%d.%d,<%d.%d" % (*first, last[0], last[1] + 1)


def metadata(raw, name, requires, **changes):
    """As that of `raw`, with other requirements."""
    message = copy.deepcopy(raw.metadata)
    del message["Requires-Dist"], message["Provides-Extra"]
    message.replace_header("Name", name.replace("_", "-"))
    for key, value in changes.items():
        message.replace_header(key, value)
    for key, value in requires:
        message[key] = value
    return message.as_bytes()


def entry_points(raw, chosen):
    parser = configparser.ConfigParser(delimiters="=")
    parser.read_dict({section: raw.entry_points[section] for section in raw.entry_points.sections()
                      if chosen(section)})
    text = io.StringIO()
    parser.write(text)
    return text.getvalue().encode()


def write(folder, raw, name, tag, files, about):
    """A wheel of `files`, each a ZipInfo and its bytes, and of what describes it."""
    about["WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tutti\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    prefix, record = f"{name}-{raw.version}.dist-info/", []
    described = {f"{prefix}{key}": (zipfile.ZipInfo(prefix + key, raw.date), value)
                 for key, value in about.items()}
    licences = {prefix + key: (zipfile.ZipInfo(prefix + key, raw.date), file[1])
                for key, file in raw.licences.items()}
    with zipfile.ZipFile(folder / f"{name}-{raw.version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (info, content) in {**files, **licences, **described}.items():
            executable = info.external_attr >> 16 & 0o111  # the rest is the umask of who builds
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
        info = zipfile.ZipInfo(prefix + "RECORD", raw.date)
        info.external_attr = 0o100644 << 16
        archive.writestr(info, "".join(record) + f"{prefix}RECORD,,\n", zipfile.ZIP_DEFLATED)


def main():
    folder, raws = Path(sys.argv[1]), [Raw(path) for path in sys.argv[2:]]
    raws.sort(key=lambda raw: [int(part) for part in re.findall(r"\d+", raw.torch())])
    newest = raws[-1]
    is_stable = any(".abi3." in name for name in newest.files)
    tags = f"{newest.python}-{newest.abi}"
    write(folder, newest, CORE, f"{STABLE if is_stable else tags}-{newest.platform}",
          {name: file for name, file in newest.files.items() if newest.is_core(name)},
          {"METADATA": metadata(newest, CORE, [
              ("Provides-Extra", "torch"),
              ("Requires-Dist", f"{TORCH.replace('_', '-')}=={newest.version}; extra == 'torch'")]),
           "entry_points.txt": entry_points(newest, lambda section: section == "console_scripts")})
    if not newest.torch():
        return
    # Of the version that is shown for oneccl_bind_pt there is one.
    extensions = {name: file for raw in raws for name, file in raw.files.items()
                  if not raw.is_core(name) and (raw is newest or ".egg-info/" not in name)}
    write(folder, newest, TORCH, f"{tags}-{newest.platform}", extensions,
          {"METADATA": metadata(newest, TORCH, [
              ("Requires-Dist", f"{CORE.replace('_', '-')}=={newest.version}"),
              ("Requires-Dist", requirement(raws))],
              Summary="The backend ccl of torch.distributed: the part of tutti-ccl for PyTorch"),
           "entry_points.txt": entry_points(newest, lambda section: section != "console_scripts")})


if __name__ == "__main__":
    main()
