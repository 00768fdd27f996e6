# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The extras of the package, by the libraries that they install.

A base installation answers in the terminal. Pages, tables of studies and many hosts need larger
libraries. Where one is missing, the error names the extra that installs it.
"""

from importlib.machinery import PathFinder

from heapwright.base.errors import HeapwrightError

PAGES = ("altair", "vl_convert")
EXTRAS = {
    **dict.fromkeys(PAGES, ("pages with charts need", "pages")),
    "polars": ("tables of studies and Parquet files need", "studies"),
    "scipy": ("the analysis of a study needs", "studies"),
}
"""For a module: what needs it, and the extra of pyproject.toml."""


def without(module: str) -> HeapwrightError:
    """The error for a module of `EXTRAS` that is not installed."""
    need, extra = EXTRAS[module]
    return HeapwrightError(
        f"{need} {module}, which is not installed",
        f"pip install 'heapwright[{extra}]'; answers in the terminal need none of it",
    )


def need(*modules: str) -> None:
    """Raises HeapwrightError for the first of these that is not installed. It loads none of them.

    It searches the path, because `sys.modules` may contain a library that is not loaded yet.
    """
    for module in modules:
        if PathFinder.find_spec(module) is None:
            raise without(module)
