#!/usr/bin/env python3
# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""Looks at the site of the documents in a browser: `site_test.py FOLDER [CHROMIUM]`.

Every page is opened at the width of a telephone and of a screen, light and dark. All links have to
lead somewhere, all pictures have to show, nothing may come from elsewhere, and no page may be wider
than its window.
"""

import pathlib
import sys
import urllib.parse

from playwright.sync_api import sync_playwright

WINDOWS = [(width, scheme) for width in (400, 1400) for scheme in ("light", "dark")]
LINKS = "() => [...document.querySelectorAll('a[href]')].map(a => a.href)"
IDS = "() => [...document.querySelectorAll('[id]')].map(e => e.id)"
BROKEN = """() => [...document.images].filter(i => !i.complete || !i.naturalWidth)
                                     .map(i => i.getAttribute('src'))"""
TOO_WIDE = "() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth)"


def place(address):
    """The file and the fragment of a link within the site; None of others."""
    parts = urllib.parse.urlsplit(address)
    if parts.scheme != "file":
        return None
    return pathlib.Path(urllib.parse.unquote(parts.path)), urllib.parse.unquote(parts.fragment)


def look_at(browser, page, width, scheme):
    """What is wrong with a page in such a window; and its links and anchors."""
    wrong = []
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    tab.on("request", lambda r: r.url.startswith(("file:", "data:"))
           or wrong.append(f"asks for {r.url}"))
    tab.on("pageerror", lambda error: wrong.append(f"its script fails: {error}"))
    tab.goto(page.as_uri(), wait_until="load")
    wrong += [f"a picture does not show: {src}" for src in tab.evaluate(BROKEN)]
    if wider := tab.evaluate(TOO_WIDE):
        wrong.append(f"is {wider} pixels wider than its window")
    found = tab.evaluate(LINKS), set(tab.evaluate(IDS))
    context.close()
    return [f"{page.name} ({width}, {scheme}): {text}" for text in wrong], *found


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    chromium = sys.argv[2] if len(sys.argv) > 2 else "/usr/bin/chromium"
    pages = sorted(p for p in folder.rglob("*.html") if "_static" not in p.parts)
    assert pages, f"{folder} has no pages"
    wrong, links, anchors = [], {}, {}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for page in pages:
            for width, scheme in WINDOWS:
                texts, links[page], anchors[page] = look_at(browser, page, width, scheme)
                wrong += texts
        browser.close()
    for page, addresses in links.items():
        for address in addresses:
            if (to := place(address)) is None:
                continue
            file, fragment = to
            if not file.exists():
                wrong.append(f"{page.name}: a link leads nowhere: {address}")
            elif fragment and file in anchors and fragment not in anchors[file]:
                wrong.append(f"{page.name}: a link to a place that is not there: {address}")
    for text in sorted(set(wrong)):
        print(text)
    count = len({text.split(" (")[0].split(":")[0] for text in wrong})
    print(f"{len(pages) - count} passed, {count} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
