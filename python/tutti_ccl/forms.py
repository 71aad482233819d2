# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Other ways to write a call, and what to say of those that there are not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

# Names that mpi4py gives to arguments.
ALIASES = {"buf": "buffer", "sendbuf": "send", "recvbuf": "recv"}

# Names that programs of mpi4py may look for in vain, by the first pattern that fits, and what to
# do.
ABSENT = (
    (r"[Ii]?[SsBbRr]send",
     "Send and send return when the buffer may be used again; Isend and isend at once"),
    (r"I?[Ss]endrecv_replace|Isendrecv", "Sendrecv with two buffers, or Isend and Irecv"),
    (r".*[Pp]robe", "receive into a buffer that is large enough, and ask the message for its "
                    "count; recv takes objects of any size"),
    (r"I?(Ex)?[Ss]can", "scan and exscan take Python objects, arrays among them"),
    (r".*_init|Start(all)?", "there are no persistent requests: begin the call anew each time"),
    (r"Alltoallw|Ialltoallw", "Alltoallv of bytes"),
    (r"(Create|Get|Set)_(cart|graph|dist_graph|topo|coords|neighbors).*|Cart.*|Graph.*|"
     r"[Ii]?[Nn]eighbor_.*|Shift|Compute_dims|Topocomm|Distgraphcomm", "there are no topologies: "
     "compute the neighbours' ranks, PROC_NULL where there is none"),
    (r"Create_(contiguous|h?vector|h?indexed|struct|subarray|darray|resized|dup).*|Commit",
     "there are no derived types: copy what is strided to an array of its own"),
    (r"Win|WIN_.*|Lock.*|Put|Get|Accumulate|Fence", "there are no windows"),
    (r"File|FILE_.*|MODE_.*|SEEK_.*|Open|Read.*|Write.*", "there are no files of MPI's"),
    (r"Spawn.*|Get_parent|Accept|Connect|Join|Open_port|.*_name", "processes join by grow and join "
     "of tutti_ccl.Communicator"),
    (r"Group|GROUP_.*|Get_group|Create.*|Intercomm|Intracomm",
     "make communicators by Split or Dup"),
    (r".*LONG_DOUBLE_COMPLEX|COMPLEX(4|32)|.*_INT|TWOINT|WCHAR|LONG_DOUBLE|REAL16|INTEGER16|LOGICAL.*|DATATYPE_NULL",
     "upper-case calls have no such type; lower-case ones take any object"),
    (r"Info|INFO_.*|.*[Ee]rrhandler.*|ERRORS_.*|.*_attr|.*keyval.*|Session|.*info",
     "errors are exceptions, and there are no attributes"),
    (r"Cancel|cancel|Free", "a request may be dropped; abort ends all calls"),
)


def absent(where: str, name: str, there: Iterable[str]) -> AttributeError:
    """The error for a name that is looked for in vain, which names what there is instead."""
    if name[:1] == "_":
        return AttributeError(f"{where} has no attribute {name!r}")
    public = [each for each in there if each[:1] != "_"]
    same = [each for each in public if each.lower() == name.lower()]
    told = next((text for pattern, text in ABSENT if re.fullmatch(pattern, name)), None)
    near = same or ([] if told else difflib.get_close_matches(name, public, 2, 0.8))
    instead = f"did you mean {' or '.join(near)}?" if near else told or "it is not among the names"
    return AttributeError(f"{where} has no {name!r}: {instead} (docs/python.md lists what there "
                          "is)")


def call_again(on: Any, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A call whose arguments did not fit: again with our names for mpi4py's, or an error."""
    ours = {ALIASES.get(key, key): value for key, value in named.items()}
    if ours.keys() != named.keys() and len(ours) == len(named):
        return getattr(on, name)(*given, **ours)
    raise TypeError(f"{shown(name, given, named)}: expected {signature(on, name)}")


def shown(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """A call with the types of its arguments: "Bcast(ndarray, root=str)"."""
    each = [type(value).__name__ for value in given]
    each += [f"{key}={type(value).__name__}" for key, value in named.items()]
    return f"{name}({', '.join(each)})"


def signature(on: Any, name: str) -> str:
    """The call as a program would write it: "Bcast(buffer, root=0)"."""
    line = (getattr(type(on), name).__doc__ or name).strip().splitlines()[0]
    arguments = re.search(r"\((.*)\) ->", line)
    if not arguments:
        return name
    each = (re.sub(r": [\w.]+( \| [\w.]+)*", "", one) for one in arguments[1].split(", "))
    return f"{name}({', '.join(one.replace(' = ', '=') for one in each if one != 'self')})"
