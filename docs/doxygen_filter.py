#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What Doxygen reads in place of a header, `doxygen_filter.py FILE`: all comments are for its pages.

The headers have plain comments. Those before a declaration become its text, those behind one on
the same line too, and the first one that of the file. Of tutti_X, tutti_iX and tutti_X_init, which
share a comment in tutti.h, each gets it.
"""

import re
import sys


def line_comments(text):
    """`// ...` to Doxygen's."""
    text = re.sub(r"^(\s*)//(?!/)", r"\1///", text, flags=re.MULTILINE)
    return re.sub(r"^(.*[;,{}].*?)\s//(?!/)", r"\1 ///<", text, flags=re.MULTILINE)


def block_comments(text):
    """`/* ... */` to Doxygen's."""
    text = re.sub(r"^(\s*)/\*(?!\*)", r"\1/**", text, flags=re.MULTILINE)
    return re.sub(r"^(.*\S.*?)/\*(?![*<])", r"\1/**<", text, flags=re.MULTILINE)


def stem(name):
    """What the three forms of a function have in common."""
    return re.sub(r"^tutti_i?|_init$", "", name)


def for_all_forms(text):
    """The comment of tutti_X before tutti_iX and tutti_X_init, too."""
    parts = re.split(r"(?=^TUTTI_API )", text, flags=re.MULTILINE)
    comment, last = "", None
    for i, part in enumerate(parts[1:], 1):
        name = re.match(r"TUTTI_API [^(]*?(\w+)\(", part)
        before = re.search(r"/\*\*(?:(?!\*/).)*\*/\s*$", parts[i - 1], re.DOTALL)
        if before:
            comment = before[0]
        elif name and last and stem(name[1]) == stem(last):
            parts[i] = comment + part
        last = name[1] if name else None
    return "".join(parts)


def filtered(text):
    text = re.sub(r"Copyright \d+ The Tutti authors\.|SPDX-License-Identifier: [\w.-]+", "", text)
    text = for_all_forms(block_comments(line_comments(text)))
    if text.startswith("/**"):
        return text.replace("/**", "/** @file\n *", 1)
    return text.replace("///", "/// @file\n///", 1)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(filtered(header.read()))
