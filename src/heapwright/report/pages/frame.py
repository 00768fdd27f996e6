# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The frame of every page: style, charts and the library that draws them, all in one file.

A page is self-contained. It includes Vega from vl-convert, so it can be kept, sent and opened
without a network. It adapts to narrow and dark screens: tables scroll separately, charts take the
available width, and colours come from variables of the style.
"""

import json
import os
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path

import vl_convert

from heapwright.base.cache import cache_home, cached
from heapwright.report.pages.parts import Charts

STYLE = Path(__file__).with_name("page.css")
SCRIPT = Path(__file__).with_name("page.js")


def frame(
    title: str,
    body: str,
    charts: Charts,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> str:
    """The whole page; `styles` and `scripts` are those of components that it has besides charts."""
    data = embedded(charts.specs)
    style = "\n".join((STYLE.read_text(encoding="utf-8"), *styles))
    tail = "\n".join(map(_script, (*scripts, library())))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<main id="main">\n{body}\n</main>\n'
        f'<script type="application/json" id="charts">{data}</script>\n{tail}\n</body>\n</html>\n'
    )


@cache
def library() -> str:
    """The script that draws the charts: Vega with the script of the page.

    Cost: more than a second of processor time for the first page; later pages read it from the
    user's cache folder.
    """
    script = SCRIPT.read_text(encoding="utf-8")
    key = f"vl-convert {version('vl-convert-python')}\n{script}"
    return cached(
        cache_home(os.environ) / "pages", key, lambda: str(vl_convert.javascript_bundle(script))
    )


def _script(text: str) -> str:
    return "<script>" + text.replace("</script", "<\\/script") + "</script>"


def embedded(value: object) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("</", "<\\/").replace("<!--", "<\\!--")
