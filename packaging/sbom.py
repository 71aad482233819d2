#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Writes what a wheel has inside, in the form of SPDX 2.3: `sbom.py WHEEL [OUT.json]`.

The wheel says it: each library that is in it, or linked into what is in it, has its licences in a
folder share/doc/PACKAGE, and those that were copied lie in NAME.libs. The versions are of Debian's
packages, from the machine that made the wheel.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

TUTTI = "SPDXRef-Package-tutti-ccl"


def spdx_id(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def now():
    """As SOURCE_DATE_EPOCH says, so that the same wheel gives the same bytes."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ")


def version_of(package):
    """Of a package of Debian that is installed."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", package], capture_output=True,
                          text=True)
    return done.stdout.split("\n", 1)[0] or None


def licences_in(copyright_text):
    """The names in a copyright file of Debian's form, as SPDX has them; none if it lacks one."""
    known = {"Expat": "MIT", "ISC": "ISC", "Apache-2.0": "Apache-2.0", "Apache-2": "Apache-2.0",
             "BSD-3-clause": "BSD-3-Clause", "BSD-2-clause": "BSD-2-Clause", "MIT": "MIT",
             "LGPL-2.1+": "LGPL-2.1-or-later", "CC0-1.0": "CC0-1.0"}
    names = sorted(set(re.findall(r"^License: *(\S+)$", copyright_text, re.M)))
    return [known[name] for name in names] if set(names) <= set(known) else []


def package(name, version, licence, comment, supplier="NOASSERTION"):
    entry = {"SPDXID": spdx_id(name), "name": name, "downloadLocation": "NOASSERTION",
             "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
             "copyrightText": "NOASSERTION", "supplier": supplier, "comment": comment}
    if version:
        entry["versionInfo"] = version
    return entry


def inside(wheel):
    """Of each Debian package whose code is in the wheel, what SPDX says of it."""
    names = wheel.namelist()
    libraries = [name for name in names if re.search(r"\.libs/[^/]+\.so", name)]
    for name in names:
        found = re.search(r"share/doc/([^/]+)/copyright$", name)
        if not found or found.group(1).startswith("tutti"):
            continue
        debian = found.group(1)
        stem = re.sub(r"[-0-9.]*$", "", debian.removesuffix("-dev"))
        copies = [Path(library) for library in libraries if Path(library).name.startswith(stem)]
        comment = f"The package {debian} of Debian; " + (
            f"the library is {', '.join(map(str, copies))}" if copies else
            "its code is linked into libtutti.so and bin/tutti") + f"; licences: {name}"
        licences = licences_in(wheel.read(name).decode(errors="replace"))
        entry = package(debian, version_of(debian), " AND ".join(licences) or "NOASSERTION", comment,
                        "Organization: Debian")
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:deb/debian/{debian}" +
                                  (f"@{entry['versionInfo']}" if "versionInfo" in entry else "")}]
        yield entry


def document(path):
    with zipfile.ZipFile(path) as wheel:
        metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(wheel.read(metadata).decode())
        others = list(inside(wheel))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    own = package(fields["Name"], fields["Version"], "Apache-2.0", f"The wheel {path.name}")
    own["SPDXID"] = TUTTI
    own["packageFileName"] = path.name
    own["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    links = [("SPDXRef-DOCUMENT", "DESCRIBES", TUTTI)]
    links += [(TUTTI, "CONTAINS", other["SPDXID"]) for other in others]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": path.name, "documentNamespace": f"https://spdx.org/spdxdocs/{path.name}-{digest}",
        "creationInfo": {"created": now(), "creators": ["Tool: tutti-packaging-sbom.py"]},
        "packages": [own, *others],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in links]}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[0])
    path = Path(sys.argv[1])
    text = json.dumps(document(path), indent=2) + "\n"
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
